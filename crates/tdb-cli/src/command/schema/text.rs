//! A schema as text.

use std::fmt::Write;

use serde_json::Value;
use tdb_array::Array;
use tdb_exchange::{CellKind, range};
use tdb_schema::{ArraySchema, Attribute, DimensionLabel, Enumeration, FieldRef};
use tdb_types::{DataOrder, hex};

use crate::command::describe::{FillValue, cell_type, extent, show_box};
use crate::failure::Result;
use tdb_print::{Paint, printable};

/// Maximum bytes of a fill value to show.
const MOST_FILL_BYTES: usize = 4 << 10;

/// Text output with lines under headings.
struct Text {
    out: String,
    paint: Paint,
}

impl Text {
    fn heading(&mut self, text: &str) {
        let text = self.paint.bold(&printable(text));
        let _ = writeln!(self.out, "{text}");
    }

    fn line(&mut self, name: &str, text: impl std::fmt::Display) {
        let _ = writeln!(self.out, "  {name:<20} {}", printable(&text.to_string()));
    }
}

pub(super) fn schema(array: &Array, values: usize, paint: Paint) -> Result<String> {
    let schema = array.schema();
    let mut text = Text { out: String::new(), paint };
    head(schema, array.schema_path(), &mut text);
    for index in 0..schema.dimensions().len() {
        dimension(schema, index, &mut text);
    }
    for (index, one) in schema.attributes().iter().enumerate() {
        attribute(schema, index, one, &mut text);
    }
    for one in schema.labels() {
        label(schema, one, &mut text);
    }
    for reference in schema.enumerations() {
        enumeration(&*array.enumeration(&reference.name)?, values, &mut text);
    }
    Ok(text.out)
}

fn head(schema: &ArraySchema, file: &str, text: &mut Text) {
    text.heading(&format!("{} array", schema.array_type()));
    text.line("schema file", file);
    text.line("format version", schema.version());
    text.line("duplicates", if schema.allows_duplicates() { "allowed" } else { "not allowed" });
    text.line("tile order", schema.tile_order());
    text.line("cell order", schema.cell_order());
    text.line("capacity", format!("{} cells", schema.capacity()));
    text.line("coordinate filters", schema.coords_filters());
    text.line("offsets filters", schema.offsets_filters());
    text.line("validity filters", schema.validity_filters());
    if let Some(current) = schema.current_domain() {
        text.line("current domain", show_box(schema.domain(), current));
    }
}

fn dimension(schema: &ArraySchema, index: usize, text: &mut Text) {
    let dimension = &schema.dimensions()[index];
    text.heading(&format!("dimension {:?}", dimension.name()));
    text.line("type", cell_type(dimension.datatype(), dimension.cell_val_num(), false));
    text.line("domain", range::domain(dimension).unwrap_or_else(|| "all strings".to_owned()));
    text.line("tile extent", extent(dimension).unwrap_or_else(|| "none".to_owned()));
    let inherited = if dimension.own_filters().is_empty() { " (from the coordinate filters)" } else { "" };
    text.line("filters", format!("{}{inherited}", schema.filters_of(FieldRef::Dimension(index))));
}

fn attribute(schema: &ArraySchema, index: usize, attribute: &Attribute, text: &mut Text) {
    let (datatype, number) = (attribute.datatype(), attribute.cell_val_num());
    text.heading(&format!("attribute {:?}", attribute.name()));
    text.line("type", cell_type(datatype, number, attribute.is_nullable()));
    if attribute.order() != DataOrder::Unordered {
        text.line("order", attribute.order());
    }
    if let Some(enumeration) = attribute.enumeration() {
        text.line("enumeration", format!("{enumeration:?}"));
    }
    let fill = fill(attribute);
    let null = attribute.is_nullable() && !attribute.fill_valid();
    text.line("fill value", if null { format!("null, stored as {fill}") } else { fill });
    text.line("filters", schema.filters_of(FieldRef::Attribute(index)));
}

fn fill(attribute: &Attribute) -> String {
    let fill = FillValue::of(attribute);
    let value = match fill.json(attribute.datatype()) {
        Value::Null => "a long value".to_owned(),
        value => value.to_string(),
    };
    let most = fill.bytes.len().min(MOST_FILL_BYTES);
    let more = if most < fill.bytes.len() { "…" } else { "" };
    let repeated = if fill.repeated > 1 { format!(", {} times", fill.repeated) } else { String::new() };
    format!("{value} (bytes {}{more}){repeated}", hex::encode(&fill.bytes[..most]))
}

fn label(schema: &ArraySchema, label: &DimensionLabel, text: &mut Text) {
    text.heading(&format!("label {:?}", label.name));
    let dimension = usize::try_from(label.dimension).ok().and_then(|index| schema.dimensions().get(index));
    text.line("of dimension", dimension.map_or_else(String::new, |dimension| format!("{:?}", dimension.name())));
    text.line("type", cell_type(label.datatype, label.cell_val_num, false));
    text.line("order", label.order);
    let place = if label.relative { "in the array" } else { "elsewhere" };
    text.line("label array", format!("{} ({place}), attribute {:?}", label.uri, label.attribute));
    if label.external {
        text.line("created by", "others");
    }
}

fn enumeration(enumeration: &Enumeration, most: usize, text: &mut Text) {
    let (datatype, number) = (enumeration.datatype(), enumeration.cell_val_num());
    text.heading(&format!("enumeration {:?}", enumeration.name()));
    text.line("file", enumeration.file_name());
    text.line("type", cell_type(datatype, number, false));
    text.line("ordered", if enumeration.is_ordered() { "yes" } else { "no" });
    text.line("values", enumeration.len());
    let kind = CellKind::of(datatype, number, false);
    for (index, value) in enumeration.values().take(most).enumerate() {
        let mut shown = Vec::new();
        kind.json(value, &mut shown);
        text.line(&format!("{index:>8}"), String::from_utf8_lossy(&shown));
    }
    if enumeration.len() > most {
        text.line("       …", format!("{} more; use --values to show them", enumeration.len() - most));
    }
}
