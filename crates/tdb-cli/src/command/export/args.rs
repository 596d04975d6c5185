//! The options of `tdb export`.

use std::ffi::OsString;

use crate::command::cells_of::WhichCells;
use crate::command::order::OrderArg;
use crate::size;
use crate::time::TimeArgs;

/// Export cells into a file
///
/// The name of the file says what it becomes: `.csv`, `.jsonl` or `.json`; the full tdb writes `.parquet`, `.arrow` and `.zarr` as well.
/// `.zarr` is a folder that holds a dense array, or a group of them, as a whole.
/// Cells are written as they come, in memory that is bounded whatever the size of the array. They go to a temporary file in the
/// same folder, which takes the name when it is complete: no part of a file ever has it, even if the command is killed.
/// An existing file is never overwritten; a pipe or a device is written to directly.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb export ARRAY cells.csv
  tdb export ARRAY chr1.csv --range contig=chr1 --select pos,qual --where 'qual > 30'
  tdb export ARRAY cells.parquet --option compression=snappy
  tdb export ARRAY cells.arrow --at 2024-05-01
  tdb export ARRAY array.zarr
  tdb export GROUP group.zarr --option compression=zstd")]
pub(crate) struct Args {
    /// The array, or for a folder such as .zarr a group
    pub(super) array: OsString,

    /// The file or folder to make, which isn't there yet; `-` is standard output, with --format
    pub(super) file: OsString,

    /// What the file becomes, if its name doesn't say: csv, jsonl, json, or another ending
    #[arg(long, value_name = "ENDING")]
    pub(super) format: Option<String>,

    /// Attributes, dimensions and labels, in this order; a name with a comma stands in quotes [default: all attributes and
    /// dimensions]
    #[arg(short, long, value_name = "NAME,…")]
    pub(super) select: Vec<String>,

    #[command(flatten)]
    pub(super) which: WhichCells,

    #[command(flatten)]
    pub(super) time: TimeArgs,

    /// The order of the cells [default: row-major if dense, unordered if sparse]
    #[arg(short, long, value_enum)]
    pub(super) order: Option<OrderArg>,

    /// Something that files of this kind know; may be given many times
    #[arg(long = "option", value_name = "NAME=VALUE")]
    pub(super) options: Vec<String>,

    /// About how much memory to use
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = size::parse)]
    pub(super) budget: u64,

    /// Threads to use; 0 means as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) threads: usize,
}
