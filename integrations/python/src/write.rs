//! Writes of cells.

use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use tdb_array::{Array, AtomicWriter, Duplicates, GlobalWriter, Monitor, Write, WriteBatch, WriteIds, Written};

use crate::array::NativeArray;
use crate::error::{Failure, Result};
use crate::input::Input;
use crate::query::order_of;
use crate::run::{briefly, interruptible};
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

/// Collects a table of Arrow in one record batch.
fn collected(data: AnyRecordBatch) -> Result<RecordBatch> {
    let reader = data.into_reader()?;
    let schema = reader.schema();
    let mut batches = reader.collect::<Result<Vec<_>, _>>()?;
    match batches.len() {
        1 => Ok(batches.swap_remove(0)),
        _ => Ok(concat_batches(&schema, &batches)?),
    }
}

/// Writes cells. All columns are checked before the first is written.
#[pyfunction]
pub(crate) fn write_columns(
    py: Python<'_>,
    array: &NativeArray,
    columns: Vec<Given<'_>>,
    settings: Settings<'_>,
) -> Result<Result_> {
    let (write, inputs) = (settings.write(&array.array)?, inputs(&array.array, &columns)?);
    let batch = batch(&inputs);
    briefly(py, || Ok(written(write.cells(batch)?)))
}

/// Writes the cells of a table of Arrow.
#[pyfunction]
pub(crate) fn write_arrow(
    py: Python<'_>,
    array: &NativeArray,
    data: AnyRecordBatch,
    settings: Settings<'_>,
) -> Result<Result_> {
    let write = settings.write(&array.array)?;
    briefly(py, || {
        let batch = collected(data)?;
        Ok(written(write.cells(tdb_arrow::cells(&batch, &array.array)?)?))
    })
}

/// A write of several batches, which become visible together.
#[pyclass(frozen, name = "Writer", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeWriter {
    array: Array,
    writer: Mutex<Option<Kind>>,
}

#[derive(Debug)]
enum Kind {
    /// Cells in global order, in one fragment.
    Global(Box<GlobalWriter>),
    /// Cells in any order, in a fragment for each batch.
    Atomic(Box<AtomicWriter>),
}

impl NativeWriter {
    fn push(&self, cells: WriteBatch<'_>) -> Result<()> {
        match self.writer.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
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
        let write = settings.write(&array.array)?;
        let is_global = array.array.schema().is_dense() || settings.order.as_deref() == Some("global");
        let kind = briefly(py, || {
            Ok(match is_global {
                true => Kind::Global(Box::new(write.global_order()?)),
                false => Kind::Atomic(Box::new(write.atomic()?)),
            })
        })?;
        Ok(Self { array: array.array.clone(), writer: Mutex::new(Some(kind)) })
    }

    fn columns(&self, py: Python<'_>, columns: Vec<Given<'_>>) -> Result<()> {
        let inputs = inputs(&self.array, &columns)?;
        let batch = batch(&inputs);
        briefly(py, || self.push(batch))
    }

    fn arrow(&self, py: Python<'_>, data: AnyRecordBatch) -> Result<()> {
        let reader = data.into_reader()?;
        interruptible(py, &Monitor::only_cancelling(), || {
            for batch in reader {
                self.push(tdb_arrow::cells(&batch?, &self.array)?)?;
            }
            Ok(())
        })
    }

    fn commit(&self, py: Python<'_>) -> Result<Result_> {
        briefly(py, || match self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Err(Failure::usage("the writer has ended")),
            Some(Kind::Global(writer)) => Ok(written(writer.commit()?)),
            Some(Kind::Atomic(writer)) => Ok(written(writer.commit()?)),
        })
    }

    /// Ends the write. Nothing becomes visible.
    fn abandon(&self, py: Python<'_>) -> Result<()> {
        briefly(py, || {
            drop(self.writer.lock().unwrap_or_else(PoisonError::into_inner).take());
            Ok(())
        })
    }
}
