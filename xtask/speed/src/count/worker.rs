//! The process that callgrind looks at.

use clap::Args;

use super::path::Work;
use super::paths;
use crate::counted_part::counted_part;
use crate::outcome::Result;

/// What the hidden process is asked for.
#[derive(Args)]
pub struct CountArguments {
    /// The path's name; the inputs lie in the current folder
    pub(crate) path: String,
}

/// Does a path's work twice, the second time counted.
///
/// # Errors
///
/// If the work fails.
pub fn run_worker(arguments: &CountArguments) -> Result<()> {
    let path = paths::all().into_iter().find(|path| path.name == arguments.path);
    let path = path.ok_or_else(|| format!("no path {:?}", arguments.path))?;
    let Work::Here(prepare) = path.work else { return Err("the command does it".into()) };
    let mut work = prepare()?;
    work()?;
    counted_part(&mut *work)
}
