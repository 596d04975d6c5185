//! The options of `tdb read`.

use std::ffi::OsString;

use crate::command::WhichCells;
use crate::command::order::OrderArg;
use crate::size;
use crate::time::TimeArgs;
use tdb_print::RowFormat;

/// Read cells
///
/// Prints a table on a terminal, and JSON lines to a pipe or file. Cells are printed as they
/// arrive. Memory is bounded for arrays of any size.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ranges include both ends, and either end is optional: pos=1000..2000, pos=1000.., pos=..2000, pos=1234.
Dates have ISO format and cover a period: day=2020-02 is the complete month, and time=2020-01-01..2020-12-31
ends with the last moment of the year. A plain integer counts units of the dimension since 1970. Strings may be
quoted: name=\"a\"..\"b\". FIRST..<END excludes the end, and chrom=chr* selects all strings that begin with chr.
Several ranges on one dimension form a union, ranges on different dimensions an intersection. A range of a
dimension label selects the coordinates whose labels are in the range.

Examples:
  tdb read ARRAY --limit 10
  tdb read ARRAY --range contig=chr1 --range pos=1000..2000 --select pos,qual
  tdb read ARRAY --where \"qual > 30 and (chrom = 'X' or filter is not null)\"
  tdb read ARRAY --range day=2020-01-01..2020-03-31 --format csv > first-quarter.csv
  tdb read ARRAY --range rows=1..10 --explain --run
  tdb read ARRAY --points wanted.csv --select qual
  tdb read ARRAY --at 2024-05-01 --limit 10
  tdb read ARRAY | jq .qual")]
pub(crate) struct Args {
    /// Path of the array
    pub(super) array: OsString,

    /// Attributes, dimensions and labels to print, in this order. A name with a comma needs quotes
    /// [default: all attributes and dimensions]
    #[arg(short, long, value_name = "NAME,…")]
    pub(super) select: Vec<String>,

    #[command(flatten)]
    pub(super) which: WhichCells,

    /// Print all cells of a dense array, with fill values for cells that do not match the condition
    #[arg(long, requires = "conditions")]
    pub(super) fill: bool,

    #[command(flatten)]
    pub(super) time: TimeArgs,

    /// Order of the cells [default: row-major if dense, unordered if sparse]
    #[arg(short, long, value_enum)]
    pub(super) order: Option<OrderArg>,

    /// Print at most this many cells, and read no more than needed
    #[arg(short = 'n', long, value_name = "CELLS")]
    pub(super) limit: Option<u64>,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    pub(super) format: Option<RowFormat>,

    /// Print stored values instead of dates (integers) and enumeration values (indices)
    #[arg(long)]
    pub(super) raw: bool,

    /// Text of null in CSV [default: empty]
    #[arg(long, value_name = "TEXT")]
    pub(super) null: Option<String>,

    /// Print the query plan and read no cells: the tiles to read, the skipped tiles, and the
    /// reasons
    #[arg(long)]
    pub(super) explain: bool,

    /// Run the explained query, discard its cells, and print the cost
    #[arg(long, requires = "explain")]
    pub(super) run: bool,

    /// Approximate memory limit for a batch of cells
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = size::parse)]
    pub(super) budget: u64,

    /// Number of threads, or 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) threads: usize,
}
