//! Memory of columns, which NumPy uses without a copy.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tdb_array::tdb_types::{Buffer, SharedBuffer};

/// Bytes with the NumPy array interface. An array keeps the object alive.
#[pyclass(frozen, module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: Bytes,
    address: usize,
}

#[derive(Debug)]
enum Bytes {
    /// Bytes without another owner. This module never reads or writes them after `address` is
    /// handed out: arrays may be written to.
    Owned { _buffer: Buffer, len: usize },
    /// Bytes that other objects use too. Arrays are read-only.
    Shared(SharedBuffer),
}

impl Memory {
    pub(crate) fn new(bytes: SharedBuffer) -> Self {
        let (address, len) = (bytes.as_ptr() as usize, bytes.len());
        match bytes.into_whole() {
            Ok(mut buffer) => {
                let offset = address - buffer.as_ptr() as usize;
                let address = buffer.as_mut_ptr() as usize + offset;
                Self { bytes: Bytes::Owned { _buffer: buffer, len }, address }
            }
            Err(bytes) => Self { bytes: Bytes::Shared(bytes), address },
        }
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self::new(SharedBuffer::from(Buffer::from(bytes)))
    }
}

#[pymethods]
impl Memory {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        let (len, read_only) = match &self.bytes {
            Bytes::Owned { len, .. } => (*len, false),
            Bytes::Shared(bytes) => (bytes.len(), true),
        };
        interface.set_item("version", 3)?;
        interface.set_item("shape", (len,))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (self.address, read_only))?;
        Ok(interface)
    }
}
