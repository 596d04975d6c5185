//! Schemas as text, for display and snapshot tests. The text of a schema changes only if the schema
//! does.

use std::fmt::{self, Write};

use tdb_types::{CellValNum, DataOrder, Datatype};

use crate::{ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef};

/// The maximum number of values in the dump of an enumeration.
const MOST_VALUES: usize = 20;

impl ArraySchema {
    /// Returns the schema as text of several lines. The text is stable across releases.
    #[must_use]
    pub fn dump(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.dump_to(&mut text);
        text
    }

    fn dump_to(&self, out: &mut String) -> fmt::Result {
        let duplicates = if self.allows_duplicates() { ", duplicates allowed" } else { "" };
        writeln!(out, "{} array, format {}{duplicates}", self.array_type(), self.version())?;
        writeln!(
            out,
            "  tile order {}, cell order {}, capacity {}",
            self.tile_order(),
            self.cell_order(),
            self.capacity()
        )?;
        writeln!(out, "  coordinate filters {}", self.coords_filters())?;
        writeln!(out, "  offsets filters {}", self.offsets_filters())?;
        writeln!(out, "  validity filters {}", self.validity_filters())?;
        self.dimensions().iter().try_for_each(|dimension| dump_dimension(dimension, out))?;
        self.attributes().iter().try_for_each(|attribute| dump_attribute(attribute, out))?;
        self.labels().iter().try_for_each(|label| dump_label(label, out))?;
        for EnumerationRef { name, file_name } in self.enumerations() {
            writeln!(out, "enumeration {name:?} in {file_name}")?;
        }
        match self.current_domain() {
            Some(ranges) => writeln!(out, "current domain {}", ranges.display(&self.domain().kinds())),
            None => Ok(()),
        }
    }
}

fn dump_dimension(dimension: &Dimension, out: &mut String) -> fmt::Result {
    write!(out, "dimension {:?} {}", dimension.name(), Values(dimension.datatype(), dimension.cell_val_num()))?;
    if let Some((low, high)) = dimension.domain() {
        write!(out, " [{low}, {high}]")?;
    }
    match (dimension.tile_extent(), dimension.extent_cells()) {
        (Some(_), Some(cells)) => write!(out, " tile extent {cells}")?,
        (Some(extent), None) => write!(out, " tile extent {extent}")?,
        (None, _) => {}
    }
    writeln!(out)?;
    match dimension.own_filters().is_empty() {
        true => Ok(()),
        false => writeln!(out, "  filters {}", dimension.own_filters()),
    }
}

fn dump_attribute(attribute: &Attribute, out: &mut String) -> fmt::Result {
    write!(out, "attribute {:?} {}", attribute.name(), Values(attribute.datatype(), attribute.cell_val_num()))?;
    if attribute.is_nullable() {
        write!(out, " nullable")?;
    }
    if attribute.order() != DataOrder::Unordered {
        write!(out, " {}", attribute.order())?;
    }
    if let Some(enumeration) = attribute.enumeration() {
        write!(out, " in enumeration {enumeration:?}")?;
    }
    write!(out, "\n  fill ")?;
    attribute.fill_pattern().iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
    if attribute.is_nullable() {
        write!(out, "{}", if attribute.fill_valid() { " (valid)" } else { " (null)" })?;
    }
    writeln!(out)?;
    match attribute.filters().is_empty() {
        true => Ok(()),
        false => writeln!(out, "  filters {}", attribute.filters()),
    }
}

fn dump_label(label: &DimensionLabel, out: &mut String) -> fmt::Result {
    write!(
        out,
        "label {:?} of dimension {} {}",
        label.name,
        label.dimension,
        Values(label.datatype, label.cell_val_num)
    )?;
    let place = if label.relative { "" } else { "absolute " };
    let owner = if label.external { " (external)" } else { "" };
    writeln!(out, " {}, attribute {:?} at {place}{:?}{owner}", label.order, label.attribute, label.uri)
}

/// The type of a cell, such as `int32`, `int32 x 3` or `string_ascii var`.
struct Values(Datatype, CellValNum);

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            CellValNum::ONE => write!(f, "{}", self.0),
            CellValNum::Var => write!(f, "{} var", self.0),
            CellValNum::Fixed(number) => write!(f, "{} x {number}", self.0),
        }
    }
}

impl Enumeration {
    /// Returns the enumeration as text of several lines, with at most 20 values. The text is stable
    /// across releases.
    #[must_use]
    pub fn dump(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.dump_to(&mut text);
        text
    }

    fn dump_to(&self, out: &mut String) -> fmt::Result {
        let ordered = if self.is_ordered() { " ordered" } else { "" };
        let values = Values(self.datatype(), self.cell_val_num());
        writeln!(
            out,
            "enumeration {:?} {values}{ordered}, {} values, in {}",
            self.name(),
            self.len(),
            self.file_name()
        )?;
        for (position, value) in self.values().enumerate().take(MOST_VALUES) {
            writeln!(out, "  {position} {}", self.show(value))?;
        }
        match self.len().checked_sub(MOST_VALUES) {
            None | Some(0) => Ok(()),
            Some(more) => writeln!(out, "  … {more} more"),
        }
    }

    /// Formats one value: strings quoted, single numbers in decimal, everything else in
    /// hexadecimal.
    fn show(&self, value: &[u8]) -> String {
        if matches!(self.datatype(), Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char) {
            return format!("{:?}", String::from_utf8_lossy(value));
        }
        match tdb_types::Scalar::from_le_bytes(self.datatype().physical(), value) {
            Some(scalar) => scalar.to_string(),
            None => value.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")),
        }
    }
}
