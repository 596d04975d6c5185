//! The options of `tdb import`.

use std::ffi::OsString;

use tdb_types::Datatype;

use crate::size;
use crate::time::Stamp;

/// Import CSV, JSON, Parquet or Arrow files, or Zarr
///
/// The columns of the files are the dimensions and attributes of the array, in any order. All rows
/// are checked before the first is written. Rows that the array cannot hold are reported by line. A
/// missing array is created: from a schema, from the contents of the files, or from the definition
/// that `tdb export` stored in a Parquet or Arrow file. A Zarr folder becomes a new dense array, or
/// a new group of dense arrays. Parquet, Arrow and Zarr require the full tdb.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cells have the format of `tdb read`: dates in ISO format, lists in brackets, bytes in hexadecimal, and the names of
enumeration values.

Examples:
  tdb import ARRAY rows.csv
  tdb import NEW rows.csv --dimensions chrom,pos      infer the schema from the file, and print it
  tdb import NEW rows.csv --dimensions chrom,pos --dry-run > schema.toml
  tdb import NEW rows.jsonl --schema schema.toml
  tdb import NEW data/*.parquet --dimensions chrom,pos
  tdb import COPY cells.parquet                       import a file of `tdb export ARRAY cells.parquet`
  tdb import NEW array.zarr                           import a Zarr array of any program
  tdb read OLD --format csv | tdb import ARRAY - --format csv")]
pub(crate) struct Args {
    /// Path of the array, which is created if missing
    pub(super) array: OsString,

    /// Files of one kind, folders of such files, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,

    /// Format, instead of that of the file extensions: csv, json, jsonl, or another extension
    #[arg(long, value_name = "ENDING")]
    pub(super) format: Option<String>,

    /// Delimiter of CSV fields [default: a comma, or a tab in .tsv]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(super) delimiter: Option<u8>,

    /// Text of unquoted null cells in CSV (repeatable) [default: empty]
    #[arg(long, value_name = "TEXT")]
    pub(super) null: Vec<String>,

    /// Type of a column of a new array, or type to convert decimals and half floats to (repeatable
    /// with distinct names)
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = column_type)]
    pub(super) types: Vec<(String, Datatype)>,

    /// Ignore columns without a field in the array
    #[arg(long)]
    pub(super) ignore_others: bool,

    /// Skip rows that cannot be imported, instead of importing none. The exit code is 1 in both
    /// cases
    #[arg(long)]
    pub(super) skip_rejects: bool,

    /// Keep the last of the rows with equal coordinates, if the array does not allow duplicates.
    /// Otherwise such rows are an error
    #[arg(long)]
    pub(super) keep_last: bool,

    /// Schema of a new array, as for `tdb create`
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<OsString>,

    /// Columns that become the dimensions of a new array. The schema is then inferred from the
    /// files
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "schema")]
    pub(super) dimensions: Vec<String>,

    /// Allow several cells with the same coordinates in a new array
    #[arg(long, requires = "dimensions")]
    pub(super) allow_duplicates: bool,

    /// Check all rows and write nothing. Prints the schema of a new array
    #[arg(long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) stamp: Stamp,

    /// Approximate memory limit for cells. A fragment is written each time the limit is reached
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = size::parse)]
    pub(super) budget: u64,

    /// Number of threads, or 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) threads: usize,
}

fn column_type(text: &str) -> Result<(String, Datatype), String> {
    let (name, datatype) = text.rsplit_once('=').ok_or("expected NAME=TYPE, such as price=float64")?;
    let known = Datatype::from_name(datatype).filter(|datatype| *datatype != Datatype::Any);
    let known = known.ok_or_else(|| {
        let some = ["int32", "uint64", "float64", "bool", "string_utf8", "datetime_ms"];
        format!("no type is named {datatype:?}; types are for example {}", some.join(", "))
    })?;
    Ok((name.to_owned(), known))
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        br"\t" => Ok(b'\t'),
        _ => Err("expected a single ASCII character, or \\t".to_owned()),
    }
}
