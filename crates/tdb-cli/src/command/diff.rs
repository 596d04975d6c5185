//! `tdb diff`: differences between two arrays.

use std::ffi::OsString;
use std::ops::ControlFlow;

use tdb_array::{Array, Batch, MetadataValue, TimeRange};
use tdb_diff::{Diff, DiffCounts, Difference};
use tdb_exchange::{Field, time::at};
use tdb_types::saturating_len;

use super::describe::json_of;
use super::meta;
use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::setter::with;
use crate::size;
use crate::target;
use crate::time::TimeArgs;
use tdb_print::{Entry, RowFormat, Sheet};
use tdb_print::{Terminal, printable};

/// Compare two arrays, two times of one array, or two fragments
///
/// Compares schemas, metadata and cells. Cells are compared by coordinates, regardless of their
/// storage. --physical also compares the storage. The exit code is 1 if there are differences.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb diff ARRAY COPY
  tdb diff ARRAY --at 2024-05-01 --other-at 2024-06-01
  tdb diff ARRAY --fragment __1714… --other-fragment __1717…
  tdb diff ARRAY COPY --without-cells --physical --format json")]
pub(crate) struct Args {
    /// Path of the first array
    array: OsString,

    /// Path of the second array [default: the first array]
    #[arg(required_unless_present_any = ["other_at", "other_fragment"])]
    other: Option<OsString>,

    #[command(flatten)]
    time: TimeArgs,

    /// Read the second array as of a time [default: the time of the first]
    #[arg(long, value_name = "TIME", value_parser = at)]
    other_at: Option<TimeRange>,

    /// Read only this fragment of the first array, as originally written
    #[arg(long, value_name = "NAME")]
    fragment: Option<String>,

    /// Read only this fragment of the second array
    #[arg(long, value_name = "NAME")]
    other_fragment: Option<String>,

    /// Also compare the storage: format version, orders, tile extents, filters, fragments
    #[arg(long)]
    physical: bool,

    /// Do not compare cells
    #[arg(long)]
    without_cells: bool,

    /// Print at most this many differences. All differences are counted
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    limit: usize,

    /// Memory limit for reading, such as 256MiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    budget: Option<u64>,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

const COLUMNS: [(&str, bool); 5] =
    [("what", false), ("where", false), ("field", false), ("first", false), ("second", false)];

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, a) = target::open_to_read(&args.array, 0, &args.time, key)?;
    let other = args.other.as_ref().unwrap_or(&args.array);
    let later = args.other_at.map(TimeArgs::of);
    let time = later.as_ref().unwrap_or(&args.time);
    let (other_path, b) = target::open_to_read(other, 0, time, key)?;
    let (a, b) = (fragment_of(a, args.fragment.as_deref())?, fragment_of(b, args.other_fragment.as_deref())?);

    let format = RowFormat::or_default(args.format, terminal);
    let shown = Shown { a: &a, b: &b, format };
    let mut sheet = Sheet::new(&COLUMNS);
    let mut failed = None;
    let (mut told, mut left_out) = (0, 0_u64);
    let mut diff = Diff::new(&a, &b);
    if args.physical {
        diff = diff.physical();
    }
    if args.without_cells {
        diff = diff.without_cells();
    }
    let counts = with(diff, args.budget.map(saturating_len), Diff::budget).run(|difference| {
        if told >= args.limit {
            left_out += 1;
            return ControlFlow::Continue(());
        }
        told += 1;
        match shown.rows(&difference) {
            Ok(rows) => rows.into_iter().for_each(|row| sheet.push(row)),
            Err(failure) => {
                failed = Some(failure);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    if let Some(failure) = failed {
        return Err(failure);
    }
    sheet.print(format, terminal)?;
    if counts.is_same() {
        return Ok(());
    }
    let paths = format!("{} and {}", printable(&path.to_string_lossy()), printable(&other_path.to_string_lossy()));
    let failure = Failure::new(Exit::Finding, format!("{paths} differ: {}", summary(&counts)));
    Err(match left_out {
        0 => failure,
        _ => failure.with_hint(format!("use --limit {} to print all of them", counts.differences())),
    })
}

/// Returns the array, restricted to a single fragment if a name is given.
fn fragment_of(array: Array, name: Option<&str>) -> Result<Array> {
    let Some(name) = name else { return Ok(array) };
    let (replaced, _) = array.superseded_fragments()?;
    let mut all = array.fragments()?.iter().chain(&replaced);
    match all.find(|fragment| fragment.name().as_str() == name) {
        Some(fragment) => Ok(array.of_fragment(fragment)),
        None => {
            let what = format!("{}: no fragment is named {name}", array.storage().describe(""));
            Err(Failure::new(Exit::Usage, what).with_hint("run `tdb fragments` for a list of fragments"))
        }
    }
}

/// Formats the numbers of differences.
fn summary(counts: &DiffCounts) -> String {
    let count = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let parts = [
        count(counts.schema, "key of the schema", "keys of the schema"),
        count(counts.metadata, "key of the metadata", "keys of the metadata"),
        count(counts.fragments, "fragment", "fragments"),
        count(counts.differing_cells, "cell has another value", "cells have other values"),
        count(counts.cells_only_in_a, "cell is only in the first array", "cells are only in the first array"),
        count(counts.cells_only_in_b, "cell is only in the second array", "cells are only in the second array"),
        counts.incomparable.then(|| "the array types or dimensions differ, and cells were not compared".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The arrays and the output format of differences.
struct Shown<'a> {
    a: &'a Array,
    b: &'a Array,
    format: RowFormat,
}

impl Shown<'_> {
    fn rows(&self, difference: &Difference) -> Result<Vec<Vec<Entry>>> {
        let text = |text: &Option<String>| text.as_deref().map_or_else(Entry::none, Entry::from);
        let there = |is_there: bool| if is_there { "there".into() } else { Entry::none() };
        let none = Entry::none;
        let row = |what: &str, place: Entry, first, second| vec![what.into(), place, none(), first, second];
        Ok(vec![match difference {
            Difference::Schema { key, a, b } => row("schema", key.as_str().into(), text(a), text(b)),
            Difference::Metadata { key, a, b } => {
                let key = String::from_utf8_lossy(key).into_owned();
                row("metadata", key.into(), self.metadata(a.as_ref()), self.metadata(b.as_ref()))
            }
            Difference::Fragment { name, in_a } => row("fragment", name.as_str().into(), there(*in_a), there(!in_a)),
            Difference::Cell { a: Some(a), b: Some(b), fields } => {
                let place = self.coordinates(self.a, a)?;
                let row = |field: &String| {
                    let (first, second) = (self.value(self.a, a, field)?, self.value(self.b, b, field)?);
                    Ok(vec!["cell".into(), place.as_str().into(), field.as_str().into(), first, second])
                };
                return fields.iter().map(row).collect();
            }
            Difference::Cell { a: Some(cell), .. } => {
                row("cell", self.coordinates(self.a, cell)?.into(), self.values(self.a, cell)?, none())
            }
            Difference::Cell { b: Some(cell), .. } => {
                row("cell", self.coordinates(self.b, cell)?.into(), none(), self.values(self.b, cell)?)
            }
            // Kinds of differences that a newer `tdb-diff` may add.
            other => row("other", format!("{other:?}").into(), none(), none()),
        }])
    }

    fn metadata(&self, value: Option<&MetadataValue>) -> Entry {
        value.map_or_else(Entry::none, |value| meta::shown(value, self.format))
    }

    fn coordinates(&self, array: &Array, cell: &Batch) -> Result<String> {
        let count = array.schema().dimensions().len();
        listed(array, cell, 0..count)
    }

    fn values(&self, array: &Array, cell: &Batch) -> Result<Entry> {
        let count = array.schema().dimensions().len();
        Ok(listed(array, cell, count..cell.columns().len())?.into())
    }

    fn value(&self, array: &Array, cell: &Batch, name: &str) -> Result<Entry> {
        let column = cell.column(name)?;
        let Some(field) = array.schema().field(name) else { return Ok(Entry::none()) };
        let field = Field::of(array, field, false)?;
        Ok(match field.text(column, 0) {
            Some(text) => {
                let json = match json_of(&field, column) {
                    // NaT, which differs from a null cell.
                    serde_json::Value::Null => text.as_str().into(),
                    json => json,
                };
                Entry::shown(text, json)
            }
            None => Entry::shown("null", serde_json::Value::Null),
        })
    }
}

/// Formats some fields of a cell, as `y=1 x=2`.
fn listed(array: &Array, cell: &Batch, columns: std::ops::Range<usize>) -> Result<String> {
    let shown = cell.columns()[columns].iter().map(|column| {
        let Some(field) = array.schema().field(column.name()) else { return Ok(String::new()) };
        let text = Field::of(array, field, false)?.text(column, 0);
        Ok(format!("{}={}", column.name(), text.as_deref().unwrap_or("null")))
    });
    Ok(shown.collect::<Result<Vec<_>>>()?.join(" "))
}
