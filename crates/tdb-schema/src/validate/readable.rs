//! Rules that readers rely on.

use std::collections::HashSet;
use std::ops::Bound;

use tdb_rtree::{DimRange, NdRange};
use tdb_types::{ArrayType, CellValNum, DataOrder, Datatype, Feature, Layout, Scalar, is_safe_file_name};

use super::{name_of_attribute, name_of_dimension, name_of_label};
use crate::error::Result;
use crate::scalar_bits::unsigned_bits;
use crate::{ArraySchema, Attribute, Dimension, DimensionLabel, EnumerationRef, SchemaError};

/// The maximum number of dimensions with Hilbert order, as in the reference library.
const MOST_HILBERT_DIMENSIONS: usize = 16;

/// Checks all rules that readers of the array rely on.
pub(crate) fn readable(schema: &ArraySchema) -> Result<()> {
    shape(schema)?;
    schema.dimensions().iter().try_for_each(dimension)?;
    if schema.is_dense() {
        dense_domain(schema)?;
    }
    names(schema)?;
    let enumerations = enumerations(schema)?;
    schema.attributes.iter().try_for_each(|attribute| self::attribute(attribute, &enumerations))?;
    schema.labels.iter().try_for_each(|label| self::label(label, schema.dim_count()))?;
    schema.current_domain.as_ref().map_or(Ok(()), |current| current_domain(current, schema.dimensions()))
}

fn shape(schema: &ArraySchema) -> Result<()> {
    let invalid = |why: &str| Err(SchemaError::invalid("array schema", why));
    let dense = schema.array_type == ArrayType::Dense;
    match () {
        () if schema.dim_count() == 0 => invalid("no dimensions"),
        () if dense && schema.attr_count() == 0 => invalid("a dense array must have attributes"),
        () if !dense && schema.capacity == 0 => invalid("a sparse array cannot have a capacity of 0 cells per tile"),
        () if dense && schema.cell_order == Layout::Hilbert => {
            invalid("a dense array cannot have cells in Hilbert order")
        }
        () if schema.cell_order == Layout::Hilbert && schema.dim_count() > MOST_HILBERT_DIMENSIONS => {
            invalid("more than 16 dimensions, too many for Hilbert order")
        }
        () => Ok(()),
    }
}

fn dimension(dimension: &Dimension) -> Result<()> {
    let invalid = |why: String| Err(SchemaError::invalid(name_of_dimension(dimension), why));
    let datatype = dimension.datatype();
    if !datatype.may_be_dimension() {
        return invalid(format!("coordinates cannot have the datatype {datatype}"));
    }
    let string = datatype == Datatype::StringAscii;
    let values = if string { CellValNum::Var } else { CellValNum::ONE };
    if dimension.cell_val_num() != values {
        return invalid(format!("found {} values of {datatype} per cell, expected {values}", dimension.cell_val_num()));
    }
    match (dimension.domain(), dimension.tile_extent()) {
        (None, None) if string => Ok(()),
        (Some(_), _) if string => invalid("strings have no bounds".to_owned()),
        (_, Some(_)) if string => invalid("strings have no tile extent".to_owned()),
        (None, _) => invalid("missing bounds".to_owned()),
        (Some((low, high)), extent) => bounds(dimension, low, high)
            .and_then(|()| extent.map_or(Ok(()), |extent| self::extent(dimension, low, high, extent)))
            .or_else(invalid),
    }
}

fn bounds(dimension: &Dimension, low: Scalar, high: Scalar) -> Result<(), String> {
    let physical = dimension.physical();
    if low.physical() != physical || high.physical() != physical {
        return Err(format!("bounds are not values of {}", dimension.datatype()));
    }
    if !low.to_f64().is_finite() || !high.to_f64().is_finite() {
        return Err(format!("bounds {low} and {high} are not finite"));
    }
    if low > high {
        return Err(format!("lower bound {low} is above upper bound {high}"));
    }
    if !physical.is_float() && high.key() - low.key() == u64::MAX {
        return Err("domain of 2^64 coordinates exceeds the maximum of 2^64 - 1".to_owned());
    }
    Ok(())
}

fn extent(dimension: &Dimension, low: Scalar, high: Scalar, extent: Scalar) -> Result<(), String> {
    let physical = dimension.physical();
    if extent.physical() != physical {
        return Err(format!("tile extent is not a value of {}", dimension.datatype()));
    }
    if physical.is_float() {
        // Without a tile extent, releases store the width of the domain, which may be zero or
        // overflow to infinity.
        return if extent.to_f64() >= 0.0 {
            Ok(())
        } else {
            Err(format!("tile extent {extent} is negative or not a number"))
        };
    }
    match unsigned_bits(extent).checked_sub(1) {
        None => Err("tile extent is 0".to_owned()),
        Some(last) if last > high.key() - low.key() => {
            Err(format!("tile extent {} exceeds the domain from {low} to {high}", unsigned_bits(extent)))
        }
        Some(_) => Ok(()),
    }
}

/// Checks that coordinates are countable, because dense arrays address cells by position. The last
/// tile may extend beyond the datatype.
fn dense_domain(schema: &ArraySchema) -> Result<()> {
    let first = schema.dimensions().first().map(Dimension::datatype);
    for dimension in schema.dimensions() {
        let invalid = |why: String| Err(SchemaError::invalid(name_of_dimension(dimension), why));
        let datatype = dimension.datatype();
        if datatype.is_float() || datatype.is_string() {
            return invalid(format!("dense arrays cannot have coordinates of datatype {datatype}"));
        }
        if first != Some(datatype) {
            return invalid("dimensions of dense arrays must have the same datatype".to_owned());
        }
    }
    Ok(())
}

fn names(schema: &ArraySchema) -> Result<()> {
    let dimensions = schema.dimensions().iter().map(|dimension| ("dimension", dimension.name()));
    let attributes = schema.attributes.iter().map(|attribute| ("attribute", attribute.name()));
    let labels = schema.labels.iter().map(|label| ("dimension label", label.name.as_str()));
    let mut seen = HashSet::new();
    for (kind, name) in dimensions.chain(attributes).chain(labels) {
        let invalid = |why: &str| Err(SchemaError::invalid(format!("{kind} {name:?}"), why));
        if !seen.insert(name) {
            return invalid("the name is already in use");
        }
        if schema.version.has(Feature::RawFileNames) && name.contains(['/', '\0']) {
            return invalid("the name is not a valid file name, as this format version requires");
        }
    }
    Ok(())
}

/// Checks the enumerations and returns their names.
fn enumerations(schema: &ArraySchema) -> Result<HashSet<&str>> {
    let mut seen = HashSet::new();
    for EnumerationRef { name, file_name } in &schema.enumerations {
        let invalid = |why: String| Err(SchemaError::invalid(format!("enumeration {name:?}"), why));
        if name.is_empty() {
            return invalid("missing name".to_owned());
        }
        if !seen.insert(name.as_str()) {
            return invalid("the name is already in use".to_owned());
        }
        if !is_safe_file_name(file_name) {
            return invalid(format!("{file_name:?} is not a valid file name"));
        }
    }
    Ok(seen)
}

fn attribute(attribute: &Attribute, enumerations: &HashSet<&str>) -> Result<()> {
    let invalid = |why: String| Err(SchemaError::invalid(name_of_attribute(attribute), why));
    let datatype = attribute.datatype();
    if datatype == Datatype::Any && !attribute.is_var() {
        return invalid("cells of datatype any cannot have a fixed number of values".to_owned());
    }
    let pattern = attribute.fill_pattern().len();
    let whole_cell = attribute.cell_size() == Some(pattern as u64);
    let default = attribute.fill_pattern() == datatype.default_fill();
    if pattern == 0 || !(attribute.is_var() || whole_cell || default) {
        return invalid(format!("a fill value of {pattern} bytes is not a cell"));
    }
    let Some(name) = attribute.enumeration() else { return Ok(()) };
    if !enumerations.contains(name) {
        return invalid(format!("the schema has no enumeration {name:?}"));
    }
    if !datatype.is_integer() || attribute.cell_val_num() != CellValNum::ONE {
        return invalid(format!("{} {datatype} cannot be a position in an enumeration", attribute.cell_val_num()));
    }
    Ok(())
}

fn label(label: &DimensionLabel, dimensions: usize) -> Result<()> {
    let invalid = |why: String| Err(SchemaError::invalid(name_of_label(label), why));
    if usize::try_from(label.dimension).map_or(true, |index| index >= dimensions) {
        return invalid(format!("unknown dimension {}; the array has {dimensions}", label.dimension));
    }
    if label.name.is_empty() || label.attribute.is_empty() || label.uri.is_empty() {
        return invalid("the label's name, path and attribute must not be empty".to_owned());
    }
    if label.relative && !label.uri.split('/').all(is_safe_file_name) {
        return invalid(format!("{:?} is not a path below the array", label.uri));
    }
    if !label.relative && !label.external {
        return invalid("an internal label must have a relative path".to_owned());
    }
    if label.order == DataOrder::Unordered {
        return invalid("labels must be increasing or decreasing".to_owned());
    }
    let values = if label.datatype == Datatype::StringAscii { CellValNum::Var } else { CellValNum::ONE };
    if !label.datatype.may_be_dimension() || label.cell_val_num != values {
        return invalid(format!("labels cannot be {} values of {}", label.cell_val_num, label.datatype));
    }
    Ok(())
}

fn current_domain(current: &NdRange, dimensions: &[Dimension]) -> Result<()> {
    if current.0.len() != dimensions.len() {
        let why = format!("found {} ranges for {} dimensions", current.0.len(), dimensions.len());
        return Err(SchemaError::invalid("current domain", why));
    }
    for (range, dimension) in current.0.iter().zip(dimensions) {
        let fits = match (range, dimension.domain_keys()) {
            (DimRange::Fixed { lo, hi }, Some((low, high))) => lo <= hi && low <= *lo && *hi <= high,
            (DimRange::Var { lo, hi: Bound::Included(hi) }, None) => lo <= hi,
            _ => false,
        };
        if !fits {
            let why = format!("not a range within the domain of {}", name_of_dimension(dimension));
            return Err(SchemaError::invalid("current domain", why));
        }
    }
    Ok(())
}
