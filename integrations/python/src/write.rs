//! Writes of cells.

use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use tdb_array::{
    Array, ArrayError, AtomicWriter, Duplicates, GlobalWriter, Monitor, Write, WriteBatch, WriteIds, Written,
};

use crate::array::NativeArray;
use crate::error::{Failure, Result};
use crate::input::Input;
use crate::query::order_of;
use crate::run::{LARGE, briefly, interruptible};
use crate::value::{Ends, datatype_of, range};

/// The name, the values and the validity of a column.
pub(crate) type Given<'py> = (String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// The names of the new fragments, and the number of cells.
type Result_ = (Vec<String>, u64);

/// The settings of a write, as the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings<'py> {
    ranges: Vec<(String, Ends<'py>)>,
    order: Option<String>,
    duplicates: Option<String>,
    at: Option<u64>,
    budget: Option<usize>,
}

pub(crate) fn ids(at: Option<u64>) -> WriteIds {
    at.map_or_else(WriteIds::new, |time| WriteIds::new().at(time))
}

fn written(written: Written) -> Result_ {
    (written.fragments.iter().map(ToString::to_string).collect(), written.cells)
}

impl Settings<'_> {
    fn write(&self, array: &Array) -> Result<Write> {
        let mut write = array.write().ids(ids(self.at));
        for (name, ends) in &self.ranges {
            let datatype = datatype_of(array.schema(), name);
            let datatype = datatype.ok_or_else(|| Failure::column(name, "not a dimension"))?;
            write = write.range(name, range(name, datatype, ends)?)?;
        }
        if let Some(order) = &self.order {
            write = write.order(order_of(order)?);
        }
        if let Some(budget) = self.budget {
            write = write.budget(budget);
        }
        Ok(match self.duplicates.as_deref() {
            None => write,
            Some("refuse") => write.duplicates(Duplicates::Refuse),
            Some("keep-last") => write.duplicates(Duplicates::KeepLast),
            Some("keep") => write.duplicates(Duplicates::Keep),
            Some(other) => {
                let known = "expected \"refuse\", \"keep-last\" or \"keep\"";
                return Err(Failure::usage(format!("unknown rule for duplicates {other:?}; {known}")));
            }
        })
    }
}

/// Converts columns.
fn inputs<'py>(array: &Array, columns: &[Given<'py>]) -> Result<Vec<(String, Input<'py>)>> {
    let input = |(name, values, valid): &Given<'py>| {
        Ok((name.clone(), Input::of_field(array.schema(), name, values, valid.as_ref())?))
    };
    columns.iter().map(input).collect()
}

fn batch<'a>(inputs: &'a [(String, Input<'_>)]) -> WriteBatch<'a> {
    inputs.iter().fold(WriteBatch::new(), |batch, (name, input)| batch.with(name.as_str(), input.column()))
}

/// Returns the array with threads that stop at a cancellation.
fn watched(array: &Array, monitor: &Monitor) -> Array {
    Array::from(array.watched(monitor))
}

/// Runs a write of this number of bytes.
fn run<T: Send>(py: Python<'_>, monitor: &Monitor, bytes: u64, job: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if bytes < LARGE { briefly(py, job) } else { interruptible(py, monitor, job) }
}

fn size(batch: &WriteBatch<'_>) -> u64 {
    let column = |(_, column): (_, &tdb_array::WriteColumn<'_>)| column.as_bytes().len() as u64;
    batch.columns().map(column).sum()
}

/// Joins record batches.
fn joined(schema: &SchemaRef, mut batches: Vec<RecordBatch>) -> Result<RecordBatch> {
    match batches.len() {
        1 => Ok(batches.swap_remove(0)),
        _ => Ok(concat_batches(schema, &batches)?),
    }
}

/// Passes the rows of a table of Arrow to `write`: as one record batch, or in parts of about `most`
/// bytes.
fn in_parts(
    data: AnyRecordBatch,
    monitor: &Monitor,
    most: usize,
    mut write: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let reader = data.into_reader()?;
    let schema = reader.schema();
    let (mut batches, mut bytes, mut is_first) = (Vec::new(), 0_usize, true);
    for batch in reader {
        if monitor.is_cancelled() {
            return Err(ArrayError::Cancelled.into());
        }
        let batch = batch?;
        // Batches may be slices of the same buffers.
        let sizes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
        bytes = bytes.saturating_add(sizes.sum::<Result<usize, _>>()?);
        batches.push(batch);
        if bytes >= most {
            write(&joined(&schema, std::mem::take(&mut batches))?)?;
            (bytes, is_first) = (0, false);
        }
    }
    // The columns of an empty table are checked, too.
    if batches.is_empty() && !is_first { Ok(()) } else { write(&joined(&schema, batches)?) }
}

/// Writes cells. All columns are checked before the first is written.
#[pyfunction]
pub(crate) fn write_columns(
    py: Python<'_>,
    array: &NativeArray,
    columns: Vec<Given<'_>>,
    settings: Settings<'_>,
) -> Result<Result_> {
    let monitor = Monitor::only_cancelling();
    let (write, inputs) = (settings.write(&watched(&array.array, &monitor))?, inputs(&array.array, &columns)?);
    let batch = batch(&inputs);
    run(py, &monitor, size(&batch), || Ok(written(write.cells(batch)?)))
}

/// Writes the cells of a table of Arrow.
#[pyfunction]
pub(crate) fn write_arrow(
    py: Python<'_>,
    array: &NativeArray,
    data: AnyRecordBatch,
    settings: Settings<'_>,
) -> Result<Result_> {
    let monitor = Monitor::only_cancelling();
    let write = settings.write(&watched(&array.array, &monitor))?;
    interruptible(py, &monitor, || {
        let mut all = (Vec::new(), 0);
        in_parts(data, &monitor, usize::MAX, |batch| {
            all = written(write.clone().cells(tdb_arrow::cells(batch, &array.array)?)?);
            Ok(())
        })?;
        Ok(all)
    })
}

/// The size of a part of a table of Arrow, in bytes. Each part becomes a fragment.
const PART: usize = 256 << 20;

/// A write of several batches, which become visible together.
#[pyclass(frozen, name = "Writer", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeWriter {
    array: Array,
    writer: Mutex<Option<Kind>>,
    monitor: Monitor,
}

#[derive(Debug)]
enum Kind {
    /// Cells in global order, in one fragment.
    Global(Box<GlobalWriter>),
    /// Cells in any order, in a fragment for each batch, or for each part of a table of Arrow.
    Atomic(Box<AtomicWriter>),
}

impl NativeWriter {
    fn locked(&self) -> MutexGuard<'_, Option<Kind>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, cells: WriteBatch<'_>) -> Result<()> {
        match self.locked().as_mut() {
            None => Err(Failure::usage("the writer has ended")),
            Some(Kind::Global(writer)) => Ok(writer.push(cells)?),
            Some(Kind::Atomic(writer)) => Ok(writer.push(cells)?),
        }
    }
}

#[pymethods]
impl NativeWriter {
    #[new]
    fn new(py: Python<'_>, array: &NativeArray, settings: Settings<'_>) -> Result<Self> {
        let monitor = Monitor::only_cancelling();
        let write = settings.write(&watched(&array.array, &monitor))?;
        let is_global = array.array.schema().is_dense() || settings.order.as_deref() == Some("global");
        let kind = briefly(py, || {
            Ok(match is_global {
                true => Kind::Global(Box::new(write.global_order()?)),
                false => Kind::Atomic(Box::new(write.atomic()?)),
            })
        })?;
        Ok(Self { array: array.array.clone(), writer: Mutex::new(Some(kind)), monitor })
    }

    fn columns(&self, py: Python<'_>, columns: Vec<Given<'_>>) -> Result<()> {
        let inputs = inputs(&self.array, &columns)?;
        let batch = batch(&inputs);
        run(py, &self.monitor, size(&batch), || self.push(batch))
    }

    fn arrow(&self, py: Python<'_>, data: AnyRecordBatch) -> Result<()> {
        // Cells in global order need no parts: they become one fragment anyway.
        let is_global = matches!(*self.locked(), Some(Kind::Global(_)));
        let most = if is_global { 0 } else { PART };
        interruptible(py, &self.monitor, || {
            in_parts(data, &self.monitor, most, |batch| self.push(tdb_arrow::cells(batch, &self.array)?))
        })
    }

    fn commit(&self, py: Python<'_>) -> Result<Result_> {
        interruptible(py, &self.monitor, || match self.locked().take() {
            None => Err(Failure::usage("the writer has ended")),
            Some(Kind::Global(writer)) => Ok(written(writer.commit()?)),
            Some(Kind::Atomic(writer)) => Ok(written(writer.commit()?)),
        })
    }

    /// Ends the write. Nothing becomes visible.
    fn abandon(&self, py: Python<'_>) -> Result<()> {
        briefly(py, || {
            drop(self.locked().take());
            Ok(())
        })
    }
}
