//! `tdb completions`: shell scripts that complete commands and options.

use std::io::Write;

use clap_complete::Shell;

use crate::failure::Result;
use tdb_print::stdout;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb completions bash > ~/.local/share/bash-completion/completions/tdb
  tdb completions zsh > \"${fpath[1]}/_tdb\"
  tdb completions fish > ~/.config/fish/completions/tdb.fish")]
pub(crate) struct Args {
    /// Shell to print the script for
    shell: Shell,
}

/// Prints the script that completes `commands`.
pub(crate) fn run(args: &Args, mut commands: clap::Command) -> Result<()> {
    // Writes to memory first, because the generator panics if the output cannot be written.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut commands, "tdb", &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}
