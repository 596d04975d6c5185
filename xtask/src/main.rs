//! Maintenance tasks: `cargo xtask help`.
#![deny(unsafe_code)]

mod check;
mod conformance;
mod fixtures;
mod memory;
mod model;
mod reference;
mod speed;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintenance tasks of the workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Random arrays by the reference library, read by both sides and compared
    Conformance(conformance::Arguments),
    /// The arrays in `fixtures/`: make, check, replace
    Fixtures(fixtures::Arguments),
    /// See whether a release of the reference library can be driven on this machine, fetching it first
    ReferenceCheck {
        /// The release
        #[arg(default_value = reference::NEWEST)]
        release: String,
        /// Every release, one after the other
        #[arg(long)]
        all: bool,
    },
    /// What neither the compiler nor the tests see: fixtures, dependency trees, builds without codecs, examples
    Check,
    /// The same reads by the reference library and by ours, side by side
    Speed(speed::Arguments),
    /// The process that reads for `speed`; started by it
    #[command(hide = true)]
    SpeedWorker(speed::WorkerArguments),
    /// The process that holds one release of the reference library; started by other tasks
    #[command(hide = true)]
    ReferenceWorker {
        /// The release, such as 2.30.0
        release: String,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Conformance(arguments) => conformance::run(&arguments),
        Task::Fixtures(arguments) => fixtures::run(&arguments),
        Task::ReferenceCheck { all: true, .. } => reference::check_all(),
        Task::ReferenceCheck { release, .. } => reference::check(&release),
        Task::Check => fixtures::check().and_then(|()| check::run()),
        Task::Speed(arguments) => speed::run(&arguments),
        Task::SpeedWorker(arguments) => speed::run_worker(&arguments),
        Task::ReferenceWorker { release } => reference::run_worker(&release).map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&*error);
            ExitCode::FAILURE
        }
    }
}

/// Writes an error with all its causes to standard error.
fn report(error: &dyn Error) {
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  caused by: {cause}");
        source = cause.source();
    }
}
