//! The stored form of R-trees.

use tdb_types::{ByteReader, ByteWriter, Datatype, DecodeError, Feature, FormatVersion};

use super::RTree;
use crate::DimensionKind;
use crate::column::Column;

impl RTree {
    /// Reads a tree from its section of the fragment metadata. `version` is the format version of
    /// the fragment.
    ///
    /// The payload is the `u32` fanout and the `u32` number of levels. Each level, from the root
    /// down, follows as a `u64` number of MBRs, and MBRs as read by
    /// [`NdRange::parse`](crate::NdRange::parse). Versions with combined coordinates store a `u32`
    /// number of dimensions before the fanout, and the code of the coordinates' datatype after it.
    ///
    /// The stored number of levels is trusted, because writers compute it in floating point. Each
    /// level must have exactly the number of parents that the next level needs. Inner nodes need
    /// not contain their children (see [`is_covering`](Self::is_covering)).
    ///
    /// # Errors
    /// Fails if the bytes are truncated, counts are inconsistent, the fanout is less than 2, a
    /// range descends, or there are no dimensions.
    pub fn parse(
        reader: &mut ByteReader<'_>,
        kinds: &[DimensionKind],
        version: FormatVersion,
    ) -> Result<Self, DecodeError> {
        reader.group(
            || "R-tree".to_owned(),
            |reader| {
                check_dimensions(reader, kinds)?;
                let fanout = parse_fanout(reader, kinds, version)?;
                let mut tree = Self::empty(kinds, fanout);
                tree.columns.iter_mut().for_each(|column| column.distrust(version));
                let levels = reader.u32("level count")?;
                reader.count("level count", u64::from(levels), 8)?;
                for level in 0..levels {
                    reader.group(|| format!("level {level}"), |reader| tree.parse_level(reader))?;
                }
                tree.check_covering();
                Ok(tree)
            },
        )
    }

    /// Reads a `u64` number of MBRs and the MBRs, and builds the inner nodes. Fragment metadata of
    /// versions without an R-tree store MBRs in this form.
    ///
    /// # Errors
    /// Fails if the bytes are truncated, a range descends, or there are no dimensions.
    pub fn parse_mbrs(reader: &mut ByteReader<'_>, kinds: &[DimensionKind]) -> Result<Self, DecodeError> {
        let mut leaves = Self::empty(kinds, Self::FANOUT);
        check_dimensions(reader, kinds)?;
        reader.group(|| "MBRs".to_owned(), |reader| leaves.parse_level(reader))?;
        Ok(leaves.with_inner_levels())
    }

    /// Writes the tree, the inverse of [`parse`](Self::parse). A tree parsed with the same
    /// `version` is written to the same bytes.
    pub fn write(&self, writer: &mut ByteWriter, version: FormatVersion) {
        if version.has(Feature::CombinedCoordinates) {
            writer.u32(u32::try_from(self.kinds.len()).unwrap_or(u32::MAX));
            writer.u32(self.fanout);
            combined_datatype(&self.kinds).write(writer);
        } else {
            writer.u32(self.fanout);
        }
        writer.u32(u32::try_from(self.level_count()).unwrap_or(u32::MAX));
        for level in 0..self.level_count() {
            self.write_level(level, writer);
        }
    }

    /// Writes the MBRs of the tiles, the inverse of [`parse_mbrs`](Self::parse_mbrs).
    pub fn write_mbrs(&self, writer: &mut ByteWriter) {
        if self.level_count() == 0 {
            writer.u64(0);
        } else {
            self.write_level(self.level_count() - 1, writer);
        }
    }

    fn parse_level(&mut self, reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
        let offset = reader.offset();
        let found = reader.u64("MBR count")?;
        let stored_len = self.kinds.iter().map(|kind| kind.min_stored_len()).fold(0, u64::saturating_add);
        let count = reader.count("MBR count", found, stored_len)?;
        if self.level_count() > 0 {
            let above = self.level(self.level_count() - 1).len();
            if above != count.div_ceil(self.fanout_usize().max(1)) {
                let expected =
                    "as many MBRs as the level above can hold, with the fanout below each MBR except the last";
                return Err(DecodeError::invalid("MBR count", offset, format!("{found} below {above}"), expected));
            }
        }
        for column in &mut self.columns {
            column.reserve(count);
        }
        if self.kinds.iter().any(|kind| kind.var) || reader.spans().is_some() {
            self.parse_one_by_one(reader, count)?;
        } else {
            self.parse_at_once(reader, count, stored_len)?;
        }
        self.starts.push(self.starts.last().copied().unwrap_or_default().saturating_add(count));
        Ok(())
    }

    /// Reads MBRs one at a time, for variable lengths or with a record attached.
    fn parse_one_by_one(&mut self, reader: &mut ByteReader<'_>, count: usize) -> Result<(), DecodeError> {
        for index in 0..count {
            reader.group(|| format!("MBR {index}"), |reader| self.parse_mbr(reader))?;
        }
        Ok(())
    }

    fn parse_mbr(&mut self, reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
        for (dimension, column) in self.columns.iter_mut().enumerate() {
            reader.group(|| format!("dimension {dimension}"), |reader| column.read(reader))?;
        }
        Ok(())
    }

    /// Reads MBRs of constant length, one dimension at a time.
    fn parse_at_once(&mut self, reader: &mut ByteReader<'_>, count: usize, len: u64) -> Result<(), DecodeError> {
        let body = reader.sub("MBRs", len.saturating_mul(count as u64))?;
        let stride = self.kinds.iter().map(|kind| 2 * kind.datatype.size()).sum();
        let mut at = 0;
        for (dimension, (column, kind)) in self.columns.iter_mut().zip(&self.kinds).enumerate() {
            if let Column::Fixed(column) = column {
                let backwards = |(index, error): (usize, DecodeError)| {
                    error.inside(format!("dimension {dimension}")).inside(format!("MBR {index}"))
                };
                column.extend_strided(body.rest(), body.offset(), stride, at).map_err(backwards)?;
            }
            at += 2 * kind.datatype.size();
        }
        Ok(())
    }

    fn write_level(&self, level: usize, writer: &mut ByteWriter) {
        let nodes = self.level(level);
        writer.u64(nodes.len() as u64);
        for node in nodes {
            for column in &self.columns {
                column.write(node, writer);
            }
        }
    }
}

fn check_dimensions(reader: &ByteReader<'_>, kinds: &[DimensionKind]) -> Result<(), DecodeError> {
    if kinds.is_empty() {
        return Err(DecodeError::invalid("dimensions", reader.offset(), 0, "at least one dimension"));
    }
    Ok(())
}

fn parse_fanout(
    reader: &mut ByteReader<'_>,
    kinds: &[DimensionKind],
    version: FormatVersion,
) -> Result<u32, DecodeError> {
    let combined = version.has(Feature::CombinedCoordinates);
    if combined {
        let offset = reader.offset();
        let dimensions = reader.u32("dimension count")?;
        if usize::try_from(dimensions) != Ok(kinds.len()) {
            let expected = "the number of dimensions in the schema";
            return Err(DecodeError::invalid("dimension count", offset, dimensions, expected));
        }
    }
    let offset = reader.offset();
    let fanout = reader.u32("fanout")?;
    if fanout < 2 {
        return Err(DecodeError::invalid("fanout", offset, fanout, "at least 2"));
    }
    if combined {
        let offset = reader.offset();
        let datatype = Datatype::read(reader, "coordinate datatype")?;
        if datatype != combined_datatype(kinds) {
            let expected = "the datatype of the schema's dimensions";
            return Err(DecodeError::invalid("coordinate datatype", offset, datatype, expected));
        }
    }
    Ok(fanout)
}

/// Returns the datatype shared by all dimensions in versions with combined coordinates.
fn combined_datatype(kinds: &[DimensionKind]) -> Datatype {
    kinds.first().map_or(Datatype::Any, |kind| kind.datatype)
}
