//! Printing of a definition as text.

use std::fmt::Write;
use std::ops::Bound;

use tdb_filters::FilterPipeline;
use tdb_rtree::DimRange;
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration};
use tdb_types::{CellValNum, DataOrder, Feature, Scalar};
use toml::Value;

use crate::filters;
use crate::value::{print_cell, print_scalar};

pub(crate) fn definition(definition: &ArrayDefinition) -> String {
    let schema = definition.schema();
    let mut text = Text::default();
    array(&mut text, schema);
    for (index, dimension) in schema.dimensions().iter().enumerate() {
        let current = schema.current_domain().and_then(|ranges| ranges.0.get(index));
        self::dimension(&mut text, dimension, current);
    }
    schema.attributes().iter().for_each(|attribute| self::attribute(&mut text, attribute));
    for reference in schema.enumerations() {
        if let Some(enumeration) = definition.enumeration(&reference.name) {
            self::enumeration(&mut text, enumeration);
        }
    }
    for label in schema.labels() {
        let array = definition.labels().find(|(own, _)| own.name == label.name).map(|(_, array)| array);
        self::label(&mut text, label, schema, array);
    }
    text.0
}

/// A TOML text, written line by line.
#[derive(Default)]
struct Text(String);

impl Text {
    fn section(&mut self, name: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "\n[[{name}]]\n");
    }

    fn put(&mut self, key: &str, value: &Value) {
        let text = value.to_string();
        let text = if text.contains(steers) { escaped(value) } else { text };
        let _ = writeln!(self.0, "{key} = {text}");
    }

    fn text(&mut self, key: &str, value: &str) {
        self.put(key, &Value::String(value.to_owned()));
    }

    fn truth(&mut self, key: &str, value: bool) {
        if value {
            self.put(key, &Value::Boolean(value));
        }
    }

    /// Prints filters, unless the pipeline is the default.
    fn filters(&mut self, key: &str, pipeline: &FilterPipeline) {
        if *pipeline != FilterPipeline::default() {
            self.put(key, &filters::print(pipeline));
        }
    }
}

/// Returns `true` for control characters other than newlines, and for marks of text direction.
/// These characters would affect a terminal.
fn steers(character: char) -> bool {
    let turns =
        matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (character.is_control() && character != '\n')
}

/// Prints a value and escapes characters for which [`steers`] returns `true`.
fn escaped(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let mut shown = String::from("\"");
            for character in text.chars() {
                match character {
                    '"' | '\\' => shown.extend(['\\', character]),
                    _ if steers(character) || character.is_control() => {
                        let _ = write!(shown, "\\u{:04x}", u32::from(character));
                    }
                    _ => shown.push(character),
                }
            }
            shown.push('"');
            shown
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(escaped).collect();
            format!("[{}]", values.join(", "))
        }
        other => other.to_string(),
    }
}

fn array(text: &mut Text, schema: &ArraySchema) {
    text.put("format_version", &Value::Integer(schema.version().number().into()));
    text.text("array_type", schema.array_type().name());
    text.text("tile_order", schema.tile_order().name());
    text.text("cell_order", schema.cell_order().name());
    text.put("capacity", &integer(schema.capacity()));
    text.truth("allows_duplicates", schema.allows_duplicates());
    text.put("coords_filters", &filters::print(schema.coords_filters()));
    text.put("offsets_filters", &filters::print(schema.offsets_filters()));
    if schema.version().has(Feature::Validity) {
        text.put("validity_filters", &filters::print(schema.validity_filters()));
    }
}

fn dimension(text: &mut Text, dimension: &Dimension, current: Option<&DimRange>) {
    text.section("dimension");
    text.text("name", dimension.name());
    text.text("datatype", dimension.datatype().name());
    if let Some((low, high)) = dimension.domain() {
        text.put("domain", &Value::Array(vec![print_scalar(low), print_scalar(high)]));
    }
    if let Some(extent) = dimension.tile_extent() {
        text.put("tile_extent", &self::extent(extent));
    }
    match current {
        Some(DimRange::Fixed { lo, hi }) => {
            let bound = |key: u64| print_scalar(Scalar::from_key(dimension.physical(), key));
            text.put("current_domain", &Value::Array(vec![bound(*lo), bound(*hi)]));
        }
        Some(DimRange::Var { lo, hi }) => {
            let bound = |bytes: &[u8]| print_cell(dimension.datatype(), CellValNum::Var, bytes);
            // A valid current domain includes the upper end.
            let hi = match hi {
                Bound::Included(hi) => &hi[..],
                _ => &[],
            };
            let bounds = vec![bound(lo), bound(hi)];
            text.put("current_domain", &Value::Array(bounds));
        }
        None => {}
    }
    text.filters("filters", dimension.own_filters());
}

/// Prints a tile extent. Extents of signed datatypes are also printed as unsigned numbers.
fn extent(extent: Scalar) -> Value {
    print_scalar(match extent {
        Scalar::I8(extent) => Scalar::U8(extent.cast_unsigned()),
        Scalar::I16(extent) => Scalar::U16(extent.cast_unsigned()),
        Scalar::I32(extent) => Scalar::U32(extent.cast_unsigned()),
        Scalar::I64(extent) => Scalar::U64(extent.cast_unsigned()),
        extent => extent,
    })
}

fn attribute(text: &mut Text, attribute: &Attribute) {
    let (datatype, number) = (attribute.datatype(), attribute.cell_val_num());
    let plain = Attribute::new(attribute.name(), datatype);
    text.section("attribute");
    text.text("name", attribute.name());
    text.text("datatype", datatype.name());
    if number != plain.cell_val_num() {
        text.put("values_per_cell", &self::number(number));
    }
    text.truth("nullable", attribute.is_nullable());
    if attribute.fill_pattern() != plain.with_cell_val_num(number).fill_pattern() {
        text.put("fill", &print_cell(datatype, number, &attribute.fill_value()));
    }
    text.truth("fill_valid", attribute.fill_valid());
    if attribute.order() != DataOrder::Unordered {
        text.text("order", attribute.order().name());
    }
    if let Some(enumeration) = attribute.enumeration() {
        text.text("enumeration", enumeration);
    }
    text.filters("filters", attribute.filters());
}

fn number(number: CellValNum) -> Value {
    number.fixed().map_or_else(|| Value::String("var".to_owned()), |number| Value::Integer(number.into()))
}

fn enumeration(text: &mut Text, enumeration: &Enumeration) {
    let (datatype, number) = (enumeration.datatype(), enumeration.cell_val_num());
    text.section("enumeration");
    text.text("name", enumeration.name());
    text.text("datatype", datatype.name());
    if number != CellValNum::ONE {
        text.put("values_per_value", &self::number(number));
    }
    text.truth("ordered", enumeration.is_ordered());
    let values = enumeration.values().map(|value| print_cell(datatype, number, value));
    text.put("values", &Value::Array(values.collect()));
}

fn label(text: &mut Text, label: &DimensionLabel, schema: &ArraySchema, array: Option<&ArraySchema>) {
    let dimension = usize::try_from(label.dimension).ok().and_then(|index| schema.dimensions().get(index));
    let plain = DimensionLabel::new(label.dimension, label.name.as_str(), label.order, label.datatype);
    text.section("label");
    text.text("name", &label.name);
    text.text("dimension", dimension.map_or("", Dimension::name));
    text.text("datatype", label.datatype.name());
    text.text("order", label.order.name());
    if label.attribute != plain.attribute {
        text.text("attribute", &label.attribute);
    }
    if label.external {
        text.truth("external", true);
        text.text("uri", &label.uri);
        text.put("relative", &Value::Boolean(label.relative));
    }
    let Some(array) = array else { return };
    let of_label = array.dimensions().first().and_then(Dimension::tile_extent);
    if let Some(extent) = of_label.filter(|extent| Some(*extent) != dimension.and_then(Dimension::tile_extent)) {
        text.put("tile_extent", &self::extent(extent));
    }
    let values = array.attributes().iter().find(|attribute| attribute.name() == label.attribute);
    text.filters("filters", &values.map(Attribute::filters).cloned().unwrap_or_default());
}

fn integer(value: u64) -> Value {
    i64::try_from(value).map_or_else(|_| Value::String(value.to_string()), Value::Integer)
}
