//! The summary of an array.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tdb_array::{Array, Fragment};
use tdb_exchange::range;
use tdb_schema::{ArraySchema, Attribute, Dimension};

use crate::command::describe::{cell_type, extent, json_box, json_domain, json_extent, json_time, show_box, show_time};
use crate::failure::Result;
use crate::size::Bytes;
use tdb_print::{Paint, printable};

/// Returns the summary as text.
pub(super) fn text(path: &Path, array: &Array, paint: Paint) -> Result<String> {
    let mut out = String::new();
    let schema = array.schema();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{} {}", paint.bold(&format!("{name:<16}")), printable(&text));
    };
    line("array", path.display().to_string());
    let duplicates = if schema.allows_duplicates() { ", duplicates allowed" } else { "" };
    line("type", format!("{}{duplicates}, format version {}", schema.array_type(), schema.version()));
    line("order", order(schema));
    for (index, dimension) in schema.dimensions().iter().enumerate() {
        line(if index == 0 { "dimensions" } else { "" }, show_dimension(dimension));
    }
    for (index, attribute) in schema.attributes().iter().enumerate() {
        line(if index == 0 { "attributes" } else { "" }, show_attribute(attribute));
    }
    if let Some(current) = schema.current_domain() {
        line("current domain", show_box(schema.domain(), current));
    }
    let (cells, what) = cells(array)?;
    line("cells", format!("{cells} {what}"));
    line(
        "non-empty domain",
        match array.non_empty_domain()? {
            Some(domain) => show_box(schema.domain(), &domain),
            None => "empty".to_owned(),
        },
    );
    let size = size(path, array)?;
    let fragments = array.fragments()?.len();
    line(
        "fragments",
        match times(array)? {
            Some((first, last)) => format!("{fragments}, written {} to {}", show_time(first), show_time(last)),
            None => fragments.to_string(),
        },
    );
    line("size", Bytes(size).to_string());
    Ok(out)
}

/// Returns the summary as JSON.
pub(super) fn json(path: &Path, array: &Array) -> Result<Value> {
    let schema = array.schema();
    let dimensions = schema.dimensions().iter().map(|dimension| {
        json!({
            "name": dimension.name(),
            "type": cell_type(dimension.datatype(), dimension.cell_val_num(), false),
            "domain": json_domain(dimension),
            "tile_extent": json_extent(dimension),
        })
    });
    let attributes = schema.attributes().iter().map(|attribute| {
        json!({
            "name": attribute.name(),
            "type": cell_type(attribute.datatype(), attribute.cell_val_num(), attribute.is_nullable()),
            "enumeration": attribute.enumeration(),
            "filters": attribute.filters().to_string(),
        })
    });
    let domain = schema.domain();
    let times = times(array)?;
    Ok(json!({
        "path": path.display().to_string(),
        "kind": "array",
        "type": schema.array_type().to_string(),
        "allows_duplicates": schema.allows_duplicates(),
        "format_version": schema.version().number(),
        "cell_order": schema.cell_order().to_string(),
        "tile_order": schema.tile_order().to_string(),
        "dimensions": dimensions.collect::<Vec<_>>(),
        "attributes": attributes.collect::<Vec<_>>(),
        "current_domain": schema.current_domain().map(|ranges| json_box(domain, ranges)),
        "cells": cells(array)?.0,
        "non_empty_domain": array.non_empty_domain()?.map(|ranges| json_box(domain, &ranges)),
        "fragments": array.fragments()?.len(),
        "first_written": times.map(|(first, _)| json_time(first)),
        "last_written": times.map(|(_, last)| json_time(last)),
        "bytes": size(path, array)?,
    }))
}

fn order(schema: &ArraySchema) -> String {
    let capacity = match schema.is_dense() {
        true => String::new(),
        false => format!(", {} cells per tile", schema.capacity()),
    };
    format!("cells {}, tiles {}{capacity}", schema.cell_order(), schema.tile_order())
}

fn show_dimension(dimension: &Dimension) -> String {
    let mut text =
        format!("{}: {}", dimension.name(), cell_type(dimension.datatype(), dimension.cell_val_num(), false));
    if let Some(domain) = range::domain(dimension) {
        let _ = write!(text, " {domain}");
    }
    if let Some(extent) = extent(dimension) {
        let _ = write!(text, ", tiles of {extent}");
    }
    text
}

fn show_attribute(attribute: &Attribute) -> String {
    let name = if attribute.name().is_empty() { "(unnamed)" } else { attribute.name() };
    let mut text =
        format!("{name}: {}", cell_type(attribute.datatype(), attribute.cell_val_num(), attribute.is_nullable()));
    if let Some(enumeration) = attribute.enumeration() {
        let _ = write!(text, " of {enumeration}");
    }
    if !attribute.filters().is_empty() {
        let _ = write!(text, ", {}", attribute.filters());
    }
    text
}

/// Returns the number of written cells. Includes cells that were overwritten or deleted later,
/// because only a read can find the difference.
fn cells(array: &Array) -> Result<(u64, &'static str)> {
    let count = array.fragments()?.iter().map(|fragment| fragment.footer().tiles().visible_cell_count());
    let count = count.fold(0, u64::saturating_add);
    let several = array.fragments()?.len() > 1;
    Ok((count, if several { "written, including overwritten cells" } else { "written" }))
}

/// Returns the first and last timestamp of all fragments, in milliseconds since 1970. Returns
/// `None` without fragments.
fn times(array: &Array) -> Result<Option<(u64, u64)>> {
    let names = array.fragments()?.iter().map(tdb_array::Fragment::name);
    let first = names.clone().map(tdb_types::TimestampedName::start).min();
    Ok(first.zip(names.map(tdb_types::TimestampedName::end).max()))
}

/// Returns the total bytes of all files below a local folder, without following links. For an array
/// on a store, the bytes of its fragments, because this needs no listing.
fn size(path: &Path, array: &Array) -> Result<u64> {
    if path.is_dir() {
        return Ok(disk_size(path));
    }
    let sizes = array.fragments()?.iter().map(Fragment::bytes).collect::<Result<Vec<u64>, _>>()?;
    Ok(sizes.into_iter().fold(0, u64::saturating_add))
}

fn disk_size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.filter_map(Result::ok).map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_size(&entry.path()),
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    });
    sizes.fold(0, u64::saturating_add)
}
