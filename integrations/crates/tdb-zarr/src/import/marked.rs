//! Array definitions from the mark of exported Zarr arrays.

use std::collections::HashSet;
use std::path::Path;

use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaEvolution};
use tdb_array::tdb_types::Scalar;

use super::field::{Field, Source};
use super::foreign::Plan;
use crate::element::Element;
use crate::mark::{Mark, MarkedField};
use crate::node::{ArrayNode, Node};

/// Reason why a mark contradicts the Zarr data. The arrays may have changed since, or the
/// attributes may have been copied.
type Misfit = String;

/// Plans the array of a mark. The nodes of its attributes are below `folder`, or `own` is the only
/// node.
pub(super) fn plan(mark: &Mark, folder: &Path, own: Option<ArrayNode>) -> Result<Plan, Misfit> {
    let text = mark.schema.as_ref().ok_or("it has no schema")?;
    let definition = tdb_schema_text::from_toml(text).map_err(|error| error.to_string())?;
    let definition = with_fields(definition, &mark.fields)?;
    let schema = definition.schema();
    if !schema.is_dense() {
        return Err("its array is sparse".to_owned());
    }
    let dimensions = schema.dimensions();
    let mut own = own;
    let mut fields = Vec::new();
    for field in &mark.fields {
        let find = |attribute: &&Attribute| attribute.name() == field.attribute;
        let attribute = schema.attributes().iter().find(find).ok_or("it names an unknown attribute")?;
        let values = node(folder, field.array.as_deref(), &mut own)?;
        let (element, axis) = Element::of_attribute(attribute)?;
        check(&values, &element, dimensions.len(), axis)?;
        let values = source(values, dimensions.len())?;
        if *values.fill()? != *attribute.fill_value() {
            return Err(format!("the fill value of attribute {:?} differs", attribute.name()));
        }
        let validity = match (&field.validity, attribute.is_nullable()) {
            (None, false) => None,
            (Some(name), true) => {
                let truths = node(folder, Some(name), &mut None)?;
                check(&truths, &Element::truth(), dimensions.len(), None)?;
                let truths = source(truths, dimensions.len())?;
                if truths.fill()? != [u8::from(attribute.fill_valid())] {
                    return Err(format!("the fill value of attribute {:?} differs", attribute.name()));
                }
                Some(truths)
            }
            _ => return Err(format!("it lacks the validity of attribute {:?}", attribute.name())),
        };
        fields.push(Field { attribute: attribute.name().to_owned(), values, validity });
    }
    let (shape, chunks) =
        fields.first().map(|field| (field.values.shape(), field.values.chunk_shape())).ok_or("it has no fields")?;
    if fields.iter().flat_map(Field::sources).any(|other| other.shape() != shape || other.chunk_shape() != chunks) {
        return Err("its arrays have different shapes or chunks".to_owned());
    }
    let is_inside = |index: usize, dimension: &Dimension| {
        let first = *mark.origin.get(index)?;
        let last = first.checked_add(i128::from(shape[index].checked_sub(1)?))?;
        let key = |at: i128| Scalar::parse(dimension.physical(), &at.to_string()).map(Scalar::key);
        let DimRange::Fixed { lo, hi } = schema.limits(index) else { return None };
        (lo <= key(first)? && key(last)? <= hi).then_some(())
    };
    if dimensions.iter().enumerate().any(|(index, dimension)| is_inside(index, dimension).is_none()) {
        return Err("its cells are outside of the domain".to_owned());
    }
    Ok(Plan { definition, fields, origin: mark.origin.clone() })
}

/// Drops the attributes that were not exported.
fn with_fields(definition: ArrayDefinition, fields: &[MarkedField]) -> Result<ArrayDefinition, Misfit> {
    let known: HashSet<&str> = fields.iter().map(|field| field.attribute.as_str()).collect();
    if known.len() != fields.len() {
        return Err("it names an attribute twice".to_owned());
    }
    let schema = definition.schema();
    let missing = schema.attributes().iter().filter(|attribute| !known.contains(attribute.name()));
    let missing: Vec<String> = missing.map(|attribute| attribute.name().to_owned()).collect();
    if missing.is_empty() {
        return Ok(definition);
    }
    let evolution = missing.into_iter().fold(SchemaEvolution::new(), SchemaEvolution::drop_attribute);
    evolution.build(&definition).map_err(|error| error.to_string())
}

fn node(folder: &Path, name: Option<&str>, own: &mut Option<ArrayNode>) -> Result<ArrayNode, Misfit> {
    let Some(name) = name else { return own.take().ok_or_else(|| "it names no array".to_owned()) };
    match Node::read(&folder.join(name)) {
        Ok(Some(Node::Array(node))) => Ok(*node),
        Ok(_) => Err(format!("{name} is not an array")),
        Err(error) => Err(error.to_string()),
    }
}

fn source(node: ArrayNode, dimensions: usize) -> Result<Source, Misfit> {
    let source = Source::new(node, dimensions).map_err(|error| error.to_string())?;
    if source.has_whole_cells() { Ok(source) } else { Err("the values of a cell are in several chunks".to_owned()) }
}

/// Checks the element type and the number of dimensions of a Zarr array.
fn check(node: &ArrayNode, element: &Element, dimensions: usize, axis: Option<u64>) -> Result<(), Misfit> {
    let told = Element::of_zarr(&element.name)?;
    let is_same = (node.element.form, node.element.datatype) == (told.form, told.datatype)
        && node.shape.len() == dimensions + usize::from(axis.is_some())
        && node.shape.get(dimensions).copied() == axis;
    match is_same {
        true => Ok(()),
        false => Err(format!("{} has another data type or another number of dimensions", node.path.display())),
    }
}
