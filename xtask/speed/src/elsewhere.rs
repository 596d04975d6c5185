//! What programs of the second workspace measure, since what they need lies there.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use clap::{Args, Subcommand};

/// What is measured elsewhere.
#[derive(Subcommand)]
pub(crate) enum Elsewhere {
    /// Opens, reads and writes on an object store, with more and more delay
    #[command(disable_help_flag = true)]
    Stores(ProgramArguments),
    /// SQL over an array beside Parquet, by DataFusion, DuckDB and pandas
    #[command(disable_help_flag = true)]
    Sql(ProgramArguments),
}

/// What a program is told.
#[derive(Args)]
pub(crate) struct ProgramArguments {
    /// What the program takes; `--help` tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Elsewhere {
    /// Builds the program and runs it.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        let (package, ProgramArguments { arguments }) = match self {
            Self::Stores(arguments) => ("tdb-store-speed", arguments),
            Self::Sql(arguments) => ("tdb-sql-speed", arguments),
        };
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/Cargo.toml");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["run", "--release", "--locked", "--quiet", "--package", package, "--manifest-path"]).arg(manifest);
        let status = cargo.arg("--").args(arguments).status()?;
        if status.success() { Ok(()) } else { Err(format!("{package} failed: {status}").into()) }
    }
}
