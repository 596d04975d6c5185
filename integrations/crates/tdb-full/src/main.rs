//! The command `tdb` with all extensions.

mod other_program;

use std::env;
use std::process::ExitCode;

use tdb_cli::clap::{self, Arg, ArgAction, ArgMatches};
use tdb_cli::{Context, Exit, Extensions, Failure, FurtherCommand, Result};

fn main() -> ExitCode {
    let commands = [
        OfSql { name: "sql", about: "Run SQL statements, a file of statements, or an interactive prompt" },
        OfSql { name: "scheduler", about: "Distribute the tasks of SQL queries to executors" },
        OfSql { name: "executor", about: "Run tasks of a scheduler" },
    ];
    let extensions = tdb_full::extensions().command(tdb_serve::ServeCommand);
    tdb_cli::run(commands.into_iter().fold(extensions, Extensions::command))
}

/// A command of the program `tdb-sql`. A separate program, because DataFusion triples the size, and
/// slows down the start.
struct OfSql {
    name: &'static str,
    about: &'static str,
}

impl FurtherCommand for OfSql {
    fn command(&self) -> clap::Command {
        let arguments = Arg::new("arguments").num_args(0..).action(ArgAction::Append).trailing_var_arg(true);
        clap::Command::new(self.name)
            .about(self.about)
            .disable_help_flag(true)
            .arg(arguments.allow_hyphen_values(true).value_name("ARGUMENTS"))
    }

    fn run(&self, _: &ArgMatches, _: &Context) -> Result<()> {
        // Passes the whole command line, including options before the command.
        let not_found = Failure::new(Exit::Unsupported, "the program tdb-sql for SQL commands is not installed");
        let hint = "run `cargo install --path integrations/crates/tdb-full` to install it next to tdb";
        other_program::run("tdb-sql", env::args_os().skip(1), not_found.with_hint(hint))
    }
}
