//! The program behind `tdb sql`, `tdb scheduler` and `tdb executor`.

mod command;
mod logger;

use std::process::ExitCode;

use command::{ExecutorCommand, SchedulerCommand, sql};

fn main() -> ExitCode {
    tdb_cli::run(tdb_full::extensions().command(sql()).command(SchedulerCommand).command(ExecutorCommand))
}
