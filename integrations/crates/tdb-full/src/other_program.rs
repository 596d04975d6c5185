//! Replacement of this process by another program.

use std::env;
use std::ffi::OsString;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::process::Command;

use tdb_cli::{Failure, Result};

/// Runs another program in place of this one: from the same folder, or from the search path.
/// Returns only if it cannot be started. On systems other than Unix, exits with the program's
/// status.
pub(crate) fn run(name: &str, arguments: impl IntoIterator<Item = OsString>, not_found: Failure) -> Result<()> {
    let mut program = Command::new(beside(name).unwrap_or_else(|| name.into()));
    let error = become_it(program.args(arguments));
    match error.kind() {
        ErrorKind::NotFound => Err(not_found),
        _ => Err(Failure::io(name, &error)),
    }
}

/// Returns the path of the program in the folder of this one.
fn beside(name: &str) -> Option<PathBuf> {
    let path = env::current_exe().ok()?.with_file_name(format!("{name}{}", env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

#[cfg(unix)]
fn become_it(program: &mut Command) -> Error {
    use std::os::unix::process::CommandExt;
    // The new program handles Ctrl-C. Its help shows `tdb` as the command name.
    program.arg0("tdb").exec()
}

#[cfg(not(unix))]
fn become_it(program: &mut Command) -> Error {
    match program.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
