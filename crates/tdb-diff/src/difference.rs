//! Something that differs, and how much does.

use std::ops::ControlFlow;

use tdb_array::{Batch, MetadataValue};

/// Something that differs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// What the schema says of something, as TOML; `None` where it says nothing.
    Schema {
        /// A key of the text form of schemas, such as `attribute qual.nullable`.
        key: String,
        /// What the first array's says.
        a: Option<String>,
        /// What the second array's says.
        b: Option<String>,
    },
    /// The value of a key of the metadata; `None` where there is none.
    Metadata {
        /// The key.
        key: Vec<u8>,
        /// Its value in the first array.
        a: Option<MetadataValue>,
        /// Its value in the second array.
        b: Option<MetadataValue>,
    },
    /// A cell: a batch of one, with the dimensions and then the fields that both arrays have; `None` where there is none at these
    /// coordinates.
    Cell {
        /// In the first array.
        a: Option<Batch>,
        /// In the second array.
        b: Option<Batch>,
        /// The names of the fields in which they differ, if it is in both.
        fields: Vec<String>,
    },
    /// A fragment that one of the arrays has alone, in a physical comparison.
    Fragment {
        /// Its name.
        name: String,
        /// Whether it is the first array that has it.
        in_a: bool,
    },
}

/// How much differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffCounts {
    /// Keys of the schemas.
    pub schema: u64,
    /// Keys of the metadata.
    pub metadata: u64,
    /// Fragments, if these were compared.
    pub fragments: u64,
    /// Cells of the same values.
    pub equal_cells: u64,
    /// Cells of the same coordinates that differ in some field.
    pub differing_cells: u64,
    /// Cells that the first array has alone.
    pub cells_only_in_a: u64,
    /// Cells that the second array has alone.
    pub cells_only_in_b: u64,
    /// Whether cells were not compared, since the arrays have other dimensions.
    pub incomparable: bool,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

impl DiffCounts {
    /// How many differences there are.
    #[must_use]
    pub fn differences(&self) -> u64 {
        let cells = self.differing_cells + self.cells_only_in_a + self.cells_only_in_b;
        self.schema + self.metadata + self.fragments + cells
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences() == 0 && !self.incomparable
    }
}

/// What takes the differences, one after the other, and says whether to go on.
pub(super) type Each<'e> = &'e mut dyn FnMut(Difference) -> ControlFlow<()>;
