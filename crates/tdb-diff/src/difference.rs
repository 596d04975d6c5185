//! Differences and their counts.

use std::ops::ControlFlow;

use tdb_array::{Batch, MetadataValue};

/// A difference between two arrays.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// A key with different values in the TOML text of the two schemas. The value of a missing key
    /// is `None`.
    Schema {
        /// Key in the text, such as `attribute qual.nullable`.
        key: String,
        /// Value in the first array.
        a: Option<String>,
        /// Value in the second array.
        b: Option<String>,
    },
    /// A metadata key with different values. The value of a missing key is `None`.
    Metadata {
        /// The key.
        key: Vec<u8>,
        /// Value in the first array.
        a: Option<MetadataValue>,
        /// Value in the second array.
        b: Option<MetadataValue>,
    },
    /// A differing cell, as a batch of one cell with the dimensions and the common attributes. A
    /// missing cell is `None`.
    Cell {
        /// Cell in the first array.
        a: Option<Batch>,
        /// Cell in the second array.
        b: Option<Batch>,
        /// Names of the differing attributes in the first array. Empty if only one array has the
        /// cell.
        fields: Vec<String>,
    },
    /// A fragment that only one array has. Reported only by a [physical](crate::Diff::physical)
    /// comparison.
    Fragment {
        /// Name of the fragment.
        name: String,
        /// `true` if the first array has the fragment.
        in_a: bool,
    },
}

/// Numbers of differences and of equal cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffCounts {
    /// Number of differing schema keys.
    pub schema: u64,
    /// Number of differing metadata keys.
    pub metadata: u64,
    /// Number of fragments that only one array has. 0 unless the comparison is
    /// [physical](crate::Diff::physical).
    pub fragments: u64,
    /// Number of equal cells.
    pub equal_cells: u64,
    /// Number of cells with equal coordinates and a differing field.
    pub differing_cells: u64,
    /// Number of cells only in the first array.
    pub cells_only_in_a: u64,
    /// Number of cells only in the second array.
    pub cells_only_in_b: u64,
    /// `true` if the fields do not match, so that no cells were compared.
    pub incomparable: bool,
    /// `true` if the callback stopped the comparison.
    pub stopped: bool,
}

impl DiffCounts {
    /// Returns the number of differences.
    #[must_use]
    pub fn differences(&self) -> u64 {
        let cells = self.differing_cells + self.cells_only_in_a + self.cells_only_in_b;
        self.schema + self.metadata + self.fragments + cells
    }

    /// Returns `true` if the comparison found no differences and the fields match.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences() == 0 && !self.incomparable
    }
}

/// A callback for each difference, which may stop the comparison.
pub(super) type Each<'e> = &'e mut dyn FnMut(Difference) -> ControlFlow<()>;
