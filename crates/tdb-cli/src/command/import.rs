//! `tdb import`: rows of a file into an array.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use tdb_schema::{ArrayDefinition, SchemaError};
use tdb_types::saturating_len;

use crate::failure::{Exit, Failure, Result};
use crate::import::{Imported, Input, Reading, RowsFormat, Writing};
use crate::key::Key;
use crate::terminal::Terminal;
use crate::time::{Stamp, TimeArgs};
use crate::{files, location, session, size, target};

/// Import CSV or JSON lines
///
/// The columns of the file are the fields of the array: dimensions and attributes, in any order. All rows are looked at
/// before anything is written; those that the array can't hold are reported by their lines. An array that isn't there is made,
/// from a schema or from what the file holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cells look as `tdb read` prints them: dates in ISO form, lists in brackets, bytes in hexadecimal, enumerated values by
their names.

Examples:
  tdb import ARRAY rows.csv
  tdb import NEW rows.csv --dimensions chrom,pos      the schema is made from the file, and shown
  tdb import NEW rows.csv --dimensions chrom,pos --dry-run > schema.toml
  tdb import NEW rows.jsonl --schema schema.toml
  tdb read OLD --format csv | tdb import ARRAY - --format csv")]
pub(crate) struct Args {
    /// The array; it's made if nothing is there
    array: OsString,

    /// The file; `-` is standard input
    file: OsString,

    /// What the file holds, if its name doesn't say
    #[arg(long, value_enum)]
    format: Option<RowsFormat>,

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

    /// The columns that are dimensions of a new array, whose schema is then made from the file
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

/// Files of columns have no lines, and what is in them would be refused for want of these.
fn refuse_columns(path: &Path) -> Result<()> {
    if !files::ending(path).is_some_and(|ending| files::COLUMNS.contains(&ending.as_str())) {
        return Ok(());
    }
    let message = format!("{}: this build of tdb imports CSV and JSON lines only", path.display());
    let hint = location::elsewhere("convert the file to CSV");
    Err(Failure::new(Exit::Unsupported, message).with_hint(hint))
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let path = if args.file == *"-" { None } else { Some(location::local(&args.file)?) };
    path.as_deref().map_or(Ok(()), refuse_columns)?;
    let reading = Reading {
        input: Input::new(path, args.format, args.delimiter)?,
        null: args.null.clone(),
        ignore_others: args.ignore_others,
        skip_rejects: args.skip_rejects,
    };
    let writing = Writing { names: args.stamp.names(), keep_last: args.keep_last, budget: saturating_len(args.budget) };
    let folder = location::local(&args.array)?;
    let is_new = !matches!(target::Kind::of(&folder), Ok(target::Kind::Array));
    if !is_new && (args.schema.is_some() || !args.dimensions.is_empty()) {
        return Err(Failure::usage(format!("{}: the array is there, and has a schema", folder.display()))
            .with_hint("leave out --schema and --dimensions, or name another array"));
    }
    let open = || target::open_array(&args.array, args.threads, &TimeArgs::default(), key, target::local_storage);
    let mut imported = Imported::default();
    let checked;
    if is_new {
        let definition = definition(args, &reading)?;
        checked = reading.check(definition.schema(), |name| enumeration(&definition, name), &writing, terminal)?;
        let text = tdb_schema_text::to_toml(&definition)?;
        if args.dry_run {
            print!("{text}");
        } else if args.schema.is_none() {
            eprintln!("the schema, made from {}:\n\n{text}", reading.input.name());
        }
        if !args.dry_run {
            key.create_options().names(writing.names.clone()).create(&folder, &definition)?;
            let array = open()?.1;
            let written = reading.write(&array, &checked, &writing, &mut imported, terminal);
            written.map_err(|failure| failure.and(imported.so_far()).and("the array was made, and stays"))?;
        }
    } else {
        let array = open()?.1;
        let enumeration = |name: &str| Ok(Arc::unwrap_or_clone(array.enumeration(name)?));
        checked = reading.check(array.schema(), enumeration, &writing, terminal)?;
        if !args.dry_run {
            let written = reading.write(&array, &checked, &writing, &mut imported, terminal);
            written.map_err(|failure| failure.and(imported.so_far()))?;
        }
    }
    if checked.rejected > 0 {
        session::found();
    }
    if args.dry_run {
        eprintln!("{} can be imported", counted(checked.rows, "row"));
    } else {
        eprintln!("{} written, as {}", counted(imported.cells, "cell"), counted(imported.fragments as u64, "fragment"));
    }
    Ok(())
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
        None => {
            let schema = reading.guess()?.schema(&args.dimensions, args.allow_duplicates)?;
            let invalid = |error: SchemaError| Failure::usage(error);
            ArrayDefinition::new(schema).map_err(invalid)
        }
    }
}

fn enumeration(definition: &ArrayDefinition, name: &str) -> Result<tdb_schema::Enumeration> {
    let enumeration = definition.enumeration(name).cloned();
    enumeration.ok_or_else(|| Failure::usage(format!("the schema has no values of enumeration {name:?}")))
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
