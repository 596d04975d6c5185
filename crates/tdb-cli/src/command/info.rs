//! `tdb info`, and the bare `tdb PATH`: a summary of an array or group.

mod array;
mod group;

use std::ffi::OsString;

use crate::failure::Result;
use crate::key::Key;
use crate::target::{self, Kind};
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{TextFormat, print_json, print_text};

/// Show a summary of an array or group
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb info ARRAY
  tdb ARRAY
  tdb info ARRAY --at 2024-05-01
  tdb info ARRAY --format json | jq .cells")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    #[command(flatten)]
    time: TimeArgs,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: TextFormat,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, kind) = target::find(&args.path)?;
    match kind {
        Kind::Array | Kind::KeyValue => {
            let (path, array) = target::open_to_read(&args.path, 1, &args.time, key)?;
            match args.format {
                TextFormat::Text => Ok(print_text(&array::text(&path, &array, terminal.paint())?)?),
                TextFormat::Json => Ok(print_json(&array::json(&path, &array)?)?),
            }
        }
        Kind::Group => {
            let group = target::open_group(&path, &args.time, key)?;
            match args.format {
                TextFormat::Text => Ok(print_text(&group::text(&path, &group, terminal.paint()))?),
                TextFormat::Json => Ok(print_json(&group::json(&path, &group))?),
            }
        }
        other => Err(target::unexpected(&path, other, "neither an array nor a group")),
    }
}
