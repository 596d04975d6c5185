//! The command `tdb`, for local files.

use std::process::ExitCode;

use tdb_cli::Extensions;

fn main() -> ExitCode {
    tdb_cli::run(Extensions::new())
}
