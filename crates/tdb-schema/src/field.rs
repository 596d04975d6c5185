//! Fields: attributes and dimensions.

use tdb_types::{CellValNum, Datatype};

/// A reference to an attribute or dimension of a schema, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldRef {
    /// The attribute at this index.
    Attribute(usize),
    /// The dimension at this index.
    Dimension(usize),
}

/// The cell type of an attribute or dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// The datatype of the values.
    pub datatype: Datatype,
    /// The number of values per cell.
    pub cell_val_num: CellValNum,
    /// `true` if cells may be null.
    pub nullable: bool,
}

impl FieldType {
    /// Returns `true` if cells have variable length.
    #[must_use]
    pub fn is_var(self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Returns the size of a cell in bytes, or `None` for cells of variable length.
    #[must_use]
    pub fn cell_size(self) -> Option<u64> {
        let values = self.cell_val_num.fixed()?;
        Some(u64::from(values) * self.datatype.size() as u64)
    }
}
