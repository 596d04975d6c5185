//! The report on an array.

use tdb_array::tdb_storage::Counters;
use tdb_types::CellValNum;

use crate::advice::{Advice, AdviceLevel};
use crate::costs::scaled;

/// The report on an array or group.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AdviceReport {
    /// Advice, largest saving first, notes last.
    pub advice: Vec<Advice>,
    /// Stored fields, in the order of the fragment metadata.
    pub fields: Vec<FieldFacts>,
    /// Results of the trials on a sample, if requested.
    pub trials: Vec<FieldTrials>,
    /// Number of visible fragments.
    pub fragments: u64,
    /// Number of tiles in these fragments.
    pub tiles: u64,
    /// Number of cells in these fragments. Dense fragments count their non-empty domains.
    pub cells: u64,
    /// Size of the data files in bytes.
    pub stored: u64,
    /// Size of the fragment metadata in bytes.
    pub metadata: u64,
    /// Number of fragments whose sections were read, in addition to the footers. These fragments
    /// represent all fragments.
    pub looked_into: u64,
    /// I/O counters for opening the array and reading all footers.
    pub opening: Counters,
    /// I/O counters for the whole examination.
    pub read: Counters,
}

/// Facts about a field in all fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldFacts {
    /// Name of the attribute or dimension, or a reserved name.
    pub name: String,
    /// `true` if the field is an attribute of the array.
    pub is_attribute: bool,
    /// Number of values per cell.
    pub cell_val_num: CellValNum,
    /// Filtered sizes in bytes: cells or offsets, variable-length values, validity.
    pub stored: [u64; 3],
    /// Unfiltered sizes in bytes, in the same order. With many fragments, the size of
    /// variable-length values is an estimate.
    pub decoded: [u64; 3],
    /// Unfiltered size of the largest tile in a single file, and average filtered size of a tile in
    /// all files of the field, in bytes.
    pub tile: (u64, u64),
    /// Filter list in the array's schema.
    pub filters: String,
}

/// Results of filter lists on a sample of a field's tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldTrials {
    /// Name of the field.
    pub name: String,
    /// Number of tiles in the sample.
    pub tiles: u64,
    /// Number of cells in the sample.
    pub cells: u64,
    /// Unfiltered size of the sample in bytes.
    pub decoded: u64,
    /// Result of each filter list that supports the sample. The array's list comes first.
    pub trials: Vec<Trial>,
    /// Results of the array's filter list with other tile sizes: cells per tile in percent of the
    /// current number, and the filtered size in bytes.
    pub sizes: Vec<(u64, u64)>,
    /// Sizes after each filter of the array's list: after the first, after the first two, and so
    /// on.
    pub stages: Vec<(String, u64)>,
    /// Number of distinct values of a variable-length field. `None` for more than 256 distinct
    /// values, or for a fixed-size field.
    pub different: Option<u64>,
}

/// Result of a filter list on a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trial {
    /// The filter list.
    pub filters: String,
    /// Filtered size in bytes.
    pub stored: u64,
    /// Time to filter the sample in nanoseconds.
    pub encoding: u64,
    /// Time to unfilter the sample in nanoseconds.
    pub decoding: u64,
}

impl FieldFacts {
    /// Returns the filtered size of all parts in bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Returns the unfiltered size of all parts in bytes.
    #[must_use]
    pub fn decoded_bytes(&self) -> u64 {
        self.decoded.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }
}

impl FieldTrials {
    /// Returns the result with the smallest size. Prefers the earliest of nearly equal results.
    /// Returns `None` without trials.
    #[must_use]
    pub fn best(&self) -> Option<&Trial> {
        let least = self.trials.iter().map(|trial| trial.stored).min()?;
        let near = least.saturating_add(scaled(least, super::costs::NEARLY, 100));
        self.trials.iter().find(|trial| trial.stored <= near)
    }
}

impl AdviceReport {
    /// Returns `true` if all advice consists of notes.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.advice.iter().all(|advice| advice.level == AdviceLevel::Note)
    }
}
