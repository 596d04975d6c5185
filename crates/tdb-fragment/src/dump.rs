//! Fragment metadata as text, for display and snapshot tests. The text is stable and line-oriented.

use std::fmt::{self, Write};

use tdb_schema::{ArraySchema, Attribute, Dimension};
use tdb_types::{Datatype, Scalar};

use crate::contents::FieldContents;
use crate::field::{FragmentField, Part};
use crate::file::FragmentFile;
use crate::footer::OptionalSection;
use crate::sections::{Statistic, StatisticsRules, TileValues, ValueStatistics};
use crate::tiles::Tiles;

impl FragmentFile {
    /// Writes the metadata as text. Omits lines that do not apply to a field.
    ///
    /// # Errors
    /// Fails if writing to `out` fails.
    pub fn dump(&self, schema: &ArraySchema, out: &mut dyn Write) -> fmt::Result {
        self.dump_header(schema, out)?;
        for (slot, field) in self.footer.slots().iter().enumerate() {
            // The lists keep a slot for `__coords` in versions without a data file of this name.
            let there = |contents: &&FieldContents| {
                field != FragmentField::Coordinates || contents.tile_offsets.file_size() > 0
            };
            if let Some(contents) = self.contents.fields.get(slot).filter(there) {
                self.dump_field(field, contents, schema, out)?;
            }
        }
        self.dump_rtree(schema, out)?;
        for (dimension, bounds) in self.contents.global_order_bounds.iter().enumerate() {
            let field = FragmentField::Dimension(dimension);
            let datatype = datatype(field, schema);
            writeln!(out, "global order bounds of {}", field.display(schema))?;
            for tile in 0..bounds.mins.len() as u64 {
                if let Some((min, max)) = bounds.get(tile) {
                    writeln!(out, "  tile {tile}: {} to {}", value(datatype, min), value(datatype, max))?;
                }
            }
        }
        for condition in &self.contents.processed_conditions.0 {
            writeln!(out, "processed condition {condition}")?;
        }
        for section in &self.contents.unknown_sections {
            if let OptionalSection::Unknown { id, data } = section {
                writeln!(out, "optional section {id}: {} bytes", data.len())?;
            }
        }
        Ok(())
    }

    fn dump_header(&self, schema: &ArraySchema, out: &mut dyn Write) -> fmt::Result {
        let header = self.footer.header();
        let kind = if header.dense { "dense" } else { "sparse" };
        writeln!(out, "{kind} fragment of format version {}", header.version)?;
        writeln!(out, "schema {}", header.schema_name)?;
        match &header.non_empty_domain {
            Some(domain) => writeln!(out, "non-empty domain {}", domain.display(&schema.domain().kinds()))?,
            None => writeln!(out, "no non-empty domain")?,
        }
        match self.footer.tiles() {
            Tiles::Dense(grid) => {
                write!(out, "{} tiles of {} cells:", grid.tile_count(), grid.cells_per_tile())?;
                for dimension in grid.dimensions() {
                    let last = dimension.first + (dimension.count - 1);
                    write!(out, " {}..={last}", dimension.first)?;
                }
                writeln!(out, " in {} order", grid.order())?;
            }
            Tiles::Sparse(tiles) => {
                writeln!(out, "{} tiles of {} cells, the last of {}", tiles.count, tiles.capacity, tiles.last_cells)?;
            }
        }
        for (there, what) in [(header.has_timestamps, "timestamps"), (header.has_delete_metadata, "delete metadata")] {
            if there {
                writeln!(out, "has {what}")?;
            }
        }
        if let Some(stray) = self.footer.stray() {
            writeln!(out, "stray offset {stray}")?;
        }
        Ok(())
    }

    fn dump_field(
        &self,
        field: FragmentField,
        contents: &FieldContents,
        schema: &ArraySchema,
        out: &mut dyn Write,
    ) -> fmt::Result {
        writeln!(out, "{}", field.display(schema))?;
        for (part, name) in [(Part::Fixed, "fixed"), (Part::Var, "var"), (Part::Validity, "validity")] {
            let offsets = contents.offsets(part);
            if offsets.file_size() > 0 {
                writeln!(out, "  {name}: {} bytes, tiles at {:?}", offsets.file_size(), offsets.starts())?;
            }
        }
        if contents.tile_var_sizes.0.iter().any(|size| *size > 0) {
            writeln!(out, "  unfiltered var sizes {:?}", contents.tile_var_sizes.0)?;
        }
        let Some(rules) = StatisticsRules::new(&self.footer, schema, field) else {
            return Ok(());
        };
        let datatype = datatype(field, schema);
        let statistics = &contents.statistics;
        let tiles = self.footer.tiles();
        let has_any = !matches!(statistics.mins, TileValues::Absent)
            || !statistics.sums.is_empty()
            || !statistics.null_counts.is_empty();
        for tile in (0..tiles.count()).take_while(|_| has_any) {
            let label = format!("tile {tile}");
            dump_values(&label, datatype, &rules, &statistics.tile(tile, tiles, &rules), out)?;
        }
        let slot = self.footer.slot(field).unwrap_or(usize::MAX);
        if let Some(totals) = self.contents.fragment_statistics.0.get(slot) {
            dump_values("fragment", datatype, &rules, &totals.judge(tiles, &rules), out)?;
        }
        Ok(())
    }

    fn dump_rtree(&self, schema: &ArraySchema, out: &mut dyn Write) -> fmt::Result {
        let tree = &self.contents.rtree;
        let kinds = schema.domain().kinds();
        writeln!(out, "R-tree of {} leaves, fanout {}", tree.leaf_count(), tree.fanout())?;
        for leaf in 0..tree.leaf_count() {
            if let Some(mbr) = tree.mbr(leaf) {
                writeln!(out, "  tile {leaf}: {}", mbr.display(&kinds))?;
            }
        }
        Ok(())
    }
}

/// Writes the available statistics as one line.
fn dump_values(
    label: &str,
    datatype: Datatype,
    rules: &StatisticsRules,
    values: &ValueStatistics<'_>,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut line = String::new();
    let mut add = |name: &str, statistic: Statistic<String>| match statistic {
        Statistic::Absent => Ok(()),
        Statistic::Present(value) => write!(line, " {name} {value}"),
        Statistic::Untrustworthy(value, why) => write!(line, " {name} {value} ({why})"),
    };
    add("min", values.min.map(|bytes| value(datatype, bytes)))?;
    add("max", values.max.map(|bytes| value(datatype, bytes)))?;
    add("sum", values.sum.map(|sum| sum.to_string()))?;
    if rules.nullable {
        add("nulls", values.null_count.map(|count| count.to_string()))?;
    }
    if line.is_empty() { Ok(()) } else { writeln!(out, "  {label}:{line}") }
}

fn datatype(field: FragmentField, schema: &ArraySchema) -> Datatype {
    match field {
        FragmentField::Attribute(index) => schema.attributes().get(index).map(Attribute::datatype),
        FragmentField::Dimension(index) => schema.domain().dimensions().get(index).map(Dimension::datatype),
        FragmentField::Coordinates => Some(Datatype::Blob),
        _ => Some(Datatype::UInt64),
    }
    .unwrap_or(Datatype::Blob)
}

/// Formats a value: a number, a quoted string, or bytes in hexadecimal.
fn value(datatype: Datatype, bytes: &[u8]) -> String {
    if matches!(datatype, Datatype::Char | Datatype::StringAscii) {
        return format!("\"{}\"", bytes.escape_ascii());
    }
    match Scalar::from_le_bytes(datatype.physical(), bytes) {
        Some(scalar) => scalar.to_string(),
        None => bytes.iter().fold(String::from("0x"), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    }
}
