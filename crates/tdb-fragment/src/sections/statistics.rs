//! Minimums, maximums, sums and null counts, per tile and for the whole fragment.
//!
//! Some statistics computed by the reference library are wrong (see [`UntrustedReason`]). Reliable
//! statistics are [`Statistic::Present`]. The result of a query may depend only on these, and on
//! the bounds of [`Statistic::bound`].

mod judge;
mod known;
mod rules;
mod trust;

use tdb_types::{ByteReader, ByteWriter, Result};

use judge::{Source, Stored};
pub use known::{Sum, ValueStatistics};
pub use rules::StatisticsRules;
pub use trust::{Statistic, UntrustedReason};

use super::TileValues;
use crate::tiles::Tiles;

/// The statistics of all tiles of a field, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileStatistics {
    /// The minimums.
    pub mins: TileValues,
    /// The maximums.
    pub maxs: TileValues,
    /// The bits of the sums, one per tile. The bits are an `i64`, `u64` or `f64`, by the datatype
    /// of the field (see [`Sum`]). May be empty.
    pub sums: Vec<u64>,
    /// The null counts, one per tile. May be empty.
    pub null_counts: Vec<u64>,
}

impl TileStatistics {
    /// Returns the statistics of a tile, judged by `rules`.
    #[must_use]
    pub fn tile(&self, tile: u64, tiles: &Tiles, rules: &StatisticsRules) -> ValueStatistics<'_> {
        self.entry(tile, tile, tiles, rules)
    }

    /// Returns the statistics of a tile from a partial list, in which the tile has index `entry`.
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

    /// Returns the memory use of the statistics in bytes.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.mins.memory_used() + self.maxs.memory_used() + 8 * (self.sums.capacity() + self.null_counts.capacity())
    }
}

/// The statistics of a field in the whole fragment, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldTotals {
    /// The minimum. Empty if absent.
    pub min: Vec<u8>,
    /// The maximum. Empty if absent.
    pub max: Vec<u8>,
    /// The bits of the sum.
    pub sum: u64,
    /// The number of null cells.
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

    /// Returns the statistics of the field, judged by `rules`.
    #[must_use]
    pub fn judge(&self, tiles: &Tiles, rules: &StatisticsRules) -> ValueStatistics<'_> {
        // An empty string is a valid minimum. The statistics are therefore absent only if the
        // minimum and the maximum are empty.
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

/// The statistics of the whole fragment, one entry per field in slot order.
///
/// ```text
/// fields × { u64 size | min | u64 size | max | 8 bytes sum | u64 null count }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FragmentStatistics(pub Vec<FieldTotals>);

impl FragmentStatistics {
    /// Parses the statistics of `fields` fields.
    ///
    /// # Errors
    /// Fails if the bytes are truncated.
    pub fn parse(reader: &mut ByteReader<'_>, fields: usize) -> Result<Self> {
        let fields = reader.count("fragment statistics", fields as u64, 32)?;
        let totals = (0..fields).map(|field| reader.group(|| format!("field {field}"), FieldTotals::parse));
        totals.collect::<Result<_>>().map(Self)
    }

    /// Writes the statistics, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        for totals in &self.0 {
            totals.write(writer);
        }
    }
}

#[cfg(test)]
mod tests;
