//! Columns of results.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyArray1;
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

/// The number of cells between two checks for signals.
const CELLS_OF_A_CHECK: usize = 1 << 14;

impl NativeColumn {
    /// Converts the cells. Equal cells share an object if few of the cells are distinct.
    fn objects_of(
        &self,
        py: Python<'_>,
        text: &dyn Fn(&[u8]) -> Result<Option<Py<PyAny>>>,
        null: &Py<PyAny>,
    ) -> Result<Vec<Py<PyAny>>> {
        let column = self.locked();
        let column = column.as_ref().ok_or_else(taken)?;
        let mut objects = Vec::with_capacity(self.len);
        let mut known = Known::default();
        for cell in 0..self.len {
            if cell % CELLS_OF_A_CHECK == 0 {
                py.check_signals()?;
            }
            let Some(bytes) = column.cell(cell) else {
                objects.push(null.clone_ref(py));
                continue;
            };
            let slot = known.slot(bytes);
            if let Some(object) = slot.and_then(|slot| known.get(slot, bytes)) {
                objects.push(object.clone_ref(py));
                continue;
            }
            let Some(object) = text(bytes)? else {
                return Err(Failure::cell(&self.name, cell, "not valid UTF-8; read it with strings_as_bytes"));
            };
            if let Some(slot) = slot {
                known.set(slot, bytes, object.clone_ref(py));
            }
            objects.push(object);
        }
        Ok(objects)
    }
}

/// The objects of cells.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Bytes,
    Escaped,
}

impl Form {
    /// Returns an object, or `None` for bytes that are no text.
    fn object(self, py: Python<'_>, bytes: &[u8]) -> Result<Option<Py<PyAny>>> {
        let binary = || PyBytes::new(py, bytes);
        Ok(match (self, std::str::from_utf8(bytes)) {
            (Self::Bytes, _) => Some(binary().into_any().unbind()),
            (_, Ok(text)) => Some(PyString::new(py, text).into_any().unbind()),
            (Self::Text, Err(_)) => None,
            (Self::Escaped, Err(_)) => Some(binary().call_method1("decode", ("utf-8", "surrogateescape"))?.unbind()),
        })
    }
}

/// The binary logarithm of the number of objects that may be shared.
const KNOWN_BITS: u32 = 10;

/// An odd number with random bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bytes and the object of a cell.
struct Shared {
    len: usize,
    digest: u64,
    /// Empty if the digest is the bytes.
    bytes: Box<[u8]>,
    object: Py<PyAny>,
}

/// Objects of recent cells, by a hash of their bytes.
#[derive(Default)]
struct Known {
    objects: Vec<Option<Shared>>,
    found: usize,
    missed: usize,
}

impl Known {
    /// Returns the place of an object, and the digest of its bytes. `None` if most cells are
    /// distinct, or too long.
    fn slot(&self, bytes: &[u8]) -> Option<(usize, u64)> {
        const LONGEST: usize = 64;
        if bytes.len() > LONGEST || self.missed > (1 << KNOWN_BITS) + 4 * self.found {
            return None;
        }
        let digest = digest(bytes);
        let hash = (digest ^ bytes.len() as u64).wrapping_mul(FACTOR);
        Some(((hash >> (u64::BITS - KNOWN_BITS)) as usize, digest))
    }

    fn get(&mut self, (slot, digest): (usize, u64), bytes: &[u8]) -> Option<&Py<PyAny>> {
        let known = self.objects.get(slot)?.as_ref()?;
        let is_equal = known.len == bytes.len() && known.digest == digest;
        if !is_equal || (bytes.len() >= WORD && *known.bytes != *bytes) {
            return None;
        }
        self.found += 1;
        Some(&known.object)
    }

    fn set(&mut self, (slot, digest): (usize, u64), bytes: &[u8], object: Py<PyAny>) {
        self.missed += 1;
        self.objects.resize_with(1 << KNOWN_BITS, || None);
        let len = bytes.len();
        let bytes = if len < WORD { Box::default() } else { bytes.into() };
        self.objects[slot] = Some(Shared { len, digest, bytes, object });
    }
}

const WORD: usize = 8;

/// Returns the bytes as a number if they are fewer than a word, and a hash of more bytes.
fn digest(bytes: &[u8]) -> u64 {
    if let Some(last) = bytes.last_chunk::<WORD>() {
        let words = bytes.as_chunks::<WORD>().0.iter().chain([last]);
        words.fold(0, |digest, word| (digest ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(23))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
    } else {
        bytes.iter().fold(0, |digest, byte| digest << 8 | u64::from(*byte))
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
        let (null, form) = (py.None(), if binary { Form::Bytes } else { Form::Text });
        Ok(PyList::new(py, self.objects_of(py, &|bytes| form.object(py, bytes), &null)?)?)
    }

    /// Returns the cells in an array of NumPy, as `text`, `bytes`, or `escaped` text: invalid bytes
    /// become surrogates. Null becomes `null`. `replaced` holds two texts in bytes: the first reads
    /// as the second.
    fn objects<'py>(
        &self,
        py: Python<'py>,
        form: &str,
        null: Py<PyAny>,
        replaced: Option<(Vec<u8>, Vec<u8>)>,
    ) -> Result<Bound<'py, PyArray1<Py<PyAny>>>> {
        let form = match form {
            "bytes" => Form::Bytes,
            "escaped" => Form::Escaped,
            _ => Form::Text,
        };
        let text = |bytes: &[u8]| match &replaced {
            Some((from, to)) if from == bytes => form.object(py, to),
            _ => form.object(py, bytes),
        };
        Ok(PyArray1::from_vec(py, self.objects_of(py, &text, &null)?))
    }

    /// Returns a byte per cell that is 1 for valid cells. `None` if all cells are valid.
    fn valid(&self) -> Result<Option<Memory>> {
        let column = self.locked();
        let column = column.as_ref().ok_or_else(taken)?;
        let valid = (0..self.len).map(|cell| u8::from(column.is_valid(cell)));
        let valid = column.validity().map(|_| valid.collect::<Vec<u8>>()).filter(|valid| valid.contains(&0));
        Ok(valid.map(|valid| Memory::of_bytes(&valid)))
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
