//! Least and greatest values, sums and null counts: of each tile, and of the whole fragment.
//!
//! The reference library computes them in ways that at times make them wrong (see [`Distrust`]); what is known to be
//! sound comes as [`Statistic::Present`], and only that may decide what a query returns.

mod judge;
mod known;
mod rules;
mod trust;

use tdb_types::{ByteReader, ByteWriter, Result};

use judge::{Source, Stored};
pub use known::{Sum, ValueStatistics};
pub use rules::StatisticsRules;
pub use trust::{Distrust, Statistic};

use super::TileValues;
use crate::tiles::Tiles;

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
        self.entry(tile, tile, tiles, rules)
    }

    /// What is known of one tile, where these are the statistics of some tiles only: those of the tile stand at `entry`.
    #[must_use]
    pub fn entry(&self, entry: u64, tile: u64, tiles: &Tiles, rules: &StatisticsRules) -> ValueStatistics<'_> {
        let at = |values: &[u64]| values.get(usize::try_from(entry).ok()?).copied();
        let cells = tiles.visible_cells_in(tile).unwrap_or(0);
        rules.judge(&Stored {
            min: self.mins.get(entry),
            max: self.maxs.get(entry),
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
