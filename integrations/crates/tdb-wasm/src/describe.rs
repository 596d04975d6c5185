//! Descriptions of arrays and groups as JSON.

use serde_json::{Value, json};
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::CellValNum;
use tdb_array::{Array, Group, MemberKind, MemberPlace};

use crate::failure::Result;
use crate::value::{big, bound, cell, metadata, sides};

pub(crate) fn values_per_cell(number: CellValNum) -> Value {
    number.fixed().map_or_else(|| json!("var"), |number| json!(number))
}

pub(crate) fn schema(schema: &ArraySchema) -> Value {
    let filters = |pipeline: &tdb_array::tdb_filters::FilterPipeline| {
        pipeline.filters.iter().map(|filter| json!(filter.to_string())).collect::<Value>()
    };
    let dimensions = schema.dimensions().iter().enumerate().map(|(place, dimension)| {
        let datatype = dimension.datatype();
        let domain = dimension.domain().map(|(low, high)| json!([bound(datatype, low), bound(datatype, high)]));
        // The stored extent of a signed datatype is an unsigned value.
        let extent = match dimension.extent_cells().filter(|_| dimension.tile_extent().is_some()) {
            Some(cells) if datatype.size() == 8 => big(cells),
            Some(cells) => json!(cells),
            None => dimension.tile_extent().map_or(Value::Null, |extent| bound(datatype, extent)),
        };
        let filters = filters(&schema.filters_of(tdb_array::tdb_schema::FieldRef::Dimension(place)));
        json!({ "name": dimension.name(), "datatype": datatype.name(), "domain": domain, "extent": extent, "filters": filters })
    });
    let attributes = schema.attributes().iter().map(|attribute| {
        let (datatype, number) = (attribute.datatype(), attribute.cell_val_num());
        json!({
            "name": attribute.name(),
            "datatype": datatype.name(),
            "cellValNum": values_per_cell(number),
            "nullable": attribute.is_nullable(),
            "fill": cell(datatype, number, &attribute.fill_value()),
            "enumeration": attribute.enumeration(),
            "filters": filters(attribute.filters()),
        })
    });
    let labels = schema.labels().iter().map(|label| {
        let dimension = schema.dimensions().get(label.dimension as usize).map(tdb_array::tdb_schema::Dimension::name);
        json!({ "name": label.name, "dimension": dimension, "datatype": label.datatype.name() })
    });
    json!({
        "arrayType": if schema.is_dense() { "dense" } else { "sparse" },
        "formatVersion": schema.version().number(),
        "allowsDuplicates": schema.allows_duplicates(),
        "capacity": big(schema.capacity()),
        "cellOrder": schema.cell_order().to_string(),
        "tileOrder": schema.tile_order().to_string(),
        "dimensions": dimensions.collect::<Value>(),
        "attributes": attributes.collect::<Value>(),
        "labels": labels.collect::<Value>(),
        "enumerations": schema.enumerations().iter().map(|reference| json!(reference.name)).collect::<Value>(),
        "currentDomain": schema.current_domain().map(|domain| sides(schema, domain)),
        "text": schema.dump(),
    })
}

pub(crate) fn fragments(array: &Array) -> Result<Value> {
    let each = array.fragments()?.iter().map(|fragment| {
        let (name, domain) = (fragment.name(), fragment.non_empty_domain());
        Ok(json!({
            "name": name.to_string(),
            "timestamps": [name.start(), name.end()],
            "formatVersion": fragment.version().number(),
            "dense": fragment.footer().is_dense(),
            "cells": big(fragment.cell_count()),
            "tiles": big(fragment.tile_count()),
            "bytes": big(fragment.bytes()?),
            "nonEmptyDomain": domain.map_or_else(|| json!([]), |domain| sides(fragment.schema(), domain)),
            "hasDeletes": fragment.footer().header().has_delete_metadata,
        }))
    });
    each.collect()
}

pub(crate) fn enumeration(array: &Array, name: &str) -> Result<Value> {
    let found = array.enumeration(name)?;
    Ok(found.values().map(|value| cell(found.datatype(), found.cell_val_num(), value)).collect())
}

pub(crate) fn group(group: &Group) -> Result<Value> {
    let members = group.members().iter().map(|member| {
        let kind = match member.kind {
            MemberKind::Array => Some("array"),
            MemberKind::Group => Some("group"),
            MemberKind::Invalid => None,
        };
        let path = match &member.place {
            MemberPlace::Inside(path) => Some(path),
            _ => None,
        };
        json!({ "name": member.name, "type": kind, "uri": member.uri, "path": path })
    });
    Ok(json!({ "members": members.collect::<Value>(), "metadata": metadata(group.metadata()?) }))
}
