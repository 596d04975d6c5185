//! Opens, reads and writes on an object store: measured by a program of the second workspace, since what speaks to stores lies
//! there.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use clap::Args;

/// What to measure on a store.
#[derive(Args)]
pub struct StoresArguments {
    /// What the program takes; `--help` tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(arguments: &StoresArguments) -> Result<(), Box<dyn Error>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/Cargo.toml");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["run", "--release", "--locked", "--quiet", "--package", "tdb-store-speed", "--manifest-path"])
        .arg(manifest);
    let status = cargo.arg("--").args(&arguments.arguments).status()?;
    if status.success() { Ok(()) } else { Err(format!("tdb-store-speed failed: {status}").into()) }
}
