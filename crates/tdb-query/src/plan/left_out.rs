//! What a query needn't look at, and what says so.

use std::fmt;

/// Fragments that a query reads nothing of, by what says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentsLeftOut {
    /// They were written at times outside of those that the array was opened at.
    pub time: usize,
    /// None of their cells lies in the query's ranges.
    pub region: usize,
    /// None of their cells fulfils the query's condition, as their totals say: least and greatest value and number of nulls of a
    /// field in the whole fragment.
    pub totals: usize,
    /// Newer fragments hide all their cells that lie in the query's ranges (dense arrays).
    pub hidden: usize,
}

/// Tiles of a fragment that hold no cell which fulfils the query's condition, and what says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedTiles {
    /// What says so.
    pub by: PrunedBy,
    /// How many there are.
    pub tiles: u64,
}

/// What says that no cell of a tile fulfils a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PrunedBy {
    /// The box that the tile's coordinates lie in.
    Box,
    /// The statistics of a field: its least and greatest value and its number of nulls in the tile.
    Statistics(String),
    /// The totals of the fragment: the same of all its tiles.
    Totals,
    /// Several of these together.
    Several,
    /// The fragment doesn't have the condition's fields, and their fill values don't fulfil it.
    FillValues,
}

impl FragmentsLeftOut {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.time + self.region + self.totals + self.hidden
    }
}

/// How many, and why: what `tdb read --explain` shows.
impl fmt::Display for FragmentsLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.time, "of other times"),
            (self.region, "outside of the ranges"),
            (self.totals, "by their totals"),
            (self.hidden, "hidden by newer ones"),
        ];
        let reasons = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> = reasons.map(|(count, why)| format!("{count} {why}")).collect();
        f.write_str(&reasons.join(", "))
    }
}

impl fmt::Display for PrunedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box => f.write_str("their boxes"),
            Self::Statistics(field) => write!(f, "the statistics of {field}"),
            Self::Totals => f.write_str("the fragment's totals"),
            Self::Several => f.write_str("boxes and statistics together"),
            Self::FillValues => f.write_str("the fill values of fields that the fragment lacks"),
        }
    }
}

impl PrunedTiles {
    /// Counts one more tile.
    pub fn add(pruned: &mut Vec<Self>, by: PrunedBy) {
        match pruned.iter_mut().find(|known| known.by == by) {
            Some(known) => known.tiles += 1,
            None => pruned.push(Self { by, tiles: 1 }),
        }
    }
}
