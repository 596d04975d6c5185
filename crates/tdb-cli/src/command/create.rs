//! `tdb create`: creation of arrays.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};

use tdb_schema_text::{SchemaTextError, from_toml_as};
use tdb_types::FormatVersion;

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::time::Stamp;
use crate::{location, target};

/// Create an array
///
/// The schema is TOML, as printed by `tdb schema ARRAY --format toml`. docs/reference/schema-text.md lists
/// all keys. With a key (`--key-file`) the array is encrypted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb create ARRAY --schema schema.toml
  tdb schema OLD --format toml | tdb create NEW --schema -
  tdb create ARRAY --schema schema.toml --format-version 12     readable by release 2.8")]
pub(crate) struct Args {
    /// Folder of the array, created if missing
    array: OsString,

    /// Schema as TOML, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    schema: OsString,

    /// Format version to write, instead of the version in the schema (22 if the schema has none)
    #[arg(long, value_name = "VERSION", value_parser = version)]
    format_version: Option<FormatVersion>,

    #[command(flatten)]
    stamp: Stamp,
}

pub(super) fn version(text: &str) -> Result<FormatVersion, String> {
    let number = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    FormatVersion::new(number).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &Args, key: &Key) -> Result<()> {
    let storage = target::storage(&args.array)?;
    let definition = parsed(&args.schema, |text| from_toml_as(text, args.format_version))?;
    Ok(key.create_options().ids(args.stamp.names()).create_on(&storage, &definition)?)
}

/// Parses the TOML in a file or from standard input.
///
/// # Errors
/// Fails if the file cannot be read or is invalid. The error names the position and the reason.
pub(crate) fn parsed<T>(file: &OsString, parse: impl FnOnce(&str) -> Result<T, SchemaTextError>) -> Result<T> {
    let mut text = String::new();
    let is_stdin = file == "-";
    let result = match is_stdin {
        true => std::io::stdin().read_to_string(&mut text).map(|_| text),
        false => fs::read_to_string(location::local(file)?),
    };
    let name = if is_stdin { "standard input".into() } else { file.to_string_lossy() };
    let text = result.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => Failure::usage(format!("{name}: invalid TOML: not UTF-8")),
        _ => Failure::io(&name, &error),
    })?;
    parse(&text).map_err(|error| Failure::schema_text(&name, &text, &error))
}
