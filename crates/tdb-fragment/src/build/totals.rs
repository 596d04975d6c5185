//! Statistics of all tiles of a field, and of the field in the whole fragment.

use super::kind::{Bounds, StatisticsKind};
use super::tile::TileSummary;
use super::{numbers, strings};
use crate::sections::{FieldTotals, TileStatistics, TileValues};

/// An accumulator of the statistics of a field's tiles, in order, and of the fragment's totals.
///
/// ```
/// use tdb_fragment::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_fragment::tdb_types::{Cells, Datatype};
/// use tdb_fragment::{FieldSummarizer, FragmentField, StatisticsKind, TileSummarizer};
///
/// let x = Dimension::new("x", 0i32..=9);
/// let schema = SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::UInt8)).build()?;
/// let kind = StatisticsKind::of(&schema, FragmentField::Attribute(0));
/// let mut field = FieldSummarizer::new(kind);
/// for tile in [[3, 1, 4], [1, 5, 9]] {
///     field.push(&TileSummarizer::whole(kind, &Cells::fixed(&tile, 1)));
/// }
/// let (tiles, totals) = field.finish();
/// assert_eq!((tiles.sums, totals.sum, totals.max), (vec![8, 15], 23, vec![9]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FieldSummarizer {
    kind: StatisticsKind,
    tiles: TileStatistics,
    totals: FieldTotals,
    /// `true` if the sum overflowed.
    stopped: bool,
    /// `true` if `totals` has a minimum and maximum string.
    found: bool,
}

impl FieldSummarizer {
    /// Creates an accumulator without tiles.
    #[must_use]
    pub fn new(kind: StatisticsKind) -> Self {
        let mut totals = FieldTotals::default();
        match kind.bounds {
            Some(Bounds::Number(physical)) => {
                let (min, max) = numbers::no_bounds(physical);
                (totals.min, totals.max) = (min[..physical.size()].to_vec(), max[..physical.size()].to_vec());
            }
            Some(Bounds::Zeros { total, .. }) => (totals.min, totals.max) = (vec![0; total], vec![0; total]),
            _ => {}
        }
        Self { kind, tiles: TileStatistics::default(), totals, stopped: false, found: false }
    }

    /// Adds the statistics of the next tile.
    pub fn push(&mut self, tile: &TileSummary) {
        match self.kind.bounds {
            Some(Bounds::Number(_) | Bounds::FixedString(_)) => {
                push_fixed(&mut self.tiles.mins, &tile.min);
                push_fixed(&mut self.tiles.maxs, &tile.max);
            }
            Some(Bounds::Zeros { tile, .. }) => {
                push_fixed(&mut self.tiles.mins, &vec![0; tile]);
                push_fixed(&mut self.tiles.maxs, &vec![0; tile]);
            }
            Some(Bounds::VarString) => {
                push_var(&mut self.tiles.mins, &tile.min);
                push_var(&mut self.tiles.maxs, &tile.max);
            }
            None => {}
        }
        if self.kind.sum.is_some() {
            self.tiles.sums.push(tile.sum);
        }
        if self.kind.nullable {
            self.tiles.null_counts.push(tile.null_count);
            self.totals.null_count = self.totals.null_count.saturating_add(tile.null_count);
        }
        if !tile.all_null {
            self.join_bounds(tile);
            self.add(tile.sum);
        }
    }

    fn join_bounds(&mut self, tile: &TileSummary) {
        let FieldTotals { min, max, .. } = &mut self.totals;
        let compare = match self.kind.bounds {
            Some(Bounds::Number(physical)) => return numbers::join(physical, min, max, &tile.min, &tile.max),
            Some(Bounds::FixedString(_)) => strings::compare_fixed,
            Some(Bounds::VarString) => strings::compare_var,
            Some(Bounds::Zeros { .. }) | None => return,
        };
        if !self.found || compare(min, &tile.min).is_gt() {
            min.clone_from(&tile.min);
        }
        if !self.found || compare(max, &tile.max).is_lt() {
            max.clone_from(&tile.max);
        }
        self.found = true;
    }

    /// Adds the sum of a tile. Fields of a single `char` have sums per tile but no total.
    fn add(&mut self, sum: u64) {
        let text = matches!(self.kind.bounds, Some(Bounds::FixedString(_)));
        let Some(physical) = self.kind.sum.filter(|_| !self.stopped && !text) else { return };
        match numbers::plus(physical, self.totals.sum, sum) {
            Ok(sum) => self.totals.sum = sum,
            Err(end) => {
                self.totals.sum = end;
                self.stopped = true;
            }
        }
    }

    /// Removes and returns the statistics of the tiles added since the last call. The totals still
    /// include them.
    #[must_use]
    pub fn take_tiles(&mut self) -> TileStatistics {
        std::mem::take(&mut self.tiles)
    }

    /// Returns the statistics of the tiles, and the totals.
    #[must_use]
    pub fn finish(self) -> (TileStatistics, FieldTotals) {
        (self.tiles, self.totals)
    }
}

fn push_fixed(values: &mut TileValues, value: &[u8]) {
    match values {
        TileValues::Fixed { bytes, .. } => bytes.extend_from_slice(value),
        _ => *values = TileValues::Fixed { size: value.len(), bytes: value.to_vec() },
    }
}

fn push_var(values: &mut TileValues, value: &[u8]) {
    match values {
        TileValues::Var { offsets, bytes } => {
            offsets.push(bytes.len() as u64);
            bytes.extend_from_slice(value);
        }
        _ => *values = TileValues::Var { offsets: vec![0], bytes: value.to_vec() },
    }
}
