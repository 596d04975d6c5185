//! The command `tdb`, which inspects, queries, creates and maintains TileDB arrays. `docs/reference/cli.md`
//! is the manual.
//!
//! Programs can extend the command, because the crate is a library. [`run`] is the complete
//! command. It takes [`Extensions`]: storages for URIs, file and folder formats, and further
//! commands. The program `tdb` of this crate has no extensions and works on local files only.
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
mod setter;
mod size;
mod stores;
mod suggest;
mod target;
mod time;

use std::process::ExitCode;

use args::Parsed;
use tdb_print::Terminal;

// Re-exported because their types appear in signatures of this crate.
pub use {clap, tdb_array, tdb_storage};

pub use extensions::{Context, Extensions, FurtherCommand};
pub use failure::{Exit, Failure, Result};
pub use files::{
    CellObserver, Export, FileFormat, FileOption, FolderExport, FolderFormat, FolderImport, FolderImported, Import,
    Target, Whole,
};
pub use size::parse as parse_size;
pub use suggest::nearest;
pub use tdb_exchange::time::at as parse_time;
pub use tdb_exchange::{ColumnBatch, ColumnFiles, FileColumn, Result as ColumnResult, cell_of_text};
pub use tdb_print::{RowColumn, RowFormat, RowPrinter, Rows, printable};

/// Runs the command from the arguments of the process, and returns its exit code. Call this
/// function at most once per process.
#[must_use]
pub fn run(extensions: Extensions) -> ExitCode {
    extensions::begin(extensions);
    let (parsed, color) = args::parse();
    let terminal = Terminal::detect(color);
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

/// Runs a parsed command line. Returns `true` if the command found a problem or difference.
fn outcome(parsed: Parsed, terminal: Terminal) -> Result<bool> {
    match parsed {
        Parsed::Command { command, options } => {
            session::begin(options);
            let result = dispatch::run(command, terminal);
            let found = session::finish(terminal);
            result.map(|()| found)
        }
        Parsed::Failed(failure) => Err(failure),
        Parsed::Clap(error) => {
            // Help or version. Without arguments, the help is printed with the exit code of wrong
            // use. An output error is ignored.
            let _ = error.print();
            match error.exit_code() {
                0 => Ok(false),
                _ => std::process::exit(failure::Exit::Usage as i32),
            }
        }
    }
}
