//! Dispatch of a parsed command line to its subcommand.

use crate::args::{Command, command_line};
use crate::command::{
    advise, agg, completions, consolidate, copy, create, delete, diff, doctor, enumerations, evolve, export, fragments,
    group, import, info, inspect, ls, man, manifest, meta, migrate, mv, read, remove, report, schema, stats, tree,
    vacuum, verify,
};
use crate::extensions;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::session;
use tdb_print::Terminal;

/// Runs a command.
///
/// # Errors
/// Returns the failure of the command.
pub(crate) fn run(command: Command, terminal: Terminal) -> Result<()> {
    refuse_stats(&command)?;
    let key = || Key::given(session::options().key_file.as_deref());
    match command {
        Command::Info(args) => info::run(&args, &key()?, terminal),
        Command::Schema(args) => schema::run(&args, &key()?, terminal),
        Command::Fragments(args) => fragments::run(&args, &key()?, terminal),
        Command::Read(args) => read::run(&args, &key()?, terminal),
        Command::Agg(args) => agg::run(&args, &key()?, terminal),
        Command::Stats(args) => stats::run(&args, &key()?, terminal),
        Command::Meta(args) => meta::run(&args, &key()?, terminal),
        Command::Tree(args) => tree::run(&args, &key()?, terminal),
        Command::Enumerations(args) => enumerations::run(&args, &key()?, terminal),
        Command::Ls(args) => ls::run(&args, terminal),
        Command::Create(args) => create::run(&args, &key()?),
        Command::Import(args) => import::run(&args, &key()?, terminal),
        Command::Export(args) => export::run(&args, &key()?, terminal),
        Command::Evolve(args) => evolve::run(&args, &key()?),
        Command::Delete(args) => delete::run(&args, &key()?),
        Command::Group(args) => group::run(&args, &key()?),
        Command::Diff(args) => diff::run(&args, &key()?, terminal),
        Command::Consolidate(args) => consolidate::run(&args, &key()?, terminal),
        Command::Vacuum(args) => vacuum::run(&args, &key()?, terminal),
        Command::Manifest(args) => manifest::run(&args, terminal),
        Command::Migrate(args) => migrate::run(&args, &key()?, terminal),
        Command::Doctor(args) => doctor::run(&args, &key()?, terminal),
        Command::Copy(args) => copy::run(&args, &key()?, terminal),
        Command::Move(args) => mv::run(&args, terminal),
        Command::Remove(args) => remove::run(&args, terminal),
        Command::Verify(args) => verify::run(&args, &key()?, terminal),
        Command::Advise(args) => advise::run(&args, &key()?, terminal),
        Command::Report(args) => report::run(&args, &key()?, terminal),
        Command::Inspect(args) => inspect::run(&args, &key()?, terminal),
        Command::Completions(args) => completions::run(&args, command_line()),
        Command::Man(args) => man::run(&args, command_line()),
        // The parser converts a bare path to `tdb info`.
        Command::Path(_) => Ok(()),
        Command::Further { name, matches } => extensions::run_command(&name, &matches, terminal),
    }
}

/// Rejects `--stats` for commands that open no array, since all counters would be zero.
fn refuse_stats(command: &Command) -> Result<()> {
    let name = match command {
        Command::Ls(_) => "ls",
        Command::Manifest(_) => "manifest",
        Command::Inspect(_) => "inspect",
        Command::Completions(_) => "completions",
        Command::Man(_) => "man",
        Command::Create(_) => "create",
        Command::Copy(_) => "copy",
        Command::Move(_) => "move",
        Command::Remove(_) => "remove",
        _ => return Ok(()),
    };
    if !session::options().stats {
        return Ok(());
    }
    Err(Failure::usage(format!("--stats counts reads of arrays and groups, but `tdb {name}` opens none"))
        .with_hint("leave out --stats"))
}
