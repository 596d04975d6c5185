//! Columns of results.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use tdb_array::Column;
use tdb_array::tdb_types::{CellValNum, Scalar};

use crate::error::{Failure, Result};
use crate::memory::Memory;

/// A column of a result.
#[pyclass(frozen, name = "Column", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeColumn {
    name: String,
    datatype: &'static str,
    number: CellValNum,
    len: usize,
    /// `None` after `values`, which gives the memory away.
    column: Mutex<Option<Column>>,
}

impl From<Column> for NativeColumn {
    fn from(column: Column) -> Self {
        let (name, datatype) = (column.name().to_owned(), column.datatype().name());
        let (number, len) = (column.cell_val_num(), column.len());
        Self { name, datatype, number, len, column: Mutex::new(Some(column)) }
    }
}

impl NativeColumn {
    fn locked(&self) -> MutexGuard<'_, Option<Column>> {
        self.column.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken() -> Failure {
    Failure::usage("the values of the column have been taken")
}

#[pymethods]
impl NativeColumn {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn datatype(&self) -> &str {
        self.datatype
    }

    /// The number of values per cell. `None` for cells of variable length.
    #[getter]
    fn values_per_cell(&self) -> Option<u32> {
        self.number.fixed()
    }

    fn __len__(&self) -> usize {
        self.len
    }

    /// Takes the values, the offsets as `uint64` counted in values, and a byte per cell that is 1
    /// for valid cells. Arrays of the values can be written to, unless other objects use the
    /// memory.
    fn take(&self) -> Result<(Memory, Option<Memory>, Option<Memory>)> {
        let column = self.locked().take().ok_or_else(taken)?;
        let is_valid = |cell| u8::from(column.is_valid(cell));
        let valid = column.validity().map(|_| (0..self.len).map(is_valid).collect::<Vec<u8>>());
        let (values, offsets, _) = column.into_buffers();
        Ok((Memory::new(values), offsets.map(Memory::new), valid.map(|valid| Memory::of_bytes(&valid))))
    }

    /// Returns the cells as text, or as bytes if `binary`. Null becomes `None`.
    fn texts<'py>(&self, py: Python<'py>, binary: bool) -> Result<Bound<'py, PyList>> {
        let column = self.locked();
        let column = column.as_ref().ok_or_else(taken)?;
        let cells = (0..self.len).map(|cell| {
            let text = |bytes| match std::str::from_utf8(bytes) {
                Ok(text) => Ok(PyString::new(py, text).into_any()),
                Err(_) => Err(Failure::cell(&self.name, cell, "not valid UTF-8; read it with strings_as_bytes")),
            };
            match column.cell(cell) {
                None => Ok(py.None().into_bound(py)),
                Some(bytes) if binary => Ok(PyBytes::new(py, bytes).into_any()),
                Some(bytes) => text(bytes),
            }
        });
        Ok(PyList::new(py, cells.collect::<Result<Vec<_>>>()?)?)
    }

    /// Returns the cells as numbers, or as lists of numbers if cells have several values. Null
    /// becomes `None`.
    fn numbers(&self, py: Python<'_>) -> Result<Vec<Py<PyAny>>> {
        let column = self.locked();
        let column = column.as_ref().ok_or_else(taken)?;
        let datatype = column.datatype();
        let cells = (0..self.len).map(|cell| {
            let Some(bytes) = column.cell(cell) else { return Ok(py.None()) };
            let values = bytes.chunks_exact(datatype.size());
            let values = values.filter_map(|bytes| Scalar::from_le_bytes(datatype.physical(), bytes));
            let values = values.map(|value| scalar(py, value)).collect::<PyResult<Vec<_>>>()?;
            match values.as_slice() {
                [value] if self.number == CellValNum::ONE => Ok(value.clone_ref(py)),
                _ => Ok(PyList::new(py, values)?.into_any().unbind()),
            }
        });
        cells.collect()
    }
}

/// Returns a number as `int` or `float`.
pub(crate) fn scalar(py: Python<'_>, value: Scalar) -> PyResult<Py<PyAny>> {
    Ok(match value.to_integer() {
        Some(number) => number.into_pyobject(py)?.into_any().unbind(),
        None => value.to_f64().into_pyobject(py)?.into_any().unbind(),
    })
}
