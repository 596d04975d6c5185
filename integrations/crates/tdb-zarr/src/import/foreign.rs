//! Array definitions for Zarr arrays without a mark.

use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder, SchemaError};

use super::field::{Field, Source};
use crate::codecs;
use crate::error::{Error, Result};
use crate::node::ArrayNode;

/// A new array, and the sources of its cells.
pub(super) struct Plan {
    pub(super) definition: ArrayDefinition,
    pub(super) fields: Vec<Field>,
    /// Coordinates of the first cell.
    pub(super) origin: Vec<i128>,
}

/// Plans an array with coordinates from 0, and one attribute named after the folder.
///
/// # Errors
/// An array cannot hold the Zarr data.
pub(super) fn plan(node: ArrayNode) -> Result<Plan> {
    let path = node.path.clone();
    let dimensions = node.shape.len().max(1);
    let names = dimension_names(&node);
    let name = attribute_name(&node, &names);
    let codecs = node.codecs.clone();
    let source = Source::new(node, dimensions)?;
    let schema = |source: SchemaError| Error::Schema { path: path.clone(), source };
    let mut builder = SchemaBuilder::dense();
    for ((name, len), chunk) in names.into_iter().zip(source.shape()).zip(source.chunk_shape()) {
        let Some(last) = len.checked_sub(1) else {
            return Err(Error::unsupported(&path, format!("no cells along {name}: expected at least one")));
        };
        let dimension = Dimension::new(name, 0u64..=last);
        builder = builder.dimension(dimension.with_tile(chunk.min(len)));
    }
    let element = &source.node.element;
    let fill = source.fill().map_err(|why| Error::unsupported(&path, format!("invalid fill value: {why}")))?;
    let mut attribute = Attribute::new(name.clone(), element.datatype)
        .with_cell_val_num(element.per_cell)
        .with_filters(codecs::filters(&codecs));
    // TileDB has no empty fill values.
    if !fill.is_empty() {
        attribute = attribute.with_fill_value(fill);
    }
    let definition = builder.attribute(attribute).build().and_then(ArrayDefinition::new).map_err(schema)?;
    definition.check().map_err(schema)?;
    let origin = vec![0; dimensions];
    Ok(Plan { definition, fields: vec![Field { attribute: name, values: source, validity: None }], origin })
}

/// Returns the dimension names. Replaces missing, invalid and duplicate names.
fn dimension_names(node: &ArrayNode) -> Vec<String> {
    let given: Vec<&str> = node.names.iter().flatten().map(String::as_str).collect();
    let is_free = |name: &str| given.iter().filter(|other| **other == name).count() == 1;
    let dimensions = node.shape.len().max(1);
    let mut names = Vec::with_capacity(dimensions);
    for dimension in 0..dimensions {
        let named = node.names.get(dimension).and_then(Option::as_deref);
        let name = named.filter(|name| !name.is_empty() && !name.starts_with("__") && is_free(name));
        let mut name = name.map_or_else(|| format!("dim_{dimension}"), str::to_owned);
        while named != Some(name.as_str()) && given.contains(&name.as_str()) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

fn attribute_name(node: &ArrayNode, dimensions: &[String]) -> String {
    let folder = node.path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let mut name = if folder.is_empty() || folder.starts_with('_') { "values" } else { folder }.to_owned();
    if dimensions.contains(&name) {
        "values".clone_into(&mut name);
    }
    while dimensions.contains(&name) {
        name.push('_');
    }
    name
}
