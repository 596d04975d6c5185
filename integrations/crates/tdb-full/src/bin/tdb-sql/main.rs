//! The command `tdb` with SQL: the program that `tdb sql`, `tdb scheduler` and `tdb executor` run.

mod command;
mod logger;

use std::process::ExitCode;

use command::{ExecutorCommand, SchedulerCommand, sql};

fn main() -> ExitCode {
    tdb_cli::run(tdb_full::extensions().command(sql()).command(SchedulerCommand).command(ExecutorCommand))
}
