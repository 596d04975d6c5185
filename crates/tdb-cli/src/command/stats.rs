//! `tdb stats`: a summary of each field.

use serde_json::{Value, json};
use tdb_array::{Aggregate, Aggregates, Array, ArrayError, Histogram, Query};
use tdb_exchange::Field;
use tdb_schema::{FieldRef, FieldType};

use super::cells_of::{CellsOf, watched};
use super::describe::{cell_type, json_of};
use crate::failure::Result;
use crate::key::Key;
use crate::names::fields_in;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Summarize fields: values, nulls, minimum, maximum, mean, distinct values, histogram
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Distinct counts and histograms need further passes over the array; --quick omits them, and mostly reads metadata only.
Histograms cover numbers and dates, from the minimum to the maximum finite value.

Examples:
  tdb stats ARRAY
  tdb stats ARRAY --select qual,depth --where \"filter = 'PASS'\"
  tdb stats ARRAY --quick --format json")]
pub(crate) struct Args {
    #[command(flatten)]
    cells: CellsOf,

    /// Fields to summarize, in this order [default: all fields, or the attributes of a dense array]
    #[arg(short, long, value_name = "FIELD,…")]
    select: Vec<String>,

    /// Omit distinct values and histograms, which need all cells
    #[arg(long)]
    quick: bool,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

const COLUMNS: [(&str, bool); 9] = [
    ("field", false),
    ("type", false),
    ("values", true),
    ("nulls", true),
    ("min", true),
    ("max", true),
    ("mean", true),
    ("distinct", true),
    ("histogram", false),
];
const QUICK_COLUMNS: usize = 7;

/// Number of characters of a histogram.
const INTERVALS: usize = 16;

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (array, query) = args.cells.open(key)?;
    let (query, _watched) = watched(query, terminal);
    let schema = array.schema();
    let names = match args.select.is_empty() {
        true => {
            // The coordinates of a dense array do not depend on its cells.
            let is_told = |field: &FieldRef| !schema.is_dense() || matches!(field, FieldRef::Attribute(_));
            let fields = schema.fields().filter(is_told).filter_map(|field| schema.field_name(field));
            fields.map(str::to_owned).collect()
        }
        false => fields_in(schema, &args.select)?,
    };
    // Omits aggregates that the type of a field does not support.
    let mut asked = Vec::new();
    for name in &names {
        asked.extend([Aggregate::count_of(name), Aggregate::null_count(name)]);
        let optional = [Aggregate::min(name), Aggregate::max(name), Aggregate::mean(name)];
        for aggregate in optional {
            if has(&query, &aggregate)? {
                asked.push(aggregate);
            }
        }
    }
    let summary = query.clone().aggregate(asked)?;
    let columns = if args.quick { &COLUMNS[..QUICK_COLUMNS] } else { &COLUMNS[..] };
    let mut sheet = Sheet::new(columns);
    let format = RowFormat::or_default(args.format, terminal);
    for name in &names {
        sheet.push(row(&array, &query, &summary, name, args.quick)?);
    }
    Ok(sheet.print(format, terminal)?)
}

/// Returns `true` if the field supports the aggregate.
fn has(query: &Query, aggregate: &Aggregate) -> Result<bool> {
    match query.can_aggregate(aggregate) {
        Ok(()) => Ok(true),
        Err(ArrayError::Aggregate { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn row(array: &Array, query: &Query, summary: &Aggregates, name: &str, is_quick: bool) -> Result<Vec<Entry>> {
    let schema = array.schema();
    let Some(field) = schema.field(name) else { return Ok(Vec::new()) };
    let kind = schema.field_type(field);
    let shown = Field::of(array, field, false)?;
    let value = |aggregate: Aggregate, field: &Field| {
        let column = summary.batch().column(&aggregate.to_string()).ok();
        let text = column.and_then(|column| Some((column, field.text(column, 0)?)));
        text.map_or_else(Entry::none, |(column, text)| Entry::shown(beginning(text), json_of(field, column)))
    };
    let count = |aggregate: Aggregate| {
        summary.value::<u64>(&aggregate.to_string()).map(|count| count.map_or_else(Entry::none, Entry::from))
    };
    let mean = summary.batch().column(&Aggregate::mean(name).to_string());
    let mean_field = mean.map(|column| Field::new("mean", column.datatype(), column.cell_val_num(), None, false));
    let mut row = vec![
        name.into(),
        type_of(array, field, kind).into(),
        count(Aggregate::count_of(name))?,
        count(Aggregate::null_count(name))?,
        value(Aggregate::min(name), &shown),
        value(Aggregate::max(name), &shown),
        mean_field.map_or_else(|_| Entry::none(), |field| value(Aggregate::mean(name), &field)),
    ];
    if !is_quick {
        let distinct = Aggregate::count_distinct(name);
        let found = query.clone().aggregate([distinct.clone()])?;
        row.push(found.value::<u64>(&distinct.to_string())?.map_or_else(Entry::none, Entry::from));
        let histogram = match has(query, &Aggregate::mean(name))? {
            true => query.clone().histogram(name, INTERVALS)?,
            false => None,
        };
        row.push(
            histogram.map_or_else(Entry::none, |histogram| {
                Entry::shown(drawn(&histogram.counts), json_histogram(&histogram))
            }),
        );
    }
    Ok(row)
}

fn type_of(array: &Array, field: FieldRef, kind: Option<FieldType>) -> String {
    let nullable = match field {
        FieldRef::Attribute(index) => array.schema().attributes()[index].is_nullable(),
        FieldRef::Dimension(_) => false,
    };
    kind.map_or_else(String::new, |kind| cell_type(kind.datatype, kind.cell_val_num, nullable))
}

fn json_histogram(histogram: &Histogram) -> Value {
    let Histogram { low, high, counts, outside, .. } = histogram;
    json!({"low": low, "high": high, "counts": counts, "outside": outside})
}

/// Returns the start of a long value, for tables.
fn beginning(text: String) -> String {
    const MOST: usize = 24;
    match text.char_indices().nth(MOST) {
        Some((end, _)) if text.len() > 2 * MOST => format!("{}…", &text[..end]),
        _ => text,
    }
}

/// Returns a bar for each count, relative to the maximum count. Nonzero counts are always visible.
fn drawn(counts: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0);
    let bar = |count: &u64| match count {
        0 => ' ',
        count => {
            let eighths = (u128::from(*count) * 8).div_ceil(u128::from(most.max(1)));
            BARS[usize::try_from(eighths).unwrap_or(8).clamp(1, 8) - 1]
        }
    };
    counts.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::drawn;

    #[test]
    fn bars() {
        assert_eq!(drawn(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!(drawn(&[u64::MAX, 1]), "█▁");
        assert_eq!(drawn(&[0, 0]), "  ");
    }
}
