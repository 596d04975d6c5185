//! Test rows as an array and as Parquet, created by Python.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::outcome::Result;

/// Python script that creates the rows, and implements two of the sides.
pub(crate) const SCRIPT: &str = include_str!("sides.py");

/// Packages required by the script. TileDB-Py does not support frames of later pandas releases.
pub(crate) const PACKAGES: [&str; 4] = ["tiledb", "pyarrow", "pandas<3", "duckdb"];

/// Number of rows, and layout of the Parquet file.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Shape {
    /// Number of rows
    #[arg(long, default_value_t = 10_000_000)]
    pub(crate) rows: u64,
    /// Rows per row group in Parquet (same default as pyarrow)
    #[arg(long, default_value_t = 1_048_576)]
    pub(crate) row_group: u64,
    /// Write Parquet with a page index, which pyarrow omits by default
    #[arg(long)]
    pub(crate) page_index: bool,
}

impl Shape {
    /// Returns the folder name for these rows.
    pub(crate) fn name(self) -> String {
        let index = if self.page_index { "-indexed" } else { "" };
        format!("{}-{}{index}", self.rows, self.row_group)
    }
}

/// File with the script that created the rows.
const MADE_BY: &str = "made-by.py";

/// Creates the rows in a folder, unless the same script has created them already.
pub(crate) fn make(folder: &Path, python: &Path, shape: Shape) -> Result<()> {
    let made_by = folder.join(MADE_BY);
    if fs::read_to_string(&made_by).is_ok_and(|script| script == SCRIPT) {
        return Ok(());
    }
    if folder.exists() {
        // Removes only folders created by this program.
        if !made_by.exists() && fs::read_dir(folder)?.next().is_some() {
            return Err(format!("{}: contains other files; pass an empty folder", folder.display()).into());
        }
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    eprintln!("creating {} rows in {}", shape.rows, folder.display());
    let mut make = Command::new(python);
    make.args(["-W", "ignore", "-c", SCRIPT, "make"]).arg(folder);
    make.args([shape.rows, shape.row_group, shape.page_index.into()].map(|number| number.to_string()));
    let status = make.status()?;
    if !status.success() {
        return Err(format!("cannot create the rows: {status}").into());
    }
    fs::write(made_by, SCRIPT)?;
    Ok(())
}
