//! The rows, as an array and as Parquet, made by Python.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::outcome::Result;

/// Makes the rows, and is two of the sides.
pub(crate) const SCRIPT: &str = include_str!("sides.py");

/// What it imports. TileDB-Py makes no frames of later releases of pandas.
pub(crate) const PACKAGES: [&str; 4] = ["tiledb", "pyarrow", "pandas<3", "duckdb"];

/// How many rows there are, and how Parquet has them.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Shape {
    /// How many rows there are
    #[arg(long, default_value_t = 10_000_000)]
    pub(crate) rows: u64,
    /// Rows of each row group of Parquet; pyarrow's own number unless it is said
    #[arg(long, default_value_t = 1_048_576)]
    pub(crate) row_group: u64,
    /// Parquet with an index of its pages, which pyarrow doesn't write unless it is told to
    #[arg(long)]
    pub(crate) page_index: bool,
}

impl Shape {
    /// What a folder with such rows is called.
    pub(crate) fn name(self) -> String {
        let index = if self.page_index { "-indexed" } else { "" };
        format!("{}-{}{index}", self.rows, self.row_group)
    }
}

/// Beside the rows: the script that has made them.
const MADE_BY: &str = "made-by.py";

/// Has the rows made in a folder, if they aren't there as the script would make them.
pub(crate) fn make(folder: &Path, python: &Path, shape: Shape) -> Result<()> {
    let made_by = folder.join(MADE_BY);
    if fs::read_to_string(&made_by).is_ok_and(|script| script == SCRIPT) {
        return Ok(());
    }
    if folder.exists() {
        // Nothing is removed that this program hasn't made.
        if !made_by.exists() && fs::read_dir(folder)?.next().is_some() {
            return Err(format!("{} holds something else; give an empty folder", folder.display()).into());
        }
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    eprintln!("making {} rows in {}", shape.rows, folder.display());
    let mut make = Command::new(python);
    make.args(["-W", "ignore", "-c", SCRIPT, "make"]).arg(folder);
    make.args([shape.rows, shape.row_group, shape.page_index.into()].map(|number| number.to_string()));
    let status = make.status()?;
    if !status.success() {
        return Err(format!("the rows can't be made: {status}").into());
    }
    fs::write(made_by, SCRIPT)?;
    Ok(())
}
