//! `tdb import`: rows of files into an array.

mod folder;
mod sources;

use std::ffi::OsString;

use tdb_array::{Array, ArrayError};
use tdb_schema::{ArrayDefinition, ArraySchema, SchemaError};
use tdb_types::saturating_len;

use crate::failure::{Failure, Result};
use crate::import::{self, Checked, Imported, Reading, Writing};
use crate::key::Key;
use crate::target::{self, Kind};
use crate::terminal::Terminal;
use crate::time::{Stamp, TimeArgs};
use crate::{session, size};

/// Import CSV, JSON lines, Parquet or Arrow files, or Zarr
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
    array: OsString,

    /// The files, all of one kind; a folder stands for those in it, and `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,

    /// What the files hold, if their names don't say: csv, jsonl, or another ending
    #[arg(long, value_name = "ENDING")]
    format: Option<String>,

    /// What stands between the fields of CSV
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    delimiter: u8,

    /// What stands for a null cell in CSV
    #[arg(long, value_name = "TEXT", default_value = "")]
    null: String,

    /// Pass over columns that the array has no field for
    #[arg(long)]
    ignore_others: bool,

    /// Leave out rows that can't be imported, instead of importing none; the exit code is 1 all the same
    #[arg(long)]
    skip_rejects: bool,

    /// Of rows with equal coordinates take the last one, where the array allows only one; else they are an error
    #[arg(long)]
    keep_last: bool,

    /// The schema of a new array, as `tdb create` takes it
    #[arg(long, value_name = "FILE")]
    schema: Option<OsString>,

    /// The columns that are dimensions of a new array, whose schema is then made from the files
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "schema")]
    dimensions: Vec<String>,

    /// Several cells of a new array may have the same coordinates
    #[arg(long, requires = "dimensions")]
    allow_duplicates: bool,

    /// Look at all rows and write nothing; of a new array the schema is printed
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    stamp: Stamp,

    /// About how much memory cells may take before they are written, each time as a fragment
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = size::parse)]
    budget: u64,

    /// Threads to use; 0 means as many as the machine has
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        br"\t" => Ok(b'\t'),
        _ => Err("a single character of ASCII is needed, or \\t".to_owned()),
    }
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if let Some((format, path)) = folder::named(args)? {
        return folder::run(args, format, path, key, terminal);
    }
    let source = sources::source(
        &args.files,
        sources::How {
            format: args.format.as_deref(),
            delimiter: args.delimiter,
            null: &args.null,
            budget: saturating_len(args.budget),
        },
    )?;
    let reading = Reading { source, ignore_others: args.ignore_others, skip_rejects: args.skip_rejects };
    let writing = Writing { names: args.stamp.names(), keep_last: args.keep_last, budget: saturating_len(args.budget) };
    let storage = target::storage(&args.array)?;
    let is_new = match storage.list("") {
        Ok(entries) => Kind::of_entries(&entries) != Kind::Array,
        Err(error) if error.is_not_found() => true,
        Err(error) => return Err(ArrayError::from(error).into()),
    };
    if !is_new && (args.schema.is_some() || !args.dimensions.is_empty()) {
        return Err(Failure::usage(format!("{}: the array is there, and has a schema", args.array.display()))
            .with_hint("leave out --schema and --dimensions, or name another array"));
    }
    let open = || target::open_array(&args.array, args.threads, &TimeArgs::default(), key);
    let mut imported = Imported::default();
    let checked;
    if is_new {
        let definition = definition(args, &reading)?;
        checked = import::check(&reading, &definition, &writing, terminal)?;
        let text = tdb_schema_text::to_toml(&definition)?;
        if args.dry_run {
            print!("{text}");
        } else if args.schema.is_none() {
            eprintln!("the schema, made from {}:\n\n{text}", reading.source.name());
        }
        if !args.dry_run {
            key.create_options().names(writing.names.clone()).create_on(&storage, &definition)?;
            let array = open()?.1;
            let written = import::write(&reading, &array, &definition, (&checked, &writing), &mut imported, terminal);
            written.map_err(|failure| failure.and(imported.so_far()).and("the array was made, and stays"))?;
        }
    } else {
        let array = open()?.1;
        let definition = defined(&array)?;
        checked = import::check(&reading, &definition, &writing, terminal)?;
        if !args.dry_run {
            let written = import::write(&reading, &array, &definition, (&checked, &writing), &mut imported, terminal);
            written.map_err(|failure| failure.and(imported.so_far()))?;
        }
    }
    tell(&checked, &imported, args.dry_run);
    Ok(())
}

fn tell(checked: &Checked, imported: &Imported, dry_run: bool) {
    if checked.rejected > 0 {
        session::found();
    }
    if dry_run {
        eprintln!("{} can be imported", counted(checked.rows, "row"));
    } else {
        eprintln!("{} written, as {}", counted(imported.cells, "cell"), counted(imported.fragments as u64, "fragment"));
    }
}

impl Imported {
    /// What an import that has failed leaves.
    fn so_far(&self) -> String {
        match self.fragments {
            0 => "nothing was written".to_owned(),
            _ => format!("{} were written before", counted(self.cells, "cell")),
        }
    }
}

fn definition(args: &Args, reading: &Reading) -> Result<ArrayDefinition> {
    match &args.schema {
        Some(file) => super::create::parsed(file, tdb_schema_text::from_toml),
        None => import::new_array(&reading.source, &args.dimensions, args.allow_duplicates),
    }
}

/// The schema of an array, with its enumerations.
fn defined(array: &Array) -> Result<ArrayDefinition> {
    let wrong = |error: SchemaError| Failure::corrupt(error);
    let mut definition = ArrayDefinition::new(ArraySchema::clone(array.schema())).map_err(wrong)?;
    for reference in array.schema().enumerations() {
        definition = definition.with_enumeration((*array.enumeration(&reference.name)?).clone()).map_err(wrong)?;
    }
    Ok(definition)
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
