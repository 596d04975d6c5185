//! Reads and writes by tdb.

mod aggregate;
mod change;
mod describe;
mod select;
mod write;

use std::thread;
use std::time::Duration;

use tdb_array::{Array, ArrayOptions, Batch, Order, Query, TimeRange};
use tdb_types::{FormatVersion, Layout};

use super::build;
use super::case::{Case, Question, Step};
use super::place;
use super::selection::Selection;
use super::their_errors::their_failure;
use super::verdict::{End, by_us};
use super::writer;
use tdb_reference::Reference;
use tdb_reference::model::{Bytes, Column, QuerySpec, ReadResult};

pub use aggregate::{aggregate, matching};
pub use change::{condition_of, create, delete, evolve};
pub use describe::describe;
pub use select::refuses;
pub use write::{Manner, write};

/// The result of a read by tdb.
#[derive(Debug, Default, PartialEq)]
pub struct Reading {
    pub cells: usize,
    pub columns: Vec<Column>,
    pub batches: usize,
}

impl Reading {
    /// Converts a result of the library.
    pub fn of(result: &ReadResult) -> Self {
        let columns = result.columns.iter().map(|column| column.column.clone()).collect();
        Self { cells: result.cells, columns, batches: 1 }
    }

    /// Returns the size of all values in bytes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).sum()
    }
}

/// Writes the array. The library does only the consolidation.
///
/// # Errors
/// Returns the verdict on the case if either side fails.
pub fn make(
    case: &Case,
    (index, version): (u64, FormatVersion),
    reference: &mut Reference,
    uri: &str,
) -> Result<(), End> {
    by_us("create", || create(uri, case, version))?;
    for (number, step) in (0..).zip(&case.steps) {
        if matches!(step, Step::Consolidate(_) | Step::Vacuum(_)) {
            writer::carry_out(step, reference, uri).map_err(|error| their_failure(case, None, &error))?;
            continue;
        }
        let manner = Manner::by(index.wrapping_mul(31).wrapping_add(number));
        by_us(&format!("step {number}"), || carry_out(step, case, uri, manner))?;
    }
    Ok(())
}

/// Runs a step with tdb. Fails for consolidation and vacuum, which the library does.
pub fn carry_out(step: &Step, case: &Case, uri: &str, manner: Manner) -> Result<(), String> {
    let open = || open_with(&options(case).threads(1), uri);
    match step {
        Step::Write(spec) => {
            // The result of a consolidation depends on the number of fragments.
            let whole = case.steps.contains(&Step::Consolidate("fragments"));
            let max_fragment_size = manner.max_fragment_size.filter(|_| !whole);
            write(uri, case, spec, Manner { max_fragment_size, ..manner })?;
            if spec.timestamp.is_none() {
                // Files of different libraries have no defined order within one millisecond.
                thread::sleep(Duration::from_millis(2));
            }
            Ok(())
        }
        Step::Evolve(evolution) => {
            thread::sleep(Duration::from_millis(2));
            evolve(&open()?, evolution, &case.array.dimensions)
        }
        Step::Delete(condition, time) => delete(&open()?, condition, *time),
        Step::Consolidate(mode) | Step::Vacuum(mode) => Err(format!("consolidation of {mode} is the library's")),
    }
}

/// More cells than any case has. A read that returns more does not terminate.
const MOST_CELLS: usize = 20_000_000;

/// Returns the options to open the array of a case.
pub fn options(case: &Case) -> ArrayOptions {
    build::options(case.encrypted).0
}

/// Opens an array in a folder or on a store.
pub fn open_with(options: &ArrayOptions, uri: &str) -> Result<Array, String> {
    let opened = match place::storage(uri).map_err(|error| describe(&error))? {
        Some(storage) => options.open_on(storage),
        None => options.open(uri),
    };
    opened.map_err(|error| describe(&error))
}

/// Opens the array with the parameters of a question.
pub fn open(uri: &str, case: &Case, question: &Question) -> Result<Array, String> {
    let mut options = options(case).threads(question.threads);
    if let Some((start, end)) = question.query.timestamps {
        options = options.between(TimeRange { start, end });
    }
    open_with(&options, uri)
}

/// Reads in batches of `budget` bytes, or of the default size.
pub fn read(array: &Array, spec: &QuerySpec, budget: Option<usize>) -> Result<Reading, String> {
    reading(query(array, spec, &Selection::default(), budget)?)
}

/// Reads the cells of a question.
pub fn answer(array: &Array, question: &Question, budget: Option<usize>) -> Result<Reading, String> {
    reading(query(array, &question.query, &question.selection, budget)?)
}

fn reading(query: Query) -> Result<Reading, String> {
    let mut reading = Reading::default();
    for batch in query.batches().map_err(|error| describe(&error))? {
        let batch = batch.map_err(|error| describe(&error))?;
        check(&batch)?;
        append(&mut reading, &batch);
        if reading.cells > MOST_CELLS {
            return Err("the batches do not end".to_owned());
        }
    }
    Ok(reading)
}

/// Returns the plan of a question as text.
pub fn plan(array: &Array, question: &Question) -> Result<String, String> {
    query(array, &question.query, &question.selection, None)?
        .plan()
        .map(|plan| plan.to_string())
        .map_err(|error| describe(&error))
}

fn query(array: &Array, spec: &QuerySpec, selection: &Selection, budget: Option<usize>) -> Result<Query, String> {
    let failed = |error: tdb_array::ArrayError| describe(&error);
    let mut query = array.read().order(match spec.layout {
        Layout::RowMajor => Order::RowMajor,
        Layout::ColMajor => Order::ColMajor,
        Layout::GlobalOrder => Order::Global,
        _ => Order::Unordered,
    });
    query = spec.condition.iter().map(condition_of).fold(query, Query::filter);
    if !spec.fields.is_empty() {
        query = query.select(&spec.fields).map_err(failed)?;
    }
    query = budget.into_iter().fold(query, Query::budget);
    select::select(array, query, spec, selection)
}

/// Checks the documented guarantees of a batch.
fn check(batch: &Batch) -> Result<(), String> {
    if batch.is_empty() {
        return Err("a batch without cells".to_owned());
    }
    for column in batch.columns() {
        let name = column.name();
        if column.len() != batch.len() {
            return Err(format!("column {name:?} has {} cells in a batch of {}", column.len(), batch.len()));
        }
        let values = column.bytes().len() / column.datatype().size();
        match (column.offsets(), column.cell_val_num().fixed()) {
            (Some(offsets), None) => {
                let sound = offsets.len() == batch.len() + 1
                    && offsets.first() == Some(&0)
                    && offsets.last() == Some(&(values as u64))
                    && offsets.is_sorted();
                if !sound {
                    return Err(format!("column {name:?}: offsets do not fit {values} values: {offsets:?}"));
                }
            }
            (None, Some(number)) if values == batch.len() * number as usize => {}
            _ => return Err(format!("column {name:?} has {values} values in {} cells", batch.len())),
        }
        if column.validity().is_some_and(|bits| bits.len() < batch.len().div_ceil(8)) {
            return Err(format!("column {name:?} has too few validity bits"));
        }
    }
    Ok(())
}

fn append(reading: &mut Reading, batch: &Batch) {
    if reading.columns.is_empty() {
        reading.columns = batch
            .columns()
            .iter()
            .map(|column| Column {
                name: column.name().to_owned(),
                values: Bytes::default(),
                offsets: column.offsets().map(|_| vec![0]),
                validity: column.validity().map(|_| Bytes::default()),
            })
            .collect();
    }
    reading.cells += batch.len();
    reading.batches += 1;
    for (whole, part) in reading.columns.iter_mut().zip(batch.columns()) {
        let before = whole.values.len() as u64;
        whole.values.0.extend_from_slice(part.bytes());
        if let (Some(offsets), Some(new)) = (&mut whole.offsets, part.offsets()) {
            let size = part.datatype().size() as u64;
            offsets.extend(new.iter().skip(1).map(|offset| before + offset * size));
        }
        if let Some(validity) = &mut whole.validity {
            validity.0.extend((0..part.len()).map(|cell| u8::from(part.is_valid(cell))));
        }
    }
}
