//! `tdb man`: manual pages.

use std::fs;
use std::path::PathBuf;

use crate::failure::{Exit, Failure, Result};

/// Write manual pages to a folder, one for each command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb man ~/.local/share/man/man1          then `man tdb` and `man tdb-read` work")]
pub(crate) struct Args {
    /// Folder of the pages. It is created if it does not exist, and existing pages are replaced
    folder: PathBuf,
}

/// Writes the pages of `commands`.
pub(crate) fn run(args: &Args, commands: clap::Command) -> Result<()> {
    let written = fs::create_dir_all(&args.folder).and_then(|()| clap_mangen::generate_to(commands, &args.folder));
    written.map_err(|error| Failure::new(Exit::Unavailable, format!("{}: {error}", args.folder.display())))
}
