//! TOML as Python objects.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use toml::Value;

use crate::error::{Failure, Result};

/// Parses TOML. Python has a parser since release 3.11 only.
#[pyfunction]
pub(crate) fn parse_toml<'py>(py: Python<'py>, text: &str) -> Result<Bound<'py, PyAny>> {
    let table = toml::from_str::<Value>(text).map_err(Failure::usage)?;
    Ok(object(py, &table)?)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Datetime(date) => date.to_string().into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Table(table) => {
            let dict = PyDict::new(py);
            for (key, value) in table {
                dict.set_item(key, object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
