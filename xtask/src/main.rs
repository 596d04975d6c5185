//! Maintenance tasks of the workspace, listed by `cargo xtask help`.

mod archive;
mod cargo;
mod check;
mod ci;
mod fixtures;
mod fuzz;
mod outcome;
mod published;
mod release;
mod servers;
mod snapshots;
mod static_program;
mod stores;
mod toolchain;
mod wasm;

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
    /// Compare tdb with the reference library on random arrays
    Conformance(conformance::Arguments),
    /// Generate, check and replace the arrays in `fixtures/`
    Fixtures(fixtures::Arguments),
    /// Show, accept or regenerate snapshots of tests
    Snapshots(snapshots::Arguments),
    /// List, build and run the fuzz targets of all crates
    Fuzz(fuzz::Arguments),
    /// Start and stop local store servers for tests, and print their status
    Servers(servers::Arguments),
    /// Build the package for browsers and Node, and run its tests
    Wasm(wasm::Arguments),
    /// Build the command for Linux without libraries, with musl
    Static(static_program::Arguments),
    /// Try a release from packages, or print the commands that publish the crates
    Release(release::Arguments),
    /// Pack the command with manual pages, completions and licenses, as an archive and for Debian
    Archive(archive::Arguments),
    /// Run the steps of continuous integration that follow the tests
    Ci(ci::Arguments),
    /// Store the public API of the published crates as the baselines of the step `api`
    Api,
    /// Download a release of the reference library and check that it runs on this machine
    ReferenceCheck {
        /// Release to check
        #[arg(default_value = reference::NEWEST)]
        release: String,
        /// Check every release
        #[arg(long)]
        all: bool,
    },
    /// Check fixtures, file names, import cycles, crate sizes and dependency trees, or measure the
    /// prose
    Check(check::Arguments),
    /// Compare the speed of tdb and the reference library; count instructions; draw curves
    Speed(speed::Arguments),
    /// Worker process of tdb for `speed`
    #[command(hide = true)]
    SpeedWorker,
    /// Worker process for `speed --count`
    #[command(hide = true)]
    SpeedCount(speed::count::CountArguments),
}

fn main() -> ExitCode {
    if let Some(code) = ci::api::serve() {
        return code;
    }
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
        Task::Wasm(arguments) => wasm::run_task(&arguments),
        Task::Static(arguments) => static_program::run_task(&arguments),
        Task::Release(arguments) => release::run(&arguments),
        Task::Archive(arguments) => archive::run_task(&arguments),
        Task::Ci(arguments) => ci::run(&arguments),
        Task::Api => ci::api::store(),
        Task::ReferenceCheck { all: true, .. } => reference::check_all(),
        Task::ReferenceCheck { release, .. } => reference::check(&release),
        Task::Check(arguments) => check::run(&arguments),
        Task::Speed(arguments) => speed::run(&arguments, ci::python::compare),
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

/// Prints an error with its causes to standard error.
fn report(error: &dyn Error) {
    eprintln!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        eprintln!("  caused by: {cause}");
        source = cause.source();
    }
}
