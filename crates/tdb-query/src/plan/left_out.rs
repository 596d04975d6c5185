//! Skipped fragments and tiles, with reasons.

use std::fmt;

/// The number of fragments skipped by a query, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentsLeftOut {
    /// Fragments written outside of the opened time range.
    pub time: usize,
    /// Fragments without a cell in the query's ranges.
    pub region: usize,
    /// Fragments without a cell that meets the query's condition, according to the non-empty
    /// domain, to totals or to fill values. Totals are the minimum, maximum and null count of a
    /// field over the whole fragment.
    pub totals: usize,
    /// Fragments of dense arrays hidden by newer fragments in all of the query's ranges.
    pub hidden: usize,
}

/// The number of tiles of a fragment pruned for the same reason. No cell of these tiles meets the
/// query's condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedTiles {
    /// The evidence that no cell meets the condition.
    pub by: PrunedBy,
    /// The number of pruned tiles.
    pub tiles: u64,
}

/// The evidence for pruning a tile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PrunedBy {
    /// The MBR of the tile.
    Box,
    /// The statistics of a field in the tile: minimum, maximum and null count.
    Statistics(String),
    /// The totals of the fragment (statistics over all tiles), or its non-empty domain.
    Totals,
    /// Several kinds of evidence together.
    Several,
    /// The fragment lacks the condition's fields, and the fill values do not meet the condition.
    FillValues,
}

impl FragmentsLeftOut {
    /// Returns the number of skipped fragments.
    #[must_use]
    pub fn count(&self) -> usize {
        self.time + self.region + self.totals + self.hidden
    }
}

/// Formats the number of skipped fragments for each reason, for `tdb read --explain`.
impl fmt::Display for FragmentsLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.time, "outside of the time range"),
            (self.region, "outside of the ranges"),
            (self.totals, "by fragment statistics"),
            (self.hidden, "hidden by newer fragments"),
        ];
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> = reasons.map(|(count, why)| format!("{count} {why}")).collect();
        f.write_str(&reasons.join(", "))
    }
}

impl fmt::Display for PrunedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box => f.write_str("the tile MBRs"),
            Self::Statistics(field) => write!(f, "the tile statistics of {field}"),
            Self::Totals => f.write_str("the fragment statistics"),
            Self::Several => f.write_str("MBRs and statistics combined"),
            Self::FillValues => f.write_str("the fill values of fields that the fragment does not have"),
        }
    }
}

impl PrunedTiles {
    /// Adds one tile to the count for its reason.
    pub fn add(pruned: &mut Vec<Self>, by: PrunedBy) {
        match pruned.iter_mut().find(|known| known.by == by) {
            Some(known) => known.tiles += 1,
            None => pruned.push(Self { by, tiles: 1 }),
        }
    }
}
