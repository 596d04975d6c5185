//! Kinds of values, and the selection of aggregates.

use tdb_types::{CellValNum, Datatype, PhysicalType};

use crate::number::Number;

/// The bytes of "not a time" (NaT).
const NOT_A_TIME: [u8; 8] = i64::MIN.to_le_bytes();

/// The kind of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Single numbers.
    Number(PhysicalType),
    /// Single dates or times, as signed 64-bit numbers. The minimum, "not a time" (NaT), counts as
    /// null.
    Time,
    /// Byte strings, compared byte by byte.
    Bytes,
    /// Values without an order or a sum: several numbers per cell, wide strings, blobs.
    Opaque,
}

impl ValueKind {
    /// Returns the kind of an attribute's values. For coordinates, also call
    /// [`without_null`](Self::without_null).
    #[must_use]
    pub fn of(datatype: Datatype, cell_val_num: CellValNum) -> Self {
        match datatype {
            Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8 => Self::Bytes,
            _ if datatype.is_string() || datatype.is_bytes() || datatype == Datatype::Any => Self::Opaque,
            _ if cell_val_num != CellValNum::ONE => Self::Opaque,
            _ if datatype.is_datetime() || datatype.is_time() => Self::Time,
            _ => Self::Number(datatype.physical()),
        }
    }

    /// Returns the kind with NaT as an ordinary value, the minimum. Coordinates and comparisons in
    /// conditions treat NaT this way.
    #[must_use]
    pub fn without_null(self) -> Self {
        self.number().map_or(self, Self::Number)
    }

    /// Returns the physical type of numbers, dates and times, or `None` for other values.
    #[must_use]
    pub fn number(self) -> Option<PhysicalType> {
        match self {
            Self::Number(physical) => Some(physical),
            Self::Time => Some(PhysicalType::I64),
            Self::Bytes | Self::Opaque => None,
        }
    }

    /// Returns `true` if a valid cell counts as null because its value is NaT.
    #[must_use]
    pub fn is_null(self, cell: &[u8]) -> bool {
        self == Self::Time && cell == NOT_A_TIME
    }

    /// Returns the number that counts as null, or `None` if every number is an ordinary value.
    pub(crate) fn null<N: Number>(self) -> Option<N> {
        (self == Self::Time).then(|| N::at(&NOT_A_TIME, 0))
    }

    /// Returns `true` if values have a sum.
    #[must_use]
    pub fn has_sum(self) -> bool {
        self.number().is_some()
    }

    /// Returns `true` if values have an order.
    #[must_use]
    pub fn has_order(self) -> bool {
        self != Self::Opaque
    }
}

/// A selection of aggregates of a field. Values and nulls are always counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Compute the sum.
    pub sum: bool,
    /// Compute the minimum and maximum.
    pub bounds: bool,
}

impl Measured {
    /// Only counts.
    pub const COUNT: Self = Self { sum: false, bounds: false };
    /// All aggregates.
    pub const ALL: Self = Self { sum: true, bounds: true };

    /// Returns the union of both selections.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { sum: self.sum || other.sum, bounds: self.bounds || other.bounds }
    }

    /// Restricts the selection to aggregates that values of this kind have.
    #[must_use]
    pub fn of(self, kind: ValueKind) -> Self {
        Self { sum: self.sum && kind.has_sum(), bounds: self.bounds && kind.has_order() }
    }
}
