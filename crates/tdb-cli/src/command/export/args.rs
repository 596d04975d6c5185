//! The options of `tdb export`.

use std::ffi::OsString;

use crate::command::cells_of::WhichCells;
use crate::command::order::OrderArg;
use crate::size;
use crate::time::TimeArgs;

/// Export cells to a file
///
/// The file extension selects the format: `.csv`, `.jsonl` or `.json`. The full tdb also writes
/// `.parquet`, `.arrow` and `.zarr`. A `.zarr` folder contains a complete dense array, or a group
/// of dense arrays. Memory is bounded for arrays of any size. The output goes to a temporary file
/// in the same folder, which is renamed when complete. A partial file never has the final name,
/// even if the command is killed. Existing files are never overwritten. Pipes and devices are
/// written directly.
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
    /// Array, or group for a folder format such as .zarr
    pub(super) array: OsString,

    /// File or folder to create, which must not exist, or `-` for standard output with --format
    pub(super) file: OsString,

    /// Format, instead of that of the file extension: csv, jsonl, json, or another extension
    #[arg(long, value_name = "ENDING")]
    pub(super) format: Option<String>,

    /// Attributes, dimensions and labels, in this order. A name with a comma needs quotes [default:
    /// all attributes and dimensions]
    #[arg(short, long, value_name = "NAME,…")]
    pub(super) select: Vec<String>,

    #[command(flatten)]
    pub(super) which: WhichCells,

    #[command(flatten)]
    pub(super) time: TimeArgs,

    /// Order of the cells [default: row-major if dense, unordered if sparse]
    #[arg(short, long, value_enum)]
    pub(super) order: Option<OrderArg>,

    /// Option of the file format (repeatable with distinct names)
    #[arg(long = "option", value_name = "NAME=VALUE")]
    pub(super) options: Vec<String>,

    /// Approximate memory limit
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = size::parse)]
    pub(super) budget: u64,

    /// Number of threads, or 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) threads: usize,
}
