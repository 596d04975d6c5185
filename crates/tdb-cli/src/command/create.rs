//! `tdb create`: a new array.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};

use tdb_schema_text::{SchemaTextError, from_toml_as};
use tdb_types::FormatVersion;

use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::time::Stamp;
use crate::{location, target};

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
    let storage = target::storage(&args.array)?;
    let definition = parsed(&args.schema, |text| from_toml_as(text, args.format_version))?;
    Ok(key.create_options().names(args.stamp.names()).create_on(&storage, &definition)?)
}

/// What the TOML in a file, or on standard input, means.
///
/// # Errors
/// The file can't be read, or means nothing: where, and why.
pub(crate) fn parsed<T>(file: &OsString, parse: impl FnOnce(&str) -> Result<T, SchemaTextError>) -> Result<T> {
    let mut text = String::new();
    let is_stdin = file == "-";
    let result = match is_stdin {
        true => std::io::stdin().read_to_string(&mut text).map(|_| text),
        false => fs::read_to_string(location::local(file)?),
    };
    let name = if is_stdin { "standard input".into() } else { file.to_string_lossy() };
    let text = result.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => Failure::usage(format!("{name}: no TOML: it is not UTF-8")),
        _ => Failure::io(&name, &error),
    })?;
    parse(&text).map_err(|error| Failure::schema_text(&name, &text, &error))
}
