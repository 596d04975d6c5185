//! Reads.

use tdb_array::{Aggregate, Array, ArrayOptions, Batch, Order, Query, WriteBatch, WriteColumn};
use tdb_condition::{Condition, Operator, field};
use tdb_types::{Datatype, Layout, Scalar};

use crate::cases::Asking;
use crate::digest;
use crate::outcome::Result;
use crate::task::{ReadTask, Request};
use tdb_reference::model::{self, AggregateFunction, AggregateSpec, Bytes, QuerySpec};
use tdb_reference::{Stopwatch, TimedReads, peak_memory, reset_peak_memory};

pub fn work(request: &Request, task: &ReadTask) -> Result<TimedReads> {
    let specs = if task.asking == Asking::OneByOne { task.query.one_by_one() } else { vec![task.query.clone()] };
    let options = ArrayOptions::new().threads(request.threads);
    if request.digest {
        let digest = digest(&options.open(&request.uri)?, task, &specs)?;
        return Ok(TimedReads { digest, ..TimedReads::default() });
    }
    let mut timed = TimedReads::default();
    reset_peak_memory();
    // The first read is not counted, because the other side has also read once. One-time work of
    // the process does not count.
    read(&options.open(&request.uri)?, task, &specs)?;
    for _ in 0..request.repeats {
        let start = Stopwatch::start();
        let array = options.open(&request.uri)?;
        let open_seconds = start.seconds();
        (timed.cells, timed.bytes) = read(&array, task, &specs)?;
        drop(array);
        timed.reads.push(start.taken(open_seconds, specs.len()));
    }
    timed.peak_memory = peak_memory();
    Ok(timed)
}

/// Reads, and returns the number of cells and bytes.
fn read(array: &Array, task: &ReadTask, specs: &[QuerySpec]) -> Result<(usize, u64)> {
    let budget = task.whole.then_some(usize::MAX);
    let (mut cells, mut bytes) = (0, 0);
    if task.aggregates.is_empty() {
        for spec in specs {
            for batch in asked(array, spec, task.asking, budget)?.batches()? {
                let batch = batch?;
                cells += batch.len();
                bytes += byte_count(&batch);
            }
        }
        return Ok((cells, bytes));
    }
    let found = query(array, &task.query, budget)?.aggregate(ours(&task.aggregates))?;
    let has_count = task.aggregates.contains(&AggregateSpec::count());
    let count = if has_count { found.value::<u64>("count")? } else { None };
    Ok((count.unwrap_or(0) as usize, 0))
}

fn digest(array: &Array, task: &ReadTask, specs: &[QuerySpec]) -> Result<Bytes> {
    match task.aggregates.is_empty() {
        true => digest::of_cells(specs.iter().map(|spec| asked(array, spec, task.asking, Some(usize::MAX)))),
        false => Ok(digest::of_aggregates(&query(array, &task.query, None)?.aggregate(ours(&task.aggregates))?)),
    }
}

/// Converts aggregates to tdb's type.
fn ours(aggregates: &[AggregateSpec]) -> Vec<Aggregate> {
    let aggregate = |spec: &AggregateSpec| {
        let field = spec.field.clone().unwrap_or_default();
        match spec.function {
            AggregateFunction::Count => Aggregate::count(),
            AggregateFunction::Sum => Aggregate::sum(field),
            AggregateFunction::Min => Aggregate::min(field),
            AggregateFunction::Max => Aggregate::max(field),
            AggregateFunction::Mean => Aggregate::mean(field),
            AggregateFunction::NullCount => Aggregate::null_count(field),
        }
    };
    aggregates.iter().map(aggregate).collect()
}

/// Converts a query to tdb's type, as a query of points if requested. A query by
/// [`one_by_one`](QuerySpec::one_by_one) is an ordinary query.
fn asked(array: &Array, spec: &QuerySpec, asking: Asking, budget: Option<usize>) -> Result<Query> {
    if asking != Asking::Points {
        return query(array, spec, budget);
    }
    let mut points = WriteBatch::new();
    for ranges in &spec.ranges {
        let coordinates: Vec<u8> = ranges.ranges.iter().flat_map(|(first, _)| first.iter().copied()).collect();
        points = points.with(&ranges.dimension, WriteColumn::owned(coordinates, None, None));
    }
    let all = QuerySpec { ranges: Vec::new(), ..spec.clone() };
    Ok(query(array, &all, budget)?.points(points)?)
}

/// Converts a query to tdb's type.
fn query(array: &Array, spec: &QuerySpec, budget: Option<usize>) -> Result<Query> {
    let mut query = array.read().order(match spec.layout {
        Layout::RowMajor => Order::RowMajor,
        Layout::ColMajor => Order::ColMajor,
        Layout::GlobalOrder => Order::Global,
        _ => Order::Unordered,
    });
    if !spec.fields.is_empty() {
        query = query.select(&spec.fields)?;
    }
    if let Some(condition) = &spec.condition {
        query = query.filter(condition_of(condition)?);
    }
    if let Some(budget) = budget {
        query = query.budget(budget);
    }
    for ranges in &spec.ranges {
        let dimension = array.schema().dimensions().iter().find(|dimension| dimension.name() == ranges.dimension);
        let datatype = dimension.ok_or("unknown dimension")?.datatype();
        let physical = datatype.physical();
        for (low, high) in &ranges.ranges {
            if datatype == Datatype::StringAscii {
                query = query.range(&ranges.dimension, low.0.as_slice()..=high.0.as_slice())?;
                continue;
            }
            let value = |bytes: &Bytes| Scalar::from_le_bytes(physical, bytes).ok_or("a bound of another size");
            query = query.range(&ranges.dimension, value(low)?..=value(high)?)?;
        }
    }
    Ok(query)
}

/// Converts a condition to tdb's type. Supports only the kinds of conditions in the cases.
fn condition_of(condition: &model::Condition) -> Result<Condition> {
    Ok(match condition {
        model::Condition::Compare { field: name, comparison, value: Some(value) } => {
            // Both types use the codes of the format.
            let operator = Operator::from_code(*comparison as u8).ok_or("unknown comparison")?;
            field(name.as_str()).compare(operator, value.0.as_slice())
        }
        model::Condition::And(left, right) => condition_of(left)?.and(condition_of(right)?),
        other => return Err(format!("unsupported condition {other:?}").into()),
    })
}

/// Returns the size in bytes as in the buffers of the reference library.
fn byte_count(batch: &Batch) -> u64 {
    let column = |column: &tdb_array::Column| {
        let offsets = column.offsets().map_or(0, size_of_val);
        column.bytes().len() + offsets + column.validity().map_or(0, |_| column.len())
    };
    batch.columns().iter().map(column).sum::<usize>() as u64
}
