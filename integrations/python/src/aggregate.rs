//! Aggregates and statistics.

use pyo3::prelude::*;
use tdb_array::tdb_aggregate::Sum;
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::{Datatype, Scalar};
use tdb_array::{Aggregate, Exactness, Statistics};

use crate::column::scalar;
use crate::error::{Failure, Result};

/// A figure, or the reason why it is unknown.
type Figure = (Py<PyAny>, Option<String>);

/// The counts of cells, values and nulls, the minimum, the maximum and the sum of a field.
pub(crate) type Figures = [Figure; 6];

pub(crate) fn parsed(aggregates: Vec<(String, Option<String>, f64)>) -> Result<Vec<Aggregate>> {
    let each = aggregates.into_iter().map(|(function, field, share)| {
        Ok(match (function.as_str(), field) {
            ("count", None) => Aggregate::count(),
            ("count", Some(field)) => Aggregate::count_of(field),
            ("null_count", Some(field)) => Aggregate::null_count(field),
            ("sum", Some(field)) => Aggregate::sum(field),
            ("mean", Some(field)) => Aggregate::mean(field),
            ("min", Some(field)) => Aggregate::min(field),
            ("max", Some(field)) => Aggregate::max(field),
            ("count_distinct", Some(field)) => Aggregate::count_distinct(field),
            ("quantile", Some(field)) => Aggregate::quantile(field, share),
            (function, _) => return Err(Failure::usage(format!("unknown aggregate {function:?}"))),
        })
    });
    each.collect()
}

pub(crate) fn figures(py: Python<'_>, schema: &ArraySchema, field: &str, found: Statistics) -> Result<Figures> {
    let kind = schema.field(field).and_then(|field| schema.field_type(field));
    let datatype = kind.map_or(Datatype::Blob, |kind| kind.datatype);
    let count = |number: u64| Ok(number.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind());
    let bound = |bytes: Option<Vec<u8>>| value(py, datatype, bytes.as_deref());
    let sum = |sum: Option<Sum>| {
        Ok(match sum {
            None => py.None(),
            Some(Sum::I64(sum)) => sum.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
            Some(Sum::U64(sum)) => sum.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
            Some(Sum::F64(sum)) => sum.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
        })
    };
    Ok([
        figure(py, found.cells, count)?,
        figure(py, found.count, count)?,
        figure(py, found.nulls, count)?,
        figure(py, found.min, bound)?,
        figure(py, found.max, bound)?,
        figure(py, found.sum, sum)?,
    ])
}

fn figure<T>(py: Python<'_>, found: Exactness<T>, show: impl FnOnce(T) -> Result<Py<PyAny>>) -> Result<Figure> {
    match found {
        Exactness::Exact(value) => Ok((show(value)?, None)),
        Exactness::Unknown(why) => Ok((py.None(), Some(why.to_string()))),
    }
}

/// Returns a value of a field: text, bytes, or a number.
pub(crate) fn value(py: Python<'_>, datatype: Datatype, bytes: Option<&[u8]>) -> Result<Py<PyAny>> {
    let Some(bytes) = bytes else { return Ok(py.None()) };
    if datatype.is_string() && datatype.size() == 1 {
        return Ok(match std::str::from_utf8(bytes) {
            Ok(text) => text.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
            Err(_) => bytes.into_pyobject(py)?.into_any().unbind(),
        });
    }
    match Scalar::from_le_bytes(datatype.physical(), bytes) {
        Some(number) if bytes.len() == datatype.size() && !datatype.is_bytes() => Ok(scalar(py, number)?),
        _ => Ok(pyo3::types::PyBytes::new(py, bytes).into_any().unbind()),
    }
}
