//! The command `tdb` with what it takes to run SQL on many machines: `scheduler`, `executor`, and `sql --scheduler`.

mod command;
mod logger;

use std::io::{Error, ErrorKind};
use std::process::ExitCode;
use std::sync::Arc;

use command::{ExecutorCommand, SchedulerCommand, sql};
use tdb_cli::Extensions;
use tdb_object_store::{SCHEMES, Stores};
use tdb_storage::StorageError;

fn main() -> ExitCode {
    let commands = Extensions::new().command(SchedulerCommand).command(ExecutorCommand).command(sql());
    let stores = Arc::new(Stores::default());
    let open = move |uri: &str| {
        // The error itself names the URI, without what may be secret in it.
        let scheme = uri.split("://").next().unwrap_or_default().to_owned();
        let refused = |error| StorageError::from_io(scheme, Error::new(ErrorKind::InvalidInput, error));
        stores.open(uri).map_err(refused)
    };
    tdb_cli::run(SCHEMES.iter().fold(commands, |all, scheme| all.storage(scheme, open.clone())))
}
