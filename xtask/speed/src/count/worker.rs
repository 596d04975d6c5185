//! The process that runs under callgrind.

use clap::Args;

use super::path::Work;
use super::paths;
use crate::counted_part::counted_part;
use crate::outcome::Result;

/// Arguments of the hidden subcommand.
#[derive(Args)]
pub struct CountArguments {
    /// Name of the path; the inputs are in the current folder
    pub(crate) path: String,
}

/// Runs the work of a path twice, and counts the second run.
///
/// # Errors
/// Fails if the work fails.
pub fn run_worker(arguments: &CountArguments) -> Result<()> {
    let path = paths::all().into_iter().find(|path| path.name == arguments.path);
    let path = path.ok_or_else(|| format!("unknown path {:?}", arguments.path))?;
    let Work::Here(prepare) = path.work else { return Err("this path runs the command tdb".into()) };
    let mut work = prepare()?;
    work()?;
    counted_part(&mut *work)
}
