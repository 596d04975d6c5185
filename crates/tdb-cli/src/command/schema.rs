//! `tdb schema`: the schema of an array.

mod json;
mod text;

use std::ffi::OsString;

use crate::failure::Result;
use crate::key::Key;
use crate::target;
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{SchemaFormat, print_json, print_text};

/// Show the complete schema of an array
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb schema ARRAY
  tdb schema ARRAY --values 1000
  tdb schema ARRAY --format toml > schema.toml
  tdb schema ARRAY --format json | jq '.attributes[].name'")]
pub(crate) struct Args {
    /// Path of the array
    array: OsString,

    #[command(flatten)]
    time: TimeArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: SchemaFormat,

    /// Maximum number of values to show per enumeration
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    values: usize,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (_, array) = target::open_array(&args.array, 1, &args.time, key)?;
    match args.format {
        SchemaFormat::Text => Ok(print_text(&text::schema(&array, args.values, terminal.paint())?)?),
        SchemaFormat::Json => Ok(print_json(&json::schema(&array, args.values)?)?),
        SchemaFormat::Toml => Ok(print_text(&tdb_schema_text::to_toml(&array.definition()?)?)?),
    }
}
