//! What kind of values a field has, and what is measured of them.

use tdb_types::{CellValNum, Datatype, PhysicalType};

/// How the values of a field are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// As one number each, dates and times among them.
    Number(PhysicalType),
    /// As strings of bytes, which compare byte by byte.
    Bytes,
    /// As bytes that have no order and no sum: several numbers, wide strings, blobs.
    Opaque,
}

impl ValueKind {
    /// The kind of a field's values.
    #[must_use]
    pub fn of(datatype: Datatype, cell_val_num: CellValNum) -> Self {
        match datatype {
            Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8 => Self::Bytes,
            _ if datatype.is_string() || datatype.is_bytes() || datatype == Datatype::Any => Self::Opaque,
            _ if cell_val_num == CellValNum::ONE => Self::Number(datatype.physical()),
            _ => Self::Opaque,
        }
    }

    /// Whether values have a sum.
    #[must_use]
    pub fn has_sum(self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether one value comes before another.
    #[must_use]
    pub fn has_order(self) -> bool {
        self != Self::Opaque
    }
}

/// What is measured of a field's values; how many there are, and how many are null, always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Their sum.
    pub sum: bool,
    /// The least and the greatest of them.
    pub bounds: bool,
}

impl Measured {
    /// Nothing but how many there are.
    pub const COUNT: Self = Self { sum: false, bounds: false };
    /// Everything.
    pub const ALL: Self = Self { sum: true, bounds: true };

    /// What one of both measures.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { sum: self.sum || other.sum, bounds: self.bounds || other.bounds }
    }

    /// What there is of values of this kind.
    #[must_use]
    pub fn of(self, kind: ValueKind) -> Self {
        Self { sum: self.sum && kind.has_sum(), bounds: self.bounds && kind.has_order() }
    }
}
