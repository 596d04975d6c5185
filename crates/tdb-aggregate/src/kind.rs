//! What kind of values a field has, and what is measured of them.

use tdb_types::{CellValNum, Datatype, PhysicalType};

use crate::number::Number;

/// "No time", in the bytes of a cell.
const NOT_A_TIME: [u8; 8] = i64::MIN.to_le_bytes();

/// How the values of a field are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// As one number each.
    Number(PhysicalType),
    /// As one date or time each, a signed number of 64 bits whose minimum, "no time" (NaT), counts as null.
    Time,
    /// As strings of bytes, which compare byte by byte.
    Bytes,
    /// As bytes that have no order and no sum: several numbers, wide strings, blobs.
    Opaque,
}

impl ValueKind {
    /// The kind of an attribute's values; that of coordinates is [without null](Self::without_null).
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

    /// The same kind with NaT as an ordinary value, the minimum: for coordinates, and for the order of conditions.
    #[must_use]
    pub fn without_null(self) -> Self {
        self.number().map_or(self, Self::Number)
    }

    /// The physical type of numbers; `None` for other values.
    #[must_use]
    pub fn number(self) -> Option<PhysicalType> {
        match self {
            Self::Number(physical) => Some(physical),
            Self::Time => Some(PhysicalType::I64),
            Self::Bytes | Self::Opaque => None,
        }
    }

    /// Whether a valid cell represents a null.
    #[must_use]
    pub fn is_null(self, cell: &[u8]) -> bool {
        self == Self::Time && cell == NOT_A_TIME
    }

    /// The number that represents a null.
    pub(crate) fn null<N: Number>(self) -> Option<N> {
        (self == Self::Time).then(|| N::at(&NOT_A_TIME, 0))
    }

    /// Whether values have a sum.
    #[must_use]
    pub fn has_sum(self) -> bool {
        self.number().is_some()
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
