//! The command `tdb` once more, with SQL: what `tdb sql` runs.

#[path = "../other_program.rs"]
mod other_program;

use std::env;
use std::process::ExitCode;

use datafusion::prelude::SessionContext;
use tdb_cli::{Context, Exit, Failure, Result};
use tdb_sql::{Settings, SqlCommand};

fn main() -> ExitCode {
    tdb_cli::run(tdb_full::extensions().command(SqlCommand::new(begin)))
}

/// A session of this process; or, if there is a scheduler, the program that knows how to speak with one.
fn begin(settings: &Settings, context: &Context) -> Result<SessionContext> {
    if settings.scheduler.is_some() {
        let not_found =
            Failure::new(Exit::Unsupported, "the program tdb-ballista, which speaks with schedulers, is not there");
        let hint = "`cargo install --path integrations/crates/tdb-ballista` installs it";
        other_program::run("tdb-ballista", env::args_os().skip(1), not_found.with_hint(hint))?;
    }
    tdb_sql::local_session(settings, context)
}
