//! Least and greatest values, sums and null counts: of each tile, and of the whole fragment.
//!
//! The reference library computes them in ways that at times make them wrong (see [`Distrust`]); what is known to be
//! sound comes as [`Statistic::Present`], and only that may decide what a query returns.

mod judge;
mod rules;

use std::fmt;

use tdb_types::{ByteReader, ByteWriter, Result};

use judge::{Source, Stored};
pub use rules::StatisticsRules;

use super::TileValues;
use crate::tiles::Tiles;

/// What the metadata says about some cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic<T> {
    /// Nothing: the format computes none for the field, or all the cells are null.
    Absent,
    /// A value that can be relied on.
    Present(T),
    /// A value that may be wrong.
    Untrustworthy(T, Distrust),
}

impl<T> Statistic<T> {
    /// The value, if it can be relied on.
    #[must_use]
    pub fn trusted(self) -> Option<T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent | Self::Untrustworthy(..) => None,
        }
    }

    /// For a least or greatest value: one beyond which none of the cells lies, although none may lie at it either.
    #[must_use]
    pub fn bound(self) -> Option<T> {
        match self {
            Self::Present(value) | Self::Untrustworthy(value, Distrust::EdgeTile) => Some(value),
            Self::Absent | Self::Untrustworthy(..) => None,
        }
    }

    /// The value as stored, whether it can be relied on or not.
    #[must_use]
    pub fn stored(self) -> Option<T> {
        match self {
            Self::Present(value) | Self::Untrustworthy(value, _) => Some(value),
            Self::Absent => None,
        }
    }

    /// The same, with another value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Statistic<U> {
        match self {
            Self::Absent => Statistic::Absent,
            Self::Present(value) => Statistic::Present(change(value)),
            Self::Untrustworthy(value, why) => Statistic::Untrustworthy(change(value), why),
        }
    }

    fn new(value: T, distrust: Option<Distrust>) -> Self {
        match distrust {
            Some(distrust) => Self::Untrustworthy(value, distrust),
            None => Self::Present(value),
        }
    }
}

/// Why a statistic may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Distrust {
    /// The place of `__coords` in the lists is filled with zeros.
    NeverFilled,
    /// Before format 21, statistics of fixed-size strings were not computed, or took nulls for values.
    FixedStringsBefore21,
    /// The totals of nullable fixed-size strings mix up tiles once a tile is all null.
    NullableStringTotals,
    /// In dense fragments, validity is counted wrongly for fields of variable size and for those without least and
    /// greatest value, when a tile was written in several slabs.
    DenseNullable,
    /// Nulls are not counted for variable-size fields without least and greatest value, nor for wide strings; before
    /// format 21, not always for other fields without least and greatest value.
    NeverCounted,
    /// In dense fragments with fewer tiles than attributes, the values of variable-size fields are those of other tiles:
    /// all but the last were overwritten.
    DenseVarTiles,
    /// A NaN among the values takes the place of the least and greatest value met before it; the sum tells that there is
    /// one, or can't tell.
    MayHideNan,
    /// Strings were compared up to the first NUL only.
    ComparedUpToNul,
    /// The sum left the range of its type and stopped there, or may have done so before it came back.
    Saturated,
    /// Part of a dense tile lies outside the fragment's non-empty domain. Consolidation counts those cells as well, and
    /// before format 16 everyone did.
    EdgeTile,
    /// The value can't be: more nulls than cells, a value of another size than the field's.
    Impossible,
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverFilled => "never filled",
            Self::FixedStringsBefore21 => "fixed-size strings before format 21",
            Self::NullableStringTotals => "totals of nullable strings",
            Self::DenseNullable => "nulls of a dense fragment",
            Self::NeverCounted => "never counted",
            Self::DenseVarTiles => "of another tile",
            Self::MayHideNan => "may hide a NaN",
            Self::ComparedUpToNul => "compared up to NUL",
            Self::Saturated => "saturated",
            Self::EdgeTile => "edge tile",
            Self::Impossible => "impossible",
        })
    }
}

/// The sum of some values, in the widest type of their kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    /// Of signed integers, characters, dates and times.
    I64(i64),
    /// Of unsigned integers and booleans.
    U64(u64),
    /// Of floats.
    F64(f64),
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::I64(sum) => sum.fmt(f),
            Self::U64(sum) => sum.fmt(f),
            Self::F64(sum) => sum.fmt(f),
        }
    }
}

/// Least and greatest value, sum and null count of some cells of one field. Null cells count only in the last.
///
/// Values are little-endian, in the field's datatype. Characters and strings compare as unsigned bytes, shorter prefix
/// first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueStatistics<'a> {
    /// The least value.
    pub min: Statistic<&'a [u8]>,
    /// The greatest value.
    pub max: Statistic<&'a [u8]>,
    /// The sum of the values.
    pub sum: Statistic<Sum>,
    /// How many cells are null.
    pub null_count: Statistic<u64>,
}

/// The statistics of all tiles of a field, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileStatistics {
    /// The least values.
    pub mins: TileValues,
    /// The greatest values.
    pub maxs: TileValues,
    /// The bits of the sums; none, or one per tile.
    pub sums: Vec<u64>,
    /// The null counts; none, or one per tile.
    pub null_counts: Vec<u64>,
}

impl TileStatistics {
    /// What is known of one tile.
    #[must_use]
    pub fn tile(&self, tile: u64, tiles: &Tiles, rules: &StatisticsRules) -> ValueStatistics<'_> {
        let at = |values: &[u64]| values.get(usize::try_from(tile).ok()?).copied();
        let cells = tiles.visible_cells_in(tile).unwrap_or(0);
        rules.judge(&Stored {
            min: self.mins.get(tile),
            max: self.maxs.get(tile),
            sum: at(&self.sums),
            null_count: at(&self.null_counts),
            cells,
            edge: cells < tiles.cells_in(tile).unwrap_or(0),
            source: source_of_tiles(tiles),
        })
    }

    /// Bytes of memory that the statistics take.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.mins.memory_used() + self.maxs.memory_used() + 8 * (self.sums.capacity() + self.null_counts.capacity())
    }
}

/// The statistics of one field over the whole fragment, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldTotals {
    /// The least value; empty if there is none.
    pub min: Vec<u8>,
    /// The greatest value; empty if there is none.
    pub max: Vec<u8>,
    /// The bits of the sum.
    pub sum: u64,
    /// How many cells are null.
    pub null_count: u64,
}

impl FieldTotals {
    fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        let size = reader.u64("min size")?;
        let min = reader.bytes("min", size)?.to_vec();
        let size = reader.u64("max size")?;
        let max = reader.bytes("max", size)?.to_vec();
        Ok(Self { min, max, sum: reader.u64("sum")?, null_count: reader.u64("null count")? })
    }

    fn write(&self, writer: &mut ByteWriter) {
        for value in [&self.min, &self.max] {
            writer.u64(value.len() as u64);
            writer.bytes(value);
        }
        writer.u64_list(&[self.sum, self.null_count]);
    }

    /// What is known of the field in the whole fragment.
    #[must_use]
    pub fn judge(&self, tiles: &Tiles, rules: &StatisticsRules) -> ValueStatistics<'_> {
        // A string may be empty, so only when both are does an empty one mean that there is none.
        let there = !(self.min.is_empty() && self.max.is_empty());
        let cells = tiles.visible_cell_count();
        rules.judge(&Stored {
            min: there.then_some(&*self.min),
            max: there.then_some(&*self.max),
            sum: Some(self.sum),
            null_count: Some(self.null_count),
            cells,
            edge: cells < tiles.cell_count(),
            source: if tiles.count() > 1 { Source::Tiles } else { source_of_tiles(tiles) },
        })
    }
}

fn source_of_tiles(tiles: &Tiles) -> Source {
    match tiles {
        Tiles::Dense(_) => Source::Slabs,
        Tiles::Sparse(_) => Source::OnePass,
    }
}

/// The statistics of the whole fragment: one entry per field, in the order of the footer's lists.
///
/// ```text
/// fields × { u64 size | min | u64 size | max | 8 bytes sum | u64 null count }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FragmentStatistics(pub Vec<FieldTotals>);

impl FragmentStatistics {
    /// Reads the statistics of `fields` fields.
    ///
    /// # Errors
    /// Truncated.
    pub fn parse(reader: &mut ByteReader<'_>, fields: usize) -> Result<Self> {
        let fields = reader.count("fragment statistics", fields as u64, 32)?;
        let totals = (0..fields).map(|field| reader.group(|| format!("field {field}"), FieldTotals::parse));
        totals.collect::<Result<_>>().map(Self)
    }

    /// Writes what [`parse`](Self::parse) reads.
    pub fn write(&self, writer: &mut ByteWriter) {
        for totals in &self.0 {
            totals.write(writer);
        }
    }
}

#[cfg(test)]
mod tests;
