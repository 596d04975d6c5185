//! Arrays.

use std::ops::RangeInclusive;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tdb_array::tdb_cells::range_on;
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::{ArraySchema, FieldRef};
use tdb_array::tdb_storage::Counters;
use tdb_array::tdb_types::Datatype;
use tdb_array::{Array, ArrayOptions, Coordinate};

use crate::aggregate::value;
use crate::column::NativeColumn;
use crate::error::{Failure, Result};
use crate::metadata::{Entry, entries};
use crate::place::{Place, StoreSettings};
use crate::query::{NativeQuery, QueryParts};
use crate::run::briefly;
use crate::value::{Ends, datatype_of, range, times};

/// An array at a point in time.
#[pyclass(frozen, name = "Array", module = "tdb._native")]
#[derive(Clone, Debug)]
pub(crate) struct NativeArray {
    pub(crate) array: Array,
}

/// How an array or group is opened.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Opening {
    pub(crate) uri: String,
    start: Option<u64>,
    end: Option<u64>,
    key: Option<Vec<u8>>,
    threads: usize,
    pub(crate) storage_options: StoreSettings,
}

impl Opening {
    pub(crate) fn place(&self) -> Result<Place> {
        Place::of(&self.uri, &self.storage_options)
    }

    pub(crate) fn key(&self) -> Result<Option<EncryptionKey>> {
        self.key.as_deref().map(key_of).transpose()
    }

    pub(crate) fn options(&self) -> Result<ArrayOptions> {
        let mut options = ArrayOptions::new().threads(self.threads).key(self.key()?);
        if let Some(time) = times(self.start, self.end) {
            options = options.between(time);
        }
        Ok(options)
    }
}

pub(crate) fn key_of(bytes: &[u8]) -> Result<EncryptionKey> {
    let bytes: [u8; 32] = bytes
        .try_into()
        .map_err(|_| Failure::usage(format!("the key has {} bytes; expected 32 for AES-256", bytes.len())))?;
    Ok(EncryptionKey::new(bytes))
}

/// The name, the role, the datatype, the values per cell, the nullability, and the enumeration of a
/// field.
type Field = (String, &'static str, &'static str, Option<u32>, bool, Option<String>);

/// Describes the fields of a schema: dimensions, attributes, labels.
pub(crate) fn fields(schema: &ArraySchema) -> Vec<Field> {
    let own = schema.fields().filter_map(|field| {
        let (name, kind) = (schema.field_name(field)?.to_owned(), schema.field_type(field)?);
        let (role, enumeration) = match field {
            FieldRef::Dimension(_) => ("dimension", None),
            FieldRef::Attribute(index) => ("attribute", schema.attributes()[index].enumeration().map(str::to_owned)),
        };
        Some((name, role, kind.datatype.name(), kind.cell_val_num.fixed(), kind.nullable, enumeration))
    });
    let labels = schema
        .labels()
        .iter()
        .map(|label| (label.name.clone(), "label", label.datatype.name(), label.cell_val_num.fixed(), false, None));
    own.chain(labels).collect()
}

/// Converts a coordinate: a number, text, or bytes that are no text.
fn shown(py: Python<'_>, coordinate: &Coordinate) -> Result<Py<PyAny>> {
    Ok(match coordinate {
        Coordinate::Integer(number) => number.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
        Coordinate::Float(number) => number.into_pyobject(py).map_err(PyErr::from)?.into_any().unbind(),
        Coordinate::Bytes(bytes) => value(py, Datatype::StringAscii, Some(bytes))?,
        _ => py.None(),
    })
}

pub(crate) type Box_ = Vec<(Py<PyAny>, Py<PyAny>)>;

fn shown_box(py: Python<'_>, schema: &ArraySchema, region: &NdRange) -> Result<Box_> {
    shown_sides(py, &Coordinate::of_box(schema, region))
}

pub(crate) fn shown_sides(py: Python<'_>, sides: &[RangeInclusive<Coordinate>]) -> Result<Box_> {
    sides.iter().map(|range| Ok((shown(py, range.start())?, shown(py, range.end())?))).collect()
}

pub(crate) fn counters<'py>(py: Python<'py>, counters: Counters) -> Result<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, number) in [
        ("lists", counters.lists),
        ("opens", counters.opens),
        ("reads", counters.reads),
        ("bytes_read", counters.bytes),
        ("writes", counters.writes),
        ("bytes_written", counters.bytes_written),
        ("requests", counters.requests),
    ] {
        dict.set_item(name, number)?;
    }
    Ok(dict)
}

#[pymethods]
impl NativeArray {
    #[staticmethod]
    fn open(py: Python<'_>, opening: Opening) -> Result<Self> {
        let array = briefly(py, || opening.place()?.array(&opening.options()?.with_footers()));
        Ok(Self { array: array? })
    }

    /// The first and the last millisecond of the opened time.
    #[getter]
    fn time(&self) -> (u64, u64) {
        let time = self.array.time();
        (time.start, time.end)
    }

    #[getter]
    fn is_dense(&self) -> bool {
        self.array.schema().is_dense()
    }

    #[getter]
    fn fields(&self) -> Vec<Field> {
        fields(self.array.schema())
    }

    /// The first and the last coordinate of each dimension: of the current domain, if there is one.
    #[getter]
    fn domain(&self, py: Python<'_>) -> Result<Vec<Option<(Py<PyAny>, Py<PyAny>)>>> {
        let schema = self.array.schema();
        let limits = NdRange((0..schema.dim_count()).map(|index| schema.limits(index)).collect());
        let ends = shown_box(py, schema, &limits)?.into_iter().zip(schema.dimensions());
        Ok(ends.map(|(ends, dimension)| (!dimension.is_var()).then_some(ends)).collect())
    }

    /// The definition of the array in TOML.
    fn schema_text(&self, py: Python<'_>) -> Result<String> {
        briefly(py, || Ok(tdb_schema_text::to_toml(&self.array.definition()?)?))
    }

    fn non_empty_domain(&self, py: Python<'_>) -> Result<Option<Box_>> {
        let domain = briefly(py, || Ok(self.array.non_empty_domain()?))?;
        domain.map(|domain| shown_box(py, self.array.schema(), &domain)).transpose()
    }

    /// Describes the fragments: name, first and last time, format version, density, cells, tiles,
    /// bytes, and the non-empty domain.
    fn fragments<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyDict>>> {
        let bytes = || {
            let fragments = self.array.fragments()?;
            Ok(fragments.iter().map(tdb_array::Fragment::bytes).collect::<Result<Vec<u64>, _>>()?)
        };
        let bytes = briefly(py, bytes)?;
        let each = self.array.fragments()?.iter().zip(bytes).map(|(fragment, bytes)| {
            let (dict, name) = (PyDict::new(py), fragment.name());
            dict.set_item("name", name.to_string())?;
            dict.set_item("start", name.start())?;
            dict.set_item("end", name.end())?;
            dict.set_item("format_version", fragment.version().number())?;
            dict.set_item("is_dense", fragment.footer().is_dense())?;
            dict.set_item("cells", fragment.footer().tiles().cell_count())?;
            dict.set_item("tiles", fragment.tile_count())?;
            dict.set_item("bytes", bytes)?;
            let domain = fragment.non_empty_domain();
            dict.set_item("domain", domain.map(|domain| shown_box(py, fragment.schema(), domain)).transpose()?)?;
            Ok(dict)
        });
        each.collect()
    }

    fn metadata(&self, py: Python<'_>) -> Result<Vec<Entry>> {
        let metadata = briefly(py, || Ok(self.array.metadata()?))?;
        entries(py, metadata)
    }

    #[getter]
    fn enumerations(&self) -> Vec<String> {
        self.array.schema().enumerations().iter().map(|reference| reference.name.clone()).collect()
    }

    /// Returns the values of an enumeration as a column, and whether they are ordered.
    fn enumeration(&self, py: Python<'_>, name: &str) -> Result<(NativeColumn, bool)> {
        let found = briefly(py, || Ok(self.array.enumeration(name)?))?;
        Ok((crate::enumeration::column(&found).into(), found.is_ordered()))
    }

    /// Opens the array again, at a time or at the current time.
    fn refreshed(&self, py: Python<'_>, start: Option<u64>, end: Option<u64>) -> Result<Self> {
        Ok(Self { array: briefly(py, || Ok(self.array.refreshed(times(start, end))?))? })
    }

    /// Counts the coordinates in a range of a dimension of numbers.
    fn extent(&self, name: &str, ends: Ends<'_>) -> Result<u64> {
        let schema = self.array.schema();
        let datatype = datatype_of(schema, name).ok_or_else(|| Failure::column(name, "not a dimension"))?;
        let (_, range) = range_on(schema, name, &range(name, datatype, &ends)?)?;
        match range {
            DimRange::Fixed { lo, hi } => Ok((hi - lo).saturating_add(1)),
            DimRange::Var { .. } => Err(Failure::column(name, "a dimension of texts has no extent")),
        }
    }

    fn query(&self, parts: QueryParts<'_>) -> Result<NativeQuery> {
        NativeQuery::new(&self.array, &parts)
    }

    /// The requests to the storage since the array was opened.
    fn counters<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        counters(py, self.array.counters())
    }
}
