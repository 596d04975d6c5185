//! The command `tdb`: look at and query TileDB arrays from a terminal. `docs/cli.md` is its manual.
//!
//! It is a library so that programs may add to it: [`run`] is the whole command, and takes [`Extensions`]: ways to open the
//! arrays that URIs name, kinds of files, and further commands. The program `tdb` of this crate adds none, and sees local files only.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use std::sync::Arc;
//!
//! use tdb_cli::Extensions;
//! use tdb_storage::MemoryStorage;
//!
//! fn main() -> ExitCode {
//!     let arrays = Extensions::new().storage("mem", |_uri| Ok(Arc::new(MemoryStorage::new())));
//!     tdb_cli::run(arrays)
//! }
//! ```

mod args;
mod command;
mod condition;
mod dispatch;
mod extensions;
mod failure;
mod files;
mod inspect;
mod interrupt;
mod key;
mod location;
mod names;
mod new_file;
mod place;
mod progress;
mod session;
mod size;
mod stores;
mod suggest;
mod target;
mod time;

use std::process::ExitCode;

use args::Parsed;
use tdb_print::Terminal;

// What stands in this crate's signatures; its users needn't name them in a manifest.
pub use {clap, tdb_array, tdb_storage};

pub use extensions::{Context, Extensions, FurtherCommand};
pub use failure::{Exit, Failure, Result};
pub use files::{
    CellObserver, ColumnFiles, Export, FileFormat, FileOption, FolderExport, FolderFormat, FolderImport,
    FolderImported, Import, Target, Whole,
};
pub use size::parse as parse_size;
pub use suggest::nearest;
pub use tdb_exchange::time::at as parse_time;
pub use tdb_exchange::{ColumnBatch, FileColumn, cell_of_text};
pub use tdb_print::{RowColumn, RowFormat, RowPrinter, Rows, printable};

/// Runs the command that the process's arguments ask for, and gives what the process is to end with. Once in a process.
#[must_use]
pub fn run(extensions: Extensions) -> ExitCode {
    extensions::begin(extensions);
    let parsed = args::parse();
    let terminal = Terminal::detect(parsed.color());
    match outcome(parsed, terminal) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(failure::Exit::Finding as u8),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(terminal);
            ExitCode::from(failure.exit() as u8)
        }
    }
}

/// Gives whether there is a finding.
fn outcome(parsed: Parsed, terminal: Terminal) -> Result<bool> {
    match parsed {
        Parsed::Further { name, matches, options, .. } => {
            session::begin(options);
            let result = extensions::run_command(&name, &matches, terminal);
            let found = session::finish(terminal);
            result.map(|()| found)
        }
        Parsed::Command { command, options, .. } => {
            session::begin(options);
            let result = dispatch::run(command, terminal);
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
