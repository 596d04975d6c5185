//! `tdb fragments`: the committed fragments of an array.

use std::ffi::OsString;

use tdb_array::{Fragment, FragmentEntry};

use super::describe::{json_box, json_time, show_box, show_time};
use crate::failure::Result;
use crate::key::Key;
use crate::size::Bytes;
use crate::target;
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// List the committed fragments of an array, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb fragments ARRAY
  tdb fragments ARRAY --at 2024-05-01T12:00Z
  tdb fragments ARRAY --replaced
  tdb fragments ARRAY --format csv")]
pub(crate) struct Args {
    /// Path of the array
    array: OsString,

    #[command(flatten)]
    time: TimeArgs,

    /// List superseded fragments, replaced by consolidation and deleted by the next vacuum
    #[arg(long)]
    replaced: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

const COLUMNS: [(&str, bool); 10] = [
    ("name", false),
    ("start", false),
    ("end", false),
    ("version", true),
    ("type", false),
    ("cells", true),
    ("tiles", true),
    ("bytes", true),
    ("non_empty_domain", false),
    ("schema", false),
];

/// Columns of superseded fragments. These are not opened, and only the names are known.
const REPLACED_COLUMNS: [(&str, bool); 4] = [("name", false), ("start", false), ("end", false), ("version", true)];

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (_, array) = target::open_to_read(&args.array, 1, &args.time, key)?;
    let sheet = if args.replaced {
        let mut sheet = Sheet::new(&REPLACED_COLUMNS);
        array.directory().replaced.iter().for_each(|entry| sheet.push(replaced_row(entry)));
        sheet
    } else {
        let mut sheet = Sheet::new(&COLUMNS);
        for fragment in array.fragments()? {
            sheet.push(row(fragment)?);
        }
        sheet
    };
    Ok(sheet.print(RowFormat::or_default(args.format, terminal), terminal)?)
}

fn time(milliseconds: u64) -> Entry {
    Entry::shown(show_time(milliseconds), json_time(milliseconds))
}

fn replaced_row(entry: &FragmentEntry) -> Vec<Entry> {
    let (name, version) = (&entry.name, u64::from(entry.version.number()));
    vec![name.as_str().into(), time(name.start()), time(name.end()), version.into()]
}

fn row(fragment: &Fragment) -> Result<Vec<Entry>> {
    let domain = fragment.schema().domain();
    let non_empty = fragment.non_empty_domain();
    let non_empty =
        non_empty.map_or_else(Entry::none, |ranges| Entry::shown(show_box(domain, ranges), json_box(domain, ranges)));
    let bytes = fragment.bytes()?;
    Ok(vec![
        fragment.name().as_str().into(),
        time(fragment.time().start),
        time(fragment.time().end),
        u64::from(fragment.version().number()).into(),
        fragment.array_type().to_string().into(),
        fragment.cell_count().into(),
        fragment.tile_count().into(),
        Entry::shown(Bytes(bytes).to_string(), bytes),
        non_empty,
        fragment.schema_name().into(),
    ])
}
