//! The subcommands, one file each.

pub(crate) mod completions;
mod describe;
pub(crate) mod enumerations;
pub(crate) mod fragments;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod ls;
pub(crate) mod meta;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod tree;

use crate::args::Command;
use crate::failure::Result;
use crate::terminal::Terminal;

pub(crate) fn run(command: Command, terminal: Terminal) -> Result<()> {
    match command {
        Command::Info(args) => info::run(&args, terminal),
        Command::Schema(args) => schema::run(&args, terminal),
        Command::Fragments(args) => fragments::run(&args, terminal),
        Command::Read(args) => read::run(&args, terminal),
        Command::Meta(args) => meta::run(&args, terminal),
        Command::Tree(args) => tree::run(&args, terminal),
        Command::Enumerations(args) => enumerations::run(&args, terminal),
        Command::Ls(args) => ls::run(&args, terminal),
        Command::Inspect(args) => inspect::run(&args, terminal),
        Command::Completions(args) => completions::run(&args),
        // The parser has made another command of it.
        Command::Path(_) => Ok(()),
    }
}
