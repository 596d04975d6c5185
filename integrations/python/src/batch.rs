//! Batches of results.

use std::sync::Arc;

use arrow_array::RecordBatchIterator;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader};
use tdb_array::Batch;
use tdb_arrow::Conversion;

use crate::column::NativeColumn;
use crate::error::Result;

/// Cells of a result, as columns or as an Arrow record batch.
#[pyclass(frozen, name = "Batch", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeBatch {
    pub(crate) batch: Batch,
    pub(crate) conversion: Conversion,
}

#[pymethods]
impl NativeBatch {
    fn __len__(&self) -> usize {
        self.batch.len()
    }

    /// Returns the columns, which share the memory of the batch.
    fn columns(&self) -> Vec<NativeColumn> {
        self.batch.columns().iter().map(|column| column.clone().into()).collect()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Result<Bound<'py, PyAny>> {
        let (batch, conversion) = (self.batch.clone(), &self.conversion);
        let batch = py.detach(|| conversion.record_batch(batch))?;
        let reader = RecordBatchIterator::new([Ok(batch)], Arc::clone(conversion.schema()));
        let reader = PyRecordBatchReader::new(Box::new(reader)).into_pyobject(py)?;
        Ok(reader.call_method1("__arrow_c_stream__", (requested_schema,))?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Result<Bound<'py, PyTuple>> {
        let (batch, conversion) = (self.batch.clone(), &self.conversion);
        let batch = py.detach(|| conversion.record_batch(batch))?;
        let batch = PyRecordBatch::new(batch).into_pyobject(py)?;
        let capsules = batch.call_method1("__arrow_c_array__", (requested_schema,))?;
        Ok(capsules.cast_into::<PyTuple>().map_err(PyErr::from)?)
    }
}
