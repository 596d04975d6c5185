//! Benchmarks of the second workspace, which has the required dependencies.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use clap::{Args, Subcommand};

/// Benchmarks of the second workspace.
#[derive(Subcommand)]
pub(crate) enum Elsewhere {
    /// Measure opens, reads and writes on an object store with increasing latency
    #[command(disable_help_flag = true)]
    Stores(ProgramArguments),
    /// Compare SQL on an array and on Parquet, with DataFusion, DuckDB and pandas
    #[command(disable_help_flag = true)]
    Sql(ProgramArguments),
    /// Compare the Python package with TileDB-Py
    #[command(disable_help_flag = true)]
    Python(ProgramArguments),
}

/// Arguments for another program.
#[derive(Args)]
pub(crate) struct ProgramArguments {
    /// Arguments of the program; pass `--help` to list them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Elsewhere {
    /// Builds and runs the program. `python` runs the program of the Python package.
    pub(crate) fn run(&self, python: impl Fn(&[String]) -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
        let (package, ProgramArguments { arguments }) = match self {
            Self::Stores(arguments) => ("tdb-store-speed", arguments),
            Self::Sql(arguments) => ("tdb-sql-speed", arguments),
            Self::Python(ProgramArguments { arguments }) => return python(arguments),
        };
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/Cargo.toml");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["run", "--release", "--locked", "--quiet", "--package", package, "--manifest-path"]).arg(manifest);
        let status = cargo.arg("--").args(arguments).status()?;
        if status.success() { Ok(()) } else { Err(format!("{package} failed: {status}").into()) }
    }
}
