//! The options of `tdb import`.

use std::ffi::OsString;

use tdb_types::Datatype;

use crate::size;
use crate::time::Stamp;

/// Import CSV, JSON, Parquet or Arrow files, or Zarr
///
/// The columns of the files are the fields of the array: dimensions and attributes, in any order. All rows are looked at
/// before anything is written; those that the array can't hold are reported by their lines. An array that isn't there is made:
/// from a schema, from what the files hold, or as the array was that a Parquet or Arrow file was exported from. A folder of Zarr
/// becomes a dense array, or a group of them, which isn't there yet. Parquet, Arrow and Zarr are for the full tdb.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cells look as `tdb read` prints them: dates in ISO form, lists in brackets, bytes in hexadecimal, enumerated values by
their names.

Examples:
  tdb import ARRAY rows.csv
  tdb import NEW rows.csv --dimensions chrom,pos      the schema is made from the file, and shown
  tdb import NEW rows.csv --dimensions chrom,pos --dry-run > schema.toml
  tdb import NEW rows.jsonl --schema schema.toml
  tdb import NEW data/*.parquet --dimensions chrom,pos
  tdb import COPY cells.parquet                       what `tdb export ARRAY cells.parquet` made
  tdb import NEW array.zarr                           what `tdb export ARRAY array.zarr` made, or anybody
  tdb read OLD --format csv | tdb import ARRAY - --format csv")]
pub(crate) struct Args {
    /// The array; it's made if nothing is there
    pub(super) array: OsString,

    /// The files, all of one kind; a folder stands for those in it, and `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<OsString>,

    /// What the files hold, if their names don't say: csv, json, jsonl, or another ending
    #[arg(long, value_name = "ENDING")]
    pub(super) format: Option<String>,

    /// Delimiter of CSV fields [default: a comma, or a tab in .tsv]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(super) delimiter: Option<u8>,

    /// Text of a null cell in CSV, unless in quotes; may be given many times [default: empty]
    #[arg(long, value_name = "TEXT")]
    pub(super) null: Vec<String>,

    /// The type of a column of a new array, or that decimals and half floats are converted to; may be given many times
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = column_type)]
    pub(super) types: Vec<(String, Datatype)>,

    /// Pass over columns that the array has no field for
    #[arg(long)]
    pub(super) ignore_others: bool,

    /// Leave out rows that can't be imported, instead of importing none; the exit code is 1 all the same
    #[arg(long)]
    pub(super) skip_rejects: bool,

    /// Of rows with equal coordinates take the last one, where the array allows only one; else they are an error
    #[arg(long)]
    pub(super) keep_last: bool,

    /// The schema of a new array, as `tdb create` takes it
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<OsString>,

    /// The columns that are dimensions of a new array, whose schema is then made from the files
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "schema")]
    pub(super) dimensions: Vec<String>,

    /// Several cells of a new array may have the same coordinates
    #[arg(long, requires = "dimensions")]
    pub(super) allow_duplicates: bool,

    /// Look at all rows and write nothing; of a new array the schema is printed
    #[arg(long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) stamp: Stamp,

    /// About how much memory cells may take before they are written, each time as a fragment
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = size::parse)]
    pub(super) budget: u64,

    /// Threads to use; 0 means as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) threads: usize,
}

fn column_type(text: &str) -> Result<(String, Datatype), String> {
    let (name, datatype) = text.rsplit_once('=').ok_or("NAME=TYPE is needed, such as price=float64")?;
    let known = Datatype::from_name(datatype).filter(|datatype| *datatype != Datatype::Any);
    let known = known.ok_or_else(|| {
        let some = ["int32", "uint64", "float64", "bool", "string_utf8", "datetime_ms"];
        format!("there is no type {datatype:?}; there are {} and others", some.join(", "))
    })?;
    Ok((name.to_owned(), known))
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        br"\t" => Ok(b'\t'),
        _ => Err("a single character of ASCII is needed, or \\t".to_owned()),
    }
}
