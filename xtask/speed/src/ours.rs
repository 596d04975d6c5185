//! Our side, in a process of its own.

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;
use tdb_array::{Aggregate, Array, ArrayOptions, Batch, NewCells, NewColumn, Order, Query};
use tdb_condition::{Condition, Operator, field};
use tdb_types::{Layout, Scalar};

use super::arguments::WorkerArguments;
use super::cases::{Asking, Case};
use super::digest;
use tdb_reference::model::{self, AggregateFunction, AggregateSpec, Bytes, QuerySpec};
use tdb_reference::{TimedRead, TimedReads};
use tdb_reference::{peak_memory, reset_peak_memory};

/// Runs this program again to read; its peak of memory is that of the reads.
pub fn spawn(
    uri: &str,
    case: &Case,
    threads: usize,
    repeats: usize,
    digest: bool,
) -> Result<TimedReads, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["speed-worker", uri, &threads.to_string(), &repeats.to_string()]);
    if !case.aggregates.is_empty() {
        command.args(["--aggregates", &serde_json::to_string(&case.aggregates)?]);
    }
    if let Some(asking) = case.asking.to_possible_value() {
        command.args(["--asking", asking.get_name()]);
    }
    if case.whole {
        command.arg("--whole");
    }
    if digest {
        command.arg("--digest");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        serde_json::to_writer(&mut input, &case.query)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("our reader failed on {}: {}", case.name, output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What the spawned process does.
pub fn work(arguments: &WorkerArguments) -> Result<(), Box<dyn Error>> {
    let spec: QuerySpec = serde_json::from_reader(std::io::stdin())?;
    let asking = arguments.asking;
    let specs = if asking == Asking::OneByOne { spec.one_by_one() } else { vec![spec.clone()] };
    let aggregates: Vec<AggregateSpec> = match &arguments.aggregates {
        Some(json) => serde_json::from_str(json)?,
        None => Vec::new(),
    };
    let digest = match (arguments.digest, aggregates.is_empty()) {
        (false, _) => Bytes::default(),
        (true, true) => {
            let array = Array::open(&arguments.uri)?;
            digest::of_cells(specs.iter().map(|spec| asked(&array, spec, asking, Some(usize::MAX))))?
        }
        (true, false) => {
            digest::of_aggregates(&query(&Array::open(&arguments.uri)?, &spec, None)?.aggregate(ours(&aggregates))?)
        }
    };
    reset_peak_memory();
    let mut timed = TimedReads { cells: 0, bytes: 0, digest, reads: Vec::new(), peak_memory: 0 };
    for _ in 0..arguments.repeats {
        let start = Instant::now();
        let array = ArrayOptions::new().threads(arguments.threads).open(&arguments.uri)?;
        let open_seconds = start.elapsed().as_secs_f64();
        let budget = arguments.whole.then_some(usize::MAX);
        (timed.cells, timed.bytes) = (0, 0);
        if aggregates.is_empty() {
            for spec in &specs {
                for batch in asked(&array, spec, asking, budget)?.batches()? {
                    let batch = batch?;
                    timed.cells += batch.len();
                    timed.bytes += byte_count(&batch);
                }
            }
        } else {
            let found = query(&array, &spec, budget)?.aggregate(ours(&aggregates))?;
            let has_count = aggregates.contains(&AggregateSpec::count());
            let count = if has_count { found.value::<u64>("count")? } else { None };
            timed.cells = count.unwrap_or(0) as usize;
        }
        drop(array);
        timed.reads.push(TimedRead { seconds: start.elapsed().as_secs_f64(), open_seconds, submits: specs.len() });
    }
    timed.peak_memory = peak_memory();
    println!("{}", serde_json::to_string(&timed)?);
    Ok(())
}

/// The aggregates as ours.
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

/// The query as ours, as it is asked; one of [many](QuerySpec::one_by_one) is a query like others.
fn asked(array: &Array, spec: &QuerySpec, asking: Asking, budget: Option<usize>) -> Result<Query, Box<dyn Error>> {
    if asking != Asking::Points {
        return query(array, spec, budget);
    }
    let mut points = NewCells::new();
    for ranges in &spec.ranges {
        let coordinates: Vec<u8> = ranges.ranges.iter().flat_map(|(first, _)| first.iter().copied()).collect();
        points = points.with(&ranges.dimension, NewColumn::owned(coordinates, None, None));
    }
    let all = QuerySpec { ranges: Vec::new(), ..spec.clone() };
    Ok(query(array, &all, budget)?.points(points)?)
}

/// The query as ours.
pub fn query(array: &Array, spec: &QuerySpec, budget: Option<usize>) -> Result<Query, Box<dyn Error>> {
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
        let physical = dimension.ok_or("no such dimension")?.datatype().physical();
        for (low, high) in &ranges.ranges {
            let value = |bytes: &Bytes| Scalar::from_le_bytes(physical, bytes).ok_or("a bound of another size");
            query = query.range(&ranges.dimension, value(low)?..=value(high)?)?;
        }
    }
    Ok(query)
}

/// The condition as ours; of those that cases have.
fn condition_of(condition: &model::Condition) -> Result<Condition, Box<dyn Error>> {
    Ok(match condition {
        model::Condition::Compare { field: name, comparison, value: Some(value) } => {
            // Both have the codes of the format.
            let operator = Operator::from_code(*comparison as u8).ok_or("no such comparison")?;
            field(name.as_str()).compare(operator, value.0.as_slice())
        }
        model::Condition::And(left, right) => condition_of(left)?.and(condition_of(right)?),
        other => return Err(format!("no case has {other:?}").into()),
    })
}

/// As the reference library's buffers count.
fn byte_count(batch: &Batch) -> u64 {
    let column = |column: &tdb_array::Column| {
        let offsets = column.offsets().map_or(0, size_of_val);
        column.bytes().len() + offsets + column.validity().map_or(0, |_| column.len())
    };
    batch.columns().iter().map(column).sum::<usize>() as u64
}
