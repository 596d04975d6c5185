//! `tdb agg`: aggregates of cells, in total or by group.

use std::io::Write;

use tdb_array::{Aggregate, AggregateFunction, Array, Batch};
use tdb_exchange::Field;
use tdb_schema::{ArraySchema, FieldRef};
use tdb_types::saturating_len;

use super::cells_of::{CellsOf, watched};
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::names::{fields_in, names_in};
use crate::session;
use tdb_print::Terminal;
use tdb_print::{RowFormat, cell_writer, stdout};

/// Compute aggregates of cells, in total or by group
///
/// Prints a single row, or with --by a row per group, sorted by group. Does not read tiles whose
/// metadata already contains the result.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Only --count and --nulls include nulls and NaT of attributes; --by puts them into the last group. --min and --max ignore NaNs,
unless all values are NaN; --quantile and --by order NaNs last. The minimum and maximum of an enumerated attribute are the
values with the minimum and maximum position. --count includes unwritten cells of dense arrays; they have no values.

Examples:
  tdb agg ARRAY                                       number of cells
  tdb agg ARRAY --count --mean qual --max qual --by chrom
  tdb agg ARRAY --sum reads --range pos=1000..2000 --where \"filter = 'PASS'\"
  tdb agg ARRAY --distinct sample,chrom --median qual --quantile qual=0.99
  tdb agg ARRAY --count --by chrom,filter --format csv > counts.csv")]
pub(crate) struct Args {
    #[command(flatten)]
    cells: CellsOf,

    /// Number of cells
    #[arg(long, help_heading = "Aggregates")]
    count: bool,

    /// Number of non-null values of fields
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    values: Vec<String>,

    /// Number of null cells of fields
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    nulls: Vec<String>,

    /// Sum of fields. A sum beyond 64 bits is shown as the maximum number, or as null for a
    /// nullable field, with a warning
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    sum: Vec<String>,

    /// Mean of fields
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    mean: Vec<String>,

    /// Minimum of fields
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    min: Vec<String>,

    /// Maximum of fields
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    max: Vec<String>,

    /// Exact number of distinct values of fields
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    distinct: Vec<String>,

    /// Exact median of fields, the lower of the two middle values if their number is even
    #[arg(long, value_name = "FIELD,…", help_heading = "Aggregates")]
    median: Vec<String>,

    /// Exact quantile of a field: the smallest value that is greater than or equal to at least this
    /// part of all values, from 0 to 1
    #[arg(long, value_name = "FIELD=PART", help_heading = "Aggregates")]
    quantile: Vec<String>,

    /// Compute the aggregates for each group of cells with equal values of these fields
    #[arg(short, long, value_name = "FIELD,…")]
    by: Vec<String>,

    /// Print at most this many groups
    #[arg(short = 'n', long, value_name = "GROUPS", requires = "by")]
    limit: Option<u64>,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,

    /// Print stored values instead of dates (integers) and enumeration values (indices)
    #[arg(long)]
    raw: bool,

    /// Text of null in CSV [default: empty]
    #[arg(long, value_name = "TEXT")]
    null: Option<String>,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (array, query) = args.cells.open(key)?;
    let (query, _watched) = watched(query, terminal);
    let schema = array.schema();
    let aggregates = args.aggregates(schema)?;
    let by = fields_in(schema, &args.by)?;
    let mut fields = Vec::new();
    for name in &by {
        let field = schema.field(name).ok_or_else(|| unknown(schema, name))?;
        fields.push(Field::of(&array, field, args.raw)?);
    }
    let format = RowFormat::or_default(args.format, terminal);
    let mut out = stdout();
    let (mut left, mut printed) = (args.limit.unwrap_or(u64::MAX), 0);
    let saturated;
    if by.is_empty() {
        let found = query.aggregate(aggregates.clone())?;
        fields.extend(shown(&array, &aggregates, found.batch(), args.raw)?);
        let mut writer = cell_writer(format, fields, args.null.as_deref(), terminal)?;
        writer.rows(found.batch(), 0..found.batch().len(), &mut out)?;
        writer.finish(&mut out)?;
        saturated = found.saturated().to_vec();
    } else {
        let mut groups = query.group_by(&by, aggregates.clone())?;
        fields.extend(shown(&array, &aggregates, &groups.empty_batch(), args.raw)?);
        let mut writer = cell_writer(format, fields, args.null.as_deref(), terminal)?;
        while left > 0
            && let Some(batch) = groups.next()
        {
            let result = batch.map_err(Failure::from);
            // Prints the groups before the error.
            let batch = result.or_else(|failure| out.flush().map_err(Into::into).and(Err(failure)))?;
            let rows = batch.len().min(saturating_len(left));
            writer.rows(&batch, 0..rows, &mut out)?;
            (left, printed) = (left - rows as u64, printed + rows as u64);
        }
        writer.finish(&mut out)?;
        session::printed(printed);
        saturated = groups.saturated().to_vec();
    }
    out.flush()?;
    for name in saturated {
        session::warn(
            &format!("{name}: a sum exceeds 64 bits; it is shown as the maximum number, or as null"),
            terminal,
        );
    }
    Ok(())
}

impl Args {
    /// Returns the requested aggregates, in the order of the options. By default, the number of
    /// cells.
    fn aggregates(&self, schema: &ArraySchema) -> Result<Vec<Aggregate>> {
        let mut all = Vec::new();
        if self.count {
            all.push(Aggregate::count());
        }
        type OfField = fn(String) -> Aggregate;
        let of_fields: [(&Vec<String>, OfField); 8] = [
            (&self.values, Aggregate::count_of),
            (&self.nulls, Aggregate::null_count),
            (&self.sum, Aggregate::sum),
            (&self.mean, Aggregate::mean),
            (&self.min, Aggregate::min),
            (&self.max, Aggregate::max),
            (&self.distinct, Aggregate::count_distinct),
            (&self.median, Aggregate::median),
        ];
        for (options, aggregate) in of_fields {
            all.extend(fields_in(schema, options)?.into_iter().map(aggregate));
        }
        for option in &self.quantile {
            all.push(quantile(option)?);
        }
        if all.is_empty() {
            all.push(Aggregate::count());
        }
        Ok(all)
    }
}

/// Parses `FIELD=PART`. The field may contain `=`.
fn quantile(option: &str) -> Result<Aggregate> {
    let wrong = |why: &str| {
        Failure::usage(format!("quantile {option:?}: {why}")).with_hint("write for example --quantile qual=0.9")
    };
    let (field, part) = option.rsplit_once('=').ok_or_else(|| wrong("expected FIELD=PART"))?;
    let part: f64 = part.trim().parse().map_err(|_| wrong("the part is not a number"))?;
    let [field] = &names_in(field)?[..] else { return Err(wrong("expected one field")) };
    Ok(Aggregate::quantile(field, part))
}

/// Returns the output columns of aggregates. A minimum, maximum or quantile is shown like its
/// field.
fn shown(array: &Array, aggregates: &[Aggregate], batch: &Batch, raw: bool) -> Result<Vec<Field>> {
    let first = batch.columns().len() - aggregates.len();
    let columns = aggregates.iter().zip(&batch.columns()[first..]);
    let field = columns.map(|(aggregate, column)| {
        let is_value = matches!(
            aggregate.function(),
            AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::Quantile(_)
        );
        let enumeration = match aggregate.field().and_then(|name| array.schema().field(name)) {
            Some(FieldRef::Attribute(index)) if is_value && !raw => array.schema().attributes()[index].enumeration(),
            _ => None,
        };
        let enumeration = enumeration.map(|name| array.enumeration(name).map_err(Failure::from)).transpose()?;
        Ok(Field::new(column.name(), column.datatype(), column.cell_val_num(), enumeration, raw))
    });
    field.collect()
}

fn unknown(schema: &ArraySchema, name: &str) -> Failure {
    let known = schema.fields().filter_map(|field| schema.field_name(field)).map(str::to_owned).collect();
    tdb_array::ArrayError::Cells(tdb_array::CellsError::UnknownField { name: name.to_owned(), known }).into()
}
