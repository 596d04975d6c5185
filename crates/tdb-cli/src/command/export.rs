//! `tdb export`: export of cells to files.

mod args;
mod folder;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tdb_array::{Array, Monitor, Query};
use tdb_exchange::CellWriter;
use tdb_types::saturating_len;

pub(crate) use args::Args;

use super::selection::{Selected, selected};
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, Export, FileFormat};
use crate::key::Key;
use crate::new_file::{self, NewFile};
use crate::progress::QueryProgress;
use crate::size::counted;
use crate::{interrupt, location, target};
use tdb_print::Terminal;
use tdb_print::{RowFormat, cell_writer};

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let path = location::local(&args.file)?;
    if let Some(format) = files::folder_format(&path, args.format.as_deref()) {
        return folder::run(args, format, &path, key, terminal);
    }
    let kind = Kind::of(&path, args.format.as_deref())?;
    let options = files::options(&args.options)?;
    files::check_known(&options, kind.options())?;
    let (_, array) = target::open_to_read(&args.array, args.threads, &args.time, key)?;
    let fields = selected(array.schema(), &args.select)?;
    let query = query(&array, args, &fields)?;
    let monitor = Monitor::new();
    match new_file::is_stream(&path) {
        true => interrupt::cancels(&monitor),
        false => interrupt::ends(&monitor),
    }
    let new = NewFile::begin(&path)?;
    let _bar = QueryProgress::of(&monitor, terminal.stderr);
    let (query, file, budget) = (query.monitor(&monitor), new.file()?, saturating_len(args.budget));
    let cells = match kind {
        Kind::Rows(format) => write_rows(&array, query, &fields, file, (format, &options), terminal)?,
        Kind::Added(format) => format.export(Export { query, path: &path, file, options, budget })?,
    };
    new.finish()?;
    eprintln!("{} written", counted(cells, "cell"));
    Ok(())
}

fn query(array: &Array, args: &Args, fields: &[Selected<'_>]) -> Result<Query> {
    let names = fields.iter().map(|field| field.name(array.schema()));
    let query = args.which.apply(array.read().select(names)?, array)?.only_matching();
    let query = args.which.within_written(query, array)?;
    let query = args.order.map_or(query.clone(), |order| query.order(order.into()));
    // Cells are in memory twice for a while, as read and as written.
    Ok(query.budget(saturating_len(args.budget / 2)))
}

/// The format of a file.
enum Kind {
    Rows(RowFormat),
    Added(&'static dyn FileFormat),
}

/// Options of row formats.
const ROW_OPTIONS: &[files::FileOption] = &[
    files::FileOption { name: "null", what: "text of null cells in CSV, instead of the empty field" },
    files::FileOption { name: "raw", what: "true exports stored values instead of dates and enumeration values" },
];

impl Kind {
    fn of(path: &Path, named: Option<&str>) -> Result<Self> {
        let ending = files::ending(path);
        let asked = named.map(|name| name.trim_start_matches('.').to_ascii_lowercase()).or(ending);
        let row_format = match asked.as_deref() {
            Some("csv") => Some(RowFormat::Csv),
            Some("jsonl" | "ndjson") => Some(RowFormat::Jsonl),
            Some("json") => Some(RowFormat::Json),
            _ => None,
        };
        if let Some(format) = row_format {
            return Ok(Self::Rows(format));
        }
        if let Some(format) = asked.as_deref().and_then(files::format_of) {
            return Ok(Self::Added(format));
        }
        let known = ["csv", "jsonl", "json"].into_iter().chain(files::endings()).collect::<Vec<_>>().join(", .");
        let asked = asked.unwrap_or_default();
        if files::COLUMNS.contains(&asked.as_str()) {
            let message = format!("{}: this build of tdb writes .{known} only", path.display());
            return Err(Failure::new(Exit::Unsupported, message).with_hint(location::elsewhere("export CSV")));
        }
        let message = format!("{}: the format of the file is unknown", path.display());
        Err(Failure::usage(message).with_hint(format!("use the file name extension .{known}, or pass --format")))
    }

    fn options(&self) -> &'static [files::FileOption] {
        match self {
            Self::Rows(_) => ROW_OPTIONS,
            Self::Added(format) => format.options(),
        }
    }
}

fn write_rows(
    array: &Array,
    query: Query,
    fields: &[Selected<'_>],
    file: File,
    (format, options): (RowFormat, &[(String, String)]),
    terminal: Terminal,
) -> Result<u64> {
    let option = |name: &str| options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let is_raw = match option("raw") {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => return Err(Failure::usage(format!("--option raw={other}: expected true or false"))),
    };
    let shown = fields.iter().map(|field| field.field(array, is_raw)).collect::<Result<Vec<_>>>()?;
    let writer = cell_writer(format, shown, option("null"), terminal)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let cells = write_batches(query, writer, &mut out)?;
    out.flush()?;
    Ok(cells)
}

fn write_batches(query: Query, mut writer: Box<dyn CellWriter>, out: &mut impl Write) -> Result<u64> {
    let mut cells = 0;
    for batch in query.batches()? {
        let batch = batch?;
        writer.rows(&batch, 0..batch.len(), out)?;
        cells += batch.len() as u64;
    }
    writer.finish(out)?;
    Ok(cells)
}
