//! Maintenance tasks: `cargo xtask help`.

mod cargo;
mod check;
mod ci;
mod fixtures;
mod fuzz;
mod outcome;
mod servers;
mod snapshots;
mod stores;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tdb_conformance as conformance;
use tdb_reference::{self as reference, model};
use tdb_speed as speed;

use outcome::Result;

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
    /// Snapshots of tests that are pending: show, accept, or write them anew
    Snapshots(snapshots::Arguments),
    /// The fuzz targets of all crates: list, build, run
    Fuzz(fuzz::Arguments),
    /// Servers of stores on this machine, which tests run against: start, stop, status
    Servers(servers::Arguments),
    /// What continuous integration does behind the tests
    Ci(ci::Arguments),
    /// See whether a release of the reference library can be driven on this machine, fetching it first
    ReferenceCheck {
        /// The release
        #[arg(default_value = reference::NEWEST)]
        release: String,
        /// Every release, one after the other
        #[arg(long)]
        all: bool,
    },
    /// Check fixtures, names of files, circles of modules, sizes of crates, dependency trees; or the prose
    Check(check::Arguments),
    /// The same work by the reference library and by ours, side by side; instruction counts, curves
    Speed(speed::Arguments),
    /// The process of our side for `speed`; started by it
    #[command(hide = true)]
    SpeedWorker,
    /// The process that `speed --count` looks at; started by it
    #[command(hide = true)]
    SpeedCount(speed::count::CountArguments),
}

fn main() -> ExitCode {
    if let Some(result) = reference::serve() {
        return exit_code(result.map_err(Into::into));
    }
    if let Some(code) = speed::tdb::serve() {
        return code;
    }
    let result = match Arguments::parse().task {
        Task::Conformance(arguments) => match arguments.stores() {
            Some(only) => stores::run(only, arguments.cases()),
            None => conformance::run(&arguments),
        },
        Task::Fixtures(arguments) => fixtures::run(&arguments),
        Task::Snapshots(arguments) => snapshots::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Servers(arguments) => servers::run(&arguments),
        Task::Ci(arguments) => ci::run(&arguments),
        Task::ReferenceCheck { all: true, .. } => reference::check_all(),
        Task::ReferenceCheck { release, .. } => reference::check(&release),
        Task::Check(arguments) => check::run(&arguments),
        Task::Speed(arguments) => speed::run(&arguments),
        Task::SpeedWorker => speed::run_worker(),
        Task::SpeedCount(arguments) => speed::count::run_worker(&arguments),
    };
    exit_code(result)
}

fn exit_code(result: Result) -> ExitCode {
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
