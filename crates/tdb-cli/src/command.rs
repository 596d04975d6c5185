//! The subcommands, one file each.

pub(crate) mod completions;
mod describe;
pub(crate) mod fragments;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod ls;
pub(crate) mod read;
pub(crate) mod schema;

use crate::args::Command;
use crate::failure::Result;
use crate::terminal::Terminal;

pub(crate) fn run(command: Command, terminal: Terminal) -> Result<()> {
    match command {
        Command::Info(args) => info::run(&args, terminal),
        Command::Schema(args) => schema::run(&args, terminal),
        Command::Fragments(args) => fragments::run(&args, terminal),
        Command::Read(args) => read::run(&args, terminal),
        Command::Ls(args) => ls::run(&args, terminal),
        Command::Inspect(args) => inspect::run(&args, terminal),
        Command::Completions(args) => completions::run(&args),
        // The parser has made another command of it.
        Command::Path(_) => Ok(()),
    }
}
