//! Fields: attributes and dimensions under one roof.

use tdb_types::{CellValNum, Datatype};

/// An attribute or a dimension of a schema, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldRef {
    /// The attribute at this position.
    Attribute(usize),
    /// The dimension at this position.
    Dimension(usize),
}

/// How the values of a field look, whichever kind of field it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldType {
    /// The datatype of the values.
    pub datatype: Datatype,
    /// How many values a cell has.
    pub cell_val_num: CellValNum,
    /// Whether cells may be null.
    pub nullable: bool,
}

impl FieldType {
    /// Whether cells differ in length.
    #[must_use]
    pub fn is_var(self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Bytes of one cell, unless cells differ in length.
    #[must_use]
    pub fn cell_size(self) -> Option<u64> {
        let values = self.cell_val_num.fixed()?;
        Some(u64::from(values) * self.datatype.size() as u64)
    }
}
