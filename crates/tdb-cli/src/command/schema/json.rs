//! A schema as JSON.

use serde_json::{Value, json};
use tdb_array::Array;
use tdb_filters::FilterPipeline;
use tdb_schema::{ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration, FieldRef};
use tdb_types::{CellValNum, hex};

use crate::command::describe::{FillValue, json_box, json_domain, json_extent};
use crate::failure::Result;
use tdb_print::json_cell;

pub(super) fn schema(array: &Array, values: usize) -> Result<Value> {
    let schema = array.schema();
    let mut enumerations = Vec::new();
    for reference in schema.enumerations() {
        enumerations.push(enumeration(&*array.enumeration(&reference.name)?, values));
    }
    let dimensions = schema.dimensions().iter().enumerate();
    let attributes = schema.attributes().iter().enumerate();
    Ok(json!({
        "schema_file": array.schema_path(),
        "array_type": schema.array_type().to_string(),
        "format_version": schema.version().number(),
        "allows_duplicates": schema.allows_duplicates(),
        "tile_order": schema.tile_order().to_string(),
        "cell_order": schema.cell_order().to_string(),
        "capacity": schema.capacity(),
        "coords_filters": filters(schema.coords_filters()),
        "offsets_filters": filters(schema.offsets_filters()),
        "validity_filters": filters(schema.validity_filters()),
        "current_domain": schema.current_domain().map(|ranges| json_box(schema.domain(), ranges)),
        "dimensions": dimensions.map(|(index, one)| dimension(schema, index, one)).collect::<Vec<_>>(),
        "attributes": attributes.map(|(index, one)| attribute(schema, index, one)).collect::<Vec<_>>(),
        "labels": schema.labels().iter().map(label).collect::<Vec<_>>(),
        "enumerations": enumerations,
    }))
}

fn filters(pipeline: &FilterPipeline) -> Value {
    let names: Vec<String> = pipeline.filters.iter().map(ToString::to_string).collect();
    json!({"max_chunk_size": pipeline.max_chunk_size, "filters": names})
}

/// Returns the number of values per cell, or null for a variable number.
fn number(number: CellValNum) -> Value {
    number.fixed().map_or(Value::Null, Value::from)
}

fn dimension(schema: &ArraySchema, index: usize, dimension: &Dimension) -> Value {
    json!({
        "name": dimension.name(),
        "datatype": dimension.datatype().name(),
        "cell_val_num": number(dimension.cell_val_num()),
        "domain": json_domain(dimension),
        "tile_extent": json_extent(dimension),
        "filters": filters(&schema.filters_of(FieldRef::Dimension(index))),
        "inherits_coords_filters": dimension.own_filters().is_empty(),
    })
}

fn attribute(schema: &ArraySchema, index: usize, attribute: &Attribute) -> Value {
    let fill = FillValue::of(attribute);
    let mut object = json!({
        "name": attribute.name(),
        "datatype": attribute.datatype().name(),
        "cell_val_num": number(attribute.cell_val_num()),
        "nullable": attribute.is_nullable(),
        "order": attribute.order().to_string(),
        "enumeration": attribute.enumeration(),
        "fill_value": fill.json(attribute.datatype()),
        "fill_bytes": hex::encode(&fill.bytes),
        "fill_valid": attribute.fill_valid(),
        "filters": filters(&schema.filters_of(FieldRef::Attribute(index))),
    });
    if fill.repeated > 1 {
        object["fill_repeated"] = fill.repeated.into();
    }
    object
}

fn label(label: &DimensionLabel) -> Value {
    json!({
        "name": label.name,
        "dimension": label.dimension,
        "datatype": label.datatype.name(),
        "cell_val_num": number(label.cell_val_num),
        "order": label.order.to_string(),
        "uri": label.uri,
        "relative": label.relative,
        "attribute": label.attribute,
        "external": label.external,
    })
}

fn enumeration(enumeration: &Enumeration, most: usize) -> Value {
    let (datatype, cells) = (enumeration.datatype(), enumeration.cell_val_num());
    let values = enumeration.values().take(most).map(|value| json_cell(datatype, cells, value));
    json!({
        "name": enumeration.name(),
        "file": enumeration.file_name(),
        "datatype": datatype.name(),
        "cell_val_num": number(cells),
        "ordered": enumeration.is_ordered(),
        "count": enumeration.len(),
        "values": values.collect::<Vec<_>>(),
    })
}
