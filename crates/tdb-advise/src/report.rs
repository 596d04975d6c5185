//! What came of looking at an array.

use tdb_array::tdb_storage::Counters;
use tdb_types::CellValNum;

use crate::advice::{Advice, AdviceLevel};
use crate::costs::scaled;

/// What was looked at in an array or group, and what could be better.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AdviceReport {
    /// What could be better: what saves most first, notes last.
    pub advice: Vec<Advice>,
    /// The fields that fragments store, in the order of the metadata.
    pub fields: Vec<FieldFacts>,
    /// What was tried on a sample, if one was wanted.
    pub trials: Vec<FieldTrials>,
    /// Fragments that count.
    pub fragments: u64,
    /// Their tiles.
    pub tiles: u64,
    /// Their cells; of dense ones those of their non-empty domains.
    pub cells: u64,
    /// Bytes of their data files.
    pub stored: u64,
    /// Bytes of their metadata.
    pub metadata: u64,
    /// Of how many fragments more than the footer was read; of the others it was concluded from these.
    pub looked_into: u64,
    /// What opening the array and all footers asked of the storage.
    pub opening: Counters,
    /// What all of this asked of it.
    pub read: Counters,
}

/// What is stored of a field in all fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldFacts {
    /// The name of the attribute or dimension, or the format's own.
    pub name: String,
    /// Whether the field is an attribute of the array.
    pub is_attribute: bool,
    /// Values of a cell.
    pub cell_val_num: CellValNum,
    /// Filtered bytes: of cells or offsets, of values of cells of variable length, of validity.
    pub stored: [u64; 3],
    /// The same before the filters. Of values of cells of variable length it is concluded from some fragments, if there are many.
    pub decoded: [u64; 3],
    /// Bytes of the field's largest tile before the filters, and about as many as its tiles have after them.
    pub tile: (u64, u64),
    /// The array's list of filters.
    pub filters: String,
}

/// What other filters make of a sample of a field's tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldTrials {
    /// The field.
    pub name: String,
    /// Tiles in the sample.
    pub tiles: u64,
    /// Cells in them.
    pub cells: u64,
    /// Their bytes before the filters.
    pub decoded: u64,
    /// What each list makes of them; the array's own is the first.
    pub trials: Vec<Trial>,
    /// What the array's own list makes of the same cells in tiles of other sizes: how many times as many cells a tile has in
    /// percent, and the bytes.
    pub sizes: Vec<(u64, u64)>,
    /// What the array's own list gives filter by filter: the bytes behind the first one, the first two, ….
    pub stages: Vec<(String, u64)>,
    /// How many different values there were, if it were few.
    pub different: Option<u64>,
}

/// What a list of filters makes of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trial {
    /// The list.
    pub filters: String,
    /// Bytes behind the filters.
    pub stored: u64,
    /// How long it took to filter the sample, in nanoseconds.
    pub encoding: u64,
    /// How long it took to unfilter it.
    pub decoding: u64,
}

impl FieldFacts {
    /// Filtered bytes of all parts.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Bytes of all parts before the filters.
    #[must_use]
    pub fn decoded_bytes(&self) -> u64 {
        self.decoded.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

impl FieldTrials {
    /// The list among those that were tried that stores least; of those that come near, the earliest. None if nothing was tried.
    #[must_use]
    pub fn best(&self) -> Option<&Trial> {
        let least = self.trials.iter().map(|trial| trial.stored).min()?;
        let near = least.saturating_add(scaled(least, super::costs::NEARLY, 100));
        self.trials.iter().find(|trial| trial.stored <= near)
    }
}

impl AdviceReport {
    /// Whether there is nothing to mend: notes are all that there is.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.advice.iter().all(|advice| advice.level == AdviceLevel::Note)
    }
}
