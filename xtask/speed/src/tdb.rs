//! Runs this program as the command `tdb`. The measured command has the same build settings and
//! needs no separate build.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::counted_part::counted_part;
use crate::outcome::Result;

/// Environment variable that selects the role of the program.
pub const VARIABLE: &str = "TDB_XTASK_IS_TDB";
/// Value of the variable that counts the complete run.
pub const COUNTED: &str = "counted";

/// Runs the command `tdb` if this process was started for it. Returns `None` otherwise.
#[must_use]
pub fn serve() -> Option<ExitCode> {
    let value = std::env::var_os(VARIABLE)?;
    let mut run = || tdb_cli::run(tdb_cli::Extensions::new());
    Some(if value == COUNTED { counted_part(&mut run) } else { run() })
}

/// Runs the command `tdb` in a new process, and writes its output to a file.
pub fn run_into(arguments: &[&str], file: &Path) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(VARIABLE, "whole").args(arguments).stdin(Stdio::null()).stdout(File::create(file)?);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("tdb {}: {status}", arguments.join(" ")).into()) }
}
