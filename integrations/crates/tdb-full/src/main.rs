//! The command `tdb` with all that the core leaves out.

mod other_program;

use std::env;
use std::process::ExitCode;

use tdb_cli::clap::{self, Arg, ArgAction, ArgMatches};
use tdb_cli::{Context, Exit, Failure, FurtherCommand, Result};

fn main() -> ExitCode {
    tdb_cli::run(tdb_full::extensions().command(Sql))
}

/// `tdb sql`, which is a program of its own: DataFusion makes it three times as large, and no other command is to start later for that.
struct Sql;

impl FurtherCommand for Sql {
    fn command(&self) -> clap::Command {
        let arguments = Arg::new("arguments").num_args(0..).action(ArgAction::Append).trailing_var_arg(true);
        clap::Command::new("sql")
            .about("SQL over arrays: a statement, a file of them, or a prompt")
            .disable_help_flag(true)
            .arg(arguments.allow_hyphen_values(true).value_name("ARGUMENTS"))
    }

    fn run(&self, _: &ArgMatches, _: &Context) -> Result<()> {
        // The whole line once more, with the options that stand before the command.
        let not_found = Failure::new(Exit::Unsupported, "the program tdb-sql, which has SQL, is not there");
        let hint = "`cargo install --path integrations/crates/tdb-full` installs it beside tdb";
        other_program::run("tdb-sql", env::args_os().skip(1), not_found.with_hint(hint))
    }
}
