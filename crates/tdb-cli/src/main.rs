//! The command `tdb`: look at and query TileDB arrays from a terminal. `docs/cli.md` is its manual.

mod args;
mod cells;
mod color;
mod command;
mod condition;
mod failure;
mod import;
mod inspect;
mod interrupt;
mod key;
mod location;
mod names;
mod output;
mod points;
mod progress;
mod range;
mod session;
mod size;
mod suggest;
mod target;
mod terminal;
mod time;
mod value;

use std::io::{self, Write};
use std::process::ExitCode;

use args::Parsed;
use failure::{Failure, Result};
use terminal::{Terminal, message};

fn main() -> ExitCode {
    let parsed = args::parse();
    let terminal = Terminal::detect(parsed.color());
    match run(parsed, terminal) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(failure::Exit::Finding as u8),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure, terminal);
            ExitCode::from(failure.exit() as u8)
        }
    }
}

/// Gives whether there is a finding.
fn run(parsed: Parsed, terminal: Terminal) -> Result<bool> {
    match parsed {
        Parsed::Command { command, options, .. } => {
            session::begin(options);
            let result = command::run(command, terminal);
            let found = session::finish(terminal);
            result.map(|()| found)
        }
        Parsed::Failed { failure, .. } => Err(failure),
        Parsed::Clap(error) => {
            // Help and version; all of the help too if nothing was asked for. Nobody may be reading either.
            let _ = error.print();
            match error.exit_code() {
                0 => Ok(false),
                _ => std::process::exit(failure::Exit::Usage as i32),
            }
        }
    }
}

/// Says on standard error what went wrong, in one line, and what to do, in another; between them what it is about.
fn report(failure: &Failure, terminal: Terminal) {
    let paint = terminal.error_paint();
    let mut stderr = io::stderr().lock();
    // There is nowhere left to complain to.
    let _ = writeln!(stderr, "tdb: {} {}", paint.red("error:"), message(failure.message()));
    for line in failure.excerpt() {
        let _ = writeln!(stderr, "{line}");
    }
    if let Some(hint) = failure.hint() {
        let _ = writeln!(stderr, "tdb: {} {}", paint.bold("hint:"), message(hint));
    }
}
