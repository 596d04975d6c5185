//! The command line.

use std::ffi::OsString;
use std::path::Path;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::command::{
    advise, agg, completions, consolidate, copy, create, delete, diff, doctor, enumerations, evolve, export, fragments,
    group, import, info, inspect, ls, man, manifest, meta, migrate, mv, read, remove, report, schema, stats, tree,
    vacuum, verify,
};
use crate::extensions;
use crate::failure::Failure;
use crate::location::elsewhere;
use crate::session::Options;
use crate::suggest;
use tdb_print::ColorChoice;

const AFTER_HELP: &str = "\
Examples:
  tdb PATH                                 summary of an array, group or folder
  tdb read PATH --range pos=1000..2000     cells as a table, or as JSON lines in a pipe
  tdb read PATH --select pos,qual --limit 10
  tdb agg PATH --count --mean qual --by chrom
  tdb stats PATH                           statistics of each field
  tdb schema PATH                          complete schema
  tdb tree PATH                            members of a group, recursively
  tdb meta PATH --at 2024-05-01            metadata as of a day
  tdb inspect PATH/__schema/__1_1_…        fields of a file of an array
  tdb create PATH --schema schema.toml     create an array
  tdb import PATH rows.csv --dimensions x  create an array from the rows of a file
  tdb export PATH cells.csv                write cells to a file
  tdb consolidate PATH --what commits      merge commit files
  tdb vacuum PATH                          delete superseded files
  tdb manifest PATH                        list the files, for web servers
  tdb doctor PATH                          find leftovers of interrupted writes and moves
  tdb verify PATH                          check all files
  tdb advise PATH                          find ways to make an array smaller or faster
  tdb report PATH > report.html            HTML page with charts

Exit codes: 0 success, 1 problem or difference found, 2 wrong use, 3 corrupt data, 4 unsupported, 5 not found or I/O,
6 the key of an encrypted array is missing, wrong or unneeded.
Commands that inspect arrays never write to them.";

/// Inspect, query, create and maintain TileDB arrays.
#[derive(Debug, Parser)]
#[command(name = "tdb", version, after_help = AFTER_HELP, max_term_width = 100, arg_required_else_help = true)]
#[command(override_usage = "tdb [OPTIONS] <COMMAND>\n       tdb [OPTIONS] PATH")]
pub(crate) struct Args {
    /// When to use colors (auto: on a terminal, unless NO_COLOR is set)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    #[command(flatten)]
    options: Options,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Info(info::Args),
    Schema(schema::Args),
    Fragments(fragments::Args),
    Read(read::Args),
    Agg(Box<agg::Args>),
    Stats(stats::Args),
    Meta(meta::Args),
    Tree(tree::Args),
    Enumerations(enumerations::Args),
    Ls(ls::Args),
    Create(create::Args),
    Import(import::Args),
    Export(export::Args),
    Evolve(evolve::Args),
    Delete(delete::Args),
    Group(group::Args),
    Diff(diff::Args),
    Consolidate(consolidate::Args),
    Vacuum(vacuum::Args),
    Manifest(manifest::Args),
    Migrate(Box<migrate::Args>),
    Doctor(doctor::Args),
    Copy(copy::Args),
    Move(mv::Args),
    Remove(remove::Args),
    Verify(verify::Args),
    Advise(advise::Args),
    Report(report::Args),
    Inspect(inspect::Args),
    Completions(completions::Args),
    Man(man::Args),
    /// A path without a command, with its options.
    #[command(external_subcommand)]
    Path(Vec<OsString>),
    /// A command of an extension.
    #[command(skip)]
    Further {
        name: String,
        matches: Box<ArgMatches>,
    },
}

/// A parsed command line.
pub(crate) enum Parsed {
    Command {
        command: Command,
        options: Options,
    },
    /// Wrong use.
    Failed(Failure),
    /// Help or version.
    Clap(clap::Error),
}

/// Parses the command line of the process. Also returns the choice of colors.
pub(crate) fn parse() -> (Parsed, ColorChoice) {
    let matches = match command_line().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return (wrong_use(error), ColorChoice::Auto),
    };
    if let Some((name, of_command)) = matches.subcommand()
        && extensions::command(name).is_some()
    {
        let command = Command::Further { name: name.to_owned(), matches: Box::new(of_command.clone()) };
        let color = matches.get_one("color").copied().unwrap_or(ColorChoice::Auto);
        let options = Options::from_arg_matches(&matches);
        return (options.map_or_else(wrong_use, |options| Parsed::Command { command, options }), color);
    }
    match Args::from_arg_matches(&matches) {
        Ok(Args { color, options, command: Command::Path(words) }) => bare_path(words, color, options),
        Ok(Args { color, options, command }) => (Parsed::Command { command, options }, color),
        Err(error) => (wrong_use(error), ColorChoice::Auto),
    }
}

/// Returns the definition of the command line, with the commands of extensions.
pub(crate) fn command_line() -> clap::Command {
    extensions::with_commands(Args::command())
}

/// Parses `tdb PATH …` as `tdb info PATH …`, unless the word is a misspelled command.
fn bare_path(words: Vec<OsString>, color: ColorChoice, before: Options) -> (Parsed, ColorChoice) {
    let word = words.first().cloned().unwrap_or_default();
    let text = word.to_string_lossy();
    let is_word = text.chars().all(|character| character.is_ascii_alphabetic());
    if is_word && !Path::new(&word).exists() {
        let failure = Failure::usage(format!("no command and no path is named {text:?}"));
        let failure = match suggest::nearest(&text, commands().iter().map(String::as_str)) {
            Some(command) => failure.with_hint(format!("did you mean `tdb {command}`?")),
            None if text == "sql" => {
                failure.with_hint(elsewhere("use `tdb read --where` or `tdb agg` for simple queries"))
            }
            None => failure.with_hint("run `tdb --help` for a list of commands"),
        };
        return (Parsed::Failed(failure), color);
    }
    let line = ["tdb", "info"].map(OsString::from).into_iter().chain(words);
    match Args::try_parse_from(line) {
        Ok(args) => {
            // Options are accepted before and after the path.
            let color = if args.color == ColorChoice::Auto { color } else { args.color };
            let options = Options {
                stats: before.stats || args.options.stats,
                no_sync: before.no_sync || args.options.no_sync,
                skip_damaged: before.skip_damaged || args.options.skip_damaged,
                key_file: args.options.key_file.or(before.key_file),
            };
            (Parsed::Command { command: args.command, options }, color)
        }
        Err(error) => (wrong_use(error), color),
    }
}

/// Converts an error of clap to a message of one line and a hint. Help and version stay unchanged.
fn wrong_use(error: clap::Error) -> Parsed {
    let is_help = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if error.exit_code() == 0 || is_help {
        return Parsed::Clap(error);
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    });
    let first = paragraphs.next().unwrap_or_default();
    let failure = Failure::usage(first.strip_prefix("error: ").unwrap_or(&first));
    let (mut tip, mut usage) = (None, None);
    for paragraph in paragraphs {
        if let Some(text) = paragraph.strip_prefix("tip: ").filter(|text| !text.starts_with("to pass ")) {
            tip.get_or_insert(text.replace(" tip: ", "; "));
        } else if paragraph.starts_with("Usage: ") {
            usage = Some(paragraph);
        }
    }
    let commands = commands();
    let known = |word: &str| commands.iter().find(|command| *command == word);
    let in_usage = usage.as_deref().and_then(|usage| usage.split_whitespace().nth(2)).and_then(known);
    // Errors of values do not include the usage.
    let given = || std::env::args_os().find_map(|word| known(word.to_str()?));
    let hint = tip.unwrap_or_else(|| match in_usage.or_else(given) {
        Some(command) => format!("run `tdb {command} --help`"),
        None => "run `tdb --help`".to_owned(),
    });
    Parsed::Failed(failure.with_hint(hint))
}

/// Returns the names of the commands of this crate, and `help`.
fn commands() -> Vec<String> {
    let names = Args::command().get_subcommands().map(|command| command.get_name().to_owned()).collect::<Vec<_>>();
    [names, vec!["help".to_owned()]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }
}
