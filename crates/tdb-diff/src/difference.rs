//! Differences and their counts.

use std::ops::ControlFlow;

use tdb_array::{Batch, MetadataValue};

/// A difference between two arrays.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// A key of the schemas' TOML text. A missing key is `None`.
    Schema {
        /// Key in the text, such as `attribute qual.nullable`.
        key: String,
        /// Value in the first array.
        a: Option<String>,
        /// Value in the second array.
        b: Option<String>,
    },
    /// A metadata key. A missing key is `None`.
    Metadata {
        /// The key.
        key: Vec<u8>,
        /// Value in the first array.
        a: Option<MetadataValue>,
        /// Value in the second array.
        b: Option<MetadataValue>,
    },
    /// A cell, as a batch with the dimensions and the common fields. A missing cell is `None`.
    Cell {
        /// Cell in the first array.
        a: Option<Batch>,
        /// Cell in the second array.
        b: Option<Batch>,
        /// Names of the differing fields, if both arrays have the cell.
        fields: Vec<String>,
    },
    /// A fragment of only one array, in a physical comparison.
    Fragment {
        /// Name of the fragment.
        name: String,
        /// `true` if the first array has the fragment.
        in_a: bool,
    },
}

/// Numbers of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffCounts {
    /// Number of differing schema keys.
    pub schema: u64,
    /// Number of differing metadata keys.
    pub metadata: u64,
    /// Number of differing fragments, in a physical comparison.
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
    /// `true` if the comparison was stopped early.
    pub stopped: bool,
}

impl DiffCounts {
    /// Returns the number of differences.
    #[must_use]
    pub fn differences(&self) -> u64 {
        let cells = self.differing_cells + self.cells_only_in_a + self.cells_only_in_b;
        self.schema + self.metadata + self.fragments + cells
    }

    /// Returns `true` if all parts were comparable and equal.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences() == 0 && !self.incomparable
    }
}

/// A callback for each difference, which may stop the comparison.
pub(super) type Each<'e> = &'e mut dyn FnMut(Difference) -> ControlFlow<()>;
