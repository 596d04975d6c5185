//! `tdb create`: a new array.

use std::ffi::OsString;
use std::fs;
use std::io::Read;

use tdb_schema_text::from_toml_as;
use tdb_types::FormatVersion;

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::location;
use crate::time::Stamp;

/// Make an array
///
/// The schema is TOML, as `tdb schema ARRAY --format toml` prints it; docs/schema-text.md has all that may stand in it.
/// With a key (`--key-file`) the array is encrypted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb create ARRAY --schema schema.toml
  tdb schema OLD --format toml | tdb create NEW --schema -
  tdb create ARRAY --schema schema.toml --format-version 12     for readers of release 2.8")]
pub(crate) struct Args {
    /// The array's folder, which need not be there
    array: OsString,

    /// The schema as TOML; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    schema: OsString,

    /// The format version to write, instead of the one that the schema states (22 if it states none)
    #[arg(long, value_name = "VERSION", value_parser = version)]
    format_version: Option<FormatVersion>,

    #[command(flatten)]
    stamp: Stamp,
}

fn version(text: &str) -> Result<FormatVersion, String> {
    let number = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    FormatVersion::new(number).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &Args, key: &Key) -> Result<()> {
    let path = location::local(&args.array)?;
    let text = read(&args.schema)?;
    let definition = from_toml_as(&text, args.format_version)?;
    Ok(key.create_options().names(args.stamp.names()).create(path, &definition)?)
}

/// The text in a file, or on standard input.
pub(crate) fn read(file: &OsString) -> Result<String> {
    let mut text = String::new();
    let result = match file.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(|_| text),
        _ => fs::read_to_string(location::local(file)?),
    };
    result.map_err(|error| Failure::io(file.display(), &error))
}
