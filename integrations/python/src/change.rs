//! Creation of arrays and groups, and changes of arrays.

use pyo3::prelude::*;
use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_rtree::NdRange;
use tdb_array::tdb_schema::SchemaEvolution;
use tdb_array::{CreateOptions, MemberKind};
use tdb_schema_text::{additions_from_toml, from_toml};

use crate::array::{NativeArray, Opening};
use crate::error::{Failure, Result};
use crate::metadata::{self, Change};
use crate::run::briefly;
use crate::value::{Ends, datatype_of, range, times};
use crate::write::ids;

/// Creates an array from a schema in TOML.
#[pyfunction]
pub(crate) fn create_array(py: Python<'_>, opening: Opening, schema: &str, at: Option<u64>) -> Result<()> {
    briefly(py, || {
        let definition = from_toml(schema)?;
        let (options, place) = (CreateOptions::new().key(opening.key()?).ids(ids(at)), opening.place()?);
        match &place.folder {
            Some(folder) => Ok(options.create(folder, definition)?),
            None => Ok(options.create_on(&place.storage, definition)?),
        }
    })
}

#[pyfunction]
pub(crate) fn create_group(py: Python<'_>, opening: Opening) -> Result<()> {
    let options = CreateOptions::new().key(opening.key()?);
    briefly(py, || Ok(options.create_group_on(&opening.place()?.storage)?))
}

/// Returns `array`, `group`, or `None`.
#[pyfunction]
pub(crate) fn object_type(py: Python<'_>, opening: Opening) -> Result<Option<&'static str>> {
    briefly(py, || {
        Ok(match tdb_job::kind_of(&opening.place()?.storage)? {
            MemberKind::Array => Some("array"),
            MemberKind::Group => Some("group"),
            MemberKind::Invalid => None,
        })
    })
}

/// Checks a schema in TOML, and returns it with all defaults.
#[pyfunction]
pub(crate) fn complete_schema(schema: &str) -> Result<String> {
    Ok(tdb_schema_text::to_toml(&from_toml(schema)?)?)
}

fn condition_of(text: &str) -> Result<Condition> {
    text.parse().map_err(|error| Failure::usage(format!("condition: {error}")))
}

#[pyfunction]
pub(crate) fn delete_cells(py: Python<'_>, array: &NativeArray, condition: &str, at: Option<u64>) -> Result<()> {
    let condition = condition_of(condition)?;
    briefly(py, || Ok(array.array.delete_cells(&condition, &ids(at))?))
}

#[pyfunction]
pub(crate) fn delete_fragments(
    py: Python<'_>,
    array: &NativeArray,
    start: Option<u64>,
    end: Option<u64>,
) -> Result<usize> {
    let time = times(start, end).ok_or_else(|| Failure::usage("give the times of the fragments to delete"))?;
    briefly(py, || Ok(array.array.delete_fragments(time)?))
}

#[pyfunction]
pub(crate) fn write_metadata(py: Python<'_>, array: &NativeArray, changes: Vec<Change>, at: Option<u64>) -> Result<()> {
    briefly(py, || metadata::change(array.array.write_metadata(), changes, ids(at)))
}

/// A change of a schema, as the package passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Evolution<'py> {
    /// Attributes and enumerations in TOML.
    add: String,
    drop: Vec<String>,
    extend: Vec<(String, Vec<Vec<u8>>)>,
    drop_enumerations: Vec<String>,
    current_domain: Vec<(String, Ends<'py>)>,
    at: Option<u64>,
}

#[pyfunction]
pub(crate) fn evolve(py: Python<'_>, array: &NativeArray, evolution: Evolution<'_>) -> Result<()> {
    let (attributes, enumerations) = additions_from_toml(&evolution.add)?;
    let mut change = SchemaEvolution::new();
    change = attributes.into_iter().fold(change, SchemaEvolution::add_attribute);
    change = enumerations.into_iter().fold(change, SchemaEvolution::add_enumeration);
    change = evolution.drop.iter().fold(change, SchemaEvolution::drop_attribute);
    change = evolution.drop_enumerations.iter().fold(change, SchemaEvolution::drop_enumeration);
    for (name, values) in evolution.extend {
        change = change.extend_enumeration(name, values);
    }
    let schema = array.array.schema();
    if !evolution.current_domain.is_empty() {
        let mut limits: Vec<_> = (0..schema.dim_count()).map(|index| schema.limits(index)).collect();
        for (name, ends) in &evolution.current_domain {
            let datatype = datatype_of(schema, name).ok_or_else(|| Failure::column(name, "not a dimension"))?;
            let place = tdb_array::tdb_cells::dimension_index(schema, name)?;
            let dimension = &schema.dimensions()[place];
            let (start, end) = range(name, datatype, ends)?;
            let domain = match dimension.domain_keys() {
                Some((lo, hi)) => tdb_array::tdb_rtree::DimRange::Fixed { lo, hi },
                None => schema.limits(place),
            };
            limits[place] = tdb_array::tdb_cells::Given { start, end }.on(dimension, &domain)?;
        }
        change = change.expand_current_domain(NdRange(limits));
    }
    briefly(py, || Ok(array.array.evolve(&change, &ids(evolution.at))?))
}
