//! Values of Python as coordinates, ranges and times.

use std::ops::Bound as End;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::{Datatype, datetime};
use tdb_array::{Coordinate, TimeRange};

use crate::error::{Failure, Result};

/// The first and the last value of a range, both included. `None` is the end of the domain.
pub(crate) type Ends<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// Returns the datatype of the coordinates of a dimension or label.
pub(crate) fn datatype_of(schema: &ArraySchema, name: &str) -> Option<Datatype> {
    let dimension = schema.dimensions().iter().find(|dimension| dimension.name() == name);
    let label = || schema.labels().iter().find(|label| label.name == name).map(|label| label.datatype);
    dimension.map(tdb_array::tdb_schema::Dimension::datatype).or_else(label)
}

/// Converts the ends of a range.
pub(crate) fn range(
    name: &str,
    datatype: Datatype,
    (first, last): &Ends<'_>,
) -> Result<(End<Coordinate>, End<Coordinate>)> {
    let end = |value: &Option<Bound<'_, PyAny>>, is_last| match value {
        None => Ok(End::Unbounded),
        Some(value) => coordinate(name, datatype, value, is_last).map(End::Included),
    };
    Ok((end(first, false)?, end(last, true)?))
}

/// Converts a coordinate. The text of a date may denote a period: `is_last` selects its last value
/// instead of its first.
pub(crate) fn coordinate(
    name: &str,
    datatype: Datatype,
    value: &Bound<'_, PyAny>,
    is_last: bool,
) -> Result<Coordinate> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        if !datatype.is_datetime() {
            return Ok(Coordinate::Bytes(text.as_bytes().to_vec()));
        }
        let period = datetime::read(datatype, text);
        let (first, last) = period.map_err(|error| Failure::column(name, format!("{text:?}: {error}")))?;
        return Ok(Coordinate::Integer(if is_last { last } else { first }.into()));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Coordinate::Bytes(bytes.as_bytes().to_vec()));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Coordinate::Float(value.extract()?));
    }
    let is_number = value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>();
    if is_number || value.hasattr("__index__")? && !value.is_instance_of::<PyBool>() {
        let wide = value.call_method0("__index__")?.extract::<i128>();
        return Ok(Coordinate::Integer(wide.map_err(|_| Failure::column(name, format!("{value} is out of range")))?));
    }
    match value.extract::<f64>() {
        Ok(number) if !value.is_instance_of::<PyBool>() => Ok(Coordinate::Float(number)),
        _ => Err(Failure::column(name, format!("{} is not a coordinate of {datatype}", value.repr()?))),
    }
}

/// Converts a range of times in milliseconds.
pub(crate) fn times(start: Option<u64>, end: Option<u64>) -> Option<TimeRange> {
    match (start, end) {
        (None, None) => None,
        (start, end) => Some(TimeRange { start: start.unwrap_or(0), end: end.unwrap_or(u64::MAX) }),
    }
}
