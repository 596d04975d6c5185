//! Metadata of arrays and groups.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tdb_array::tdb_types::Datatype;
use tdb_array::{Metadata, MetadataValue, MetadataView, MetadataWriter, WriteIds};

use crate::column::scalar;
use crate::error::{Failure, Result};

/// A key, the datatype, and the value.
pub(crate) type Entry = (String, &'static str, Py<PyAny>);

/// A key, and the datatype and the bytes of its new value. `None` deletes the key.
pub(crate) type Change = (String, Option<(String, Vec<u8>)>);

pub(crate) fn entries(py: Python<'_>, metadata: &Metadata) -> Result<Vec<Entry>> {
    let each = metadata.iter().map(|(key, value)| {
        let shown = match value.view() {
            MetadataView::Empty => PyTuple::empty(py).into_any().unbind(),
            MetadataView::Text(text) => text.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
            MetadataView::Number(number) => scalar(py, number)?,
            MetadataView::Numbers(numbers) => {
                let numbers = numbers.into_iter().map(|number| scalar(py, number)).collect::<PyResult<Vec<_>>>()?;
                PyTuple::new(py, numbers)?.into_any().unbind()
            }
            MetadataView::Bytes(bytes) => PyBytes::new(py, bytes).into_any().unbind(),
        };
        Ok((key.into_owned(), value.datatype().name(), shown))
    });
    each.collect()
}

/// Applies changes atomically.
pub(crate) fn change(mut writer: MetadataWriter, changes: Vec<Change>, ids: WriteIds) -> Result<()> {
    for (key, value) in changes {
        writer = match value {
            None => writer.delete(key),
            Some((datatype, bytes)) => {
                let named = Datatype::from_name(&datatype);
                let named = named.ok_or_else(|| Failure::usage(format!("unknown datatype {datatype:?}")))?;
                let value = MetadataValue::new(named, bytes);
                let value = value.map_err(|error| Failure::usage(format!("metadata key {key:?}: {error}")))?;
                writer.put(key, value)
            }
        };
    }
    Ok(writer.ids(ids).commit()?)
}
