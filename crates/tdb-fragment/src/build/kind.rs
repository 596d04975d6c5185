//! Selection of the statistics that the reference library computes for a field.

use tdb_schema::{ArraySchema, FieldRef};
use tdb_types::{CellValNum, Datatype, PhysicalType};

use crate::field::FragmentField;

/// The selection of statistics that the tiles of a field have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatisticsKind {
    pub(super) bounds: Option<Bounds>,
    pub(super) sum: Option<PhysicalType>,
    pub(super) nullable: bool,
    /// `true` if nulls are counted. Otherwise 0 is stored.
    pub(super) counts_nulls: bool,
}

/// The kind of minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// Numbers.
    Number(PhysicalType),
    /// Strings of this many bytes.
    FixedString(usize),
    /// Strings of variable length.
    VarString,
    /// Zeros instead of values, in the slot of `__coords`.
    Zeros {
        /// The number of zero bytes per tile.
        tile: usize,
        /// The number of zero bytes in the totals.
        total: usize,
    },
}

impl StatisticsKind {
    /// Returns the selection of statistics of a field, for fragments of arrays with this schema.
    /// Selects no statistics for a field that the schema does not have.
    ///
    /// - Attributes have a minimum and maximum if their cells are single numbers, or `char` or
    ///   ASCII strings of any length. Attributes of single numbers or a single `char` have a sum.
    ///   Nullable attributes have a null count.
    /// - Coordinates of sparse arrays have only a sum, and only if they are numbers. The R-tree has
    ///   their bounds.
    /// - The slot of `__coords` has zeros, like an attribute with the type of the first dimension.
    /// - Timestamps and delete metadata have the statistics of `uint64` attributes.
    #[must_use]
    pub fn of(schema: &ArraySchema, field: FragmentField) -> Self {
        match field {
            FragmentField::Attribute(index) => schema
                .field_type(FieldRef::Attribute(index))
                .map_or(Self::NONE, |kind| Self::of_cells(kind.datatype, kind.cell_val_num).nullable(kind.nullable)),
            FragmentField::Dimension(_) if schema.is_dense() => Self::NONE,
            FragmentField::Dimension(index) => schema.dimensions().get(index).map_or(Self::NONE, |dimension| Self {
                bounds: None,
                ..Self::of_cells(dimension.datatype(), dimension.cell_val_num())
            }),
            FragmentField::Coordinates => Self::of_coordinates(schema),
            _ => Self::of_cells(Datatype::UInt64, CellValNum::ONE),
        }
    }

    const NONE: Self = Self { bounds: None, sum: None, nullable: false, counts_nulls: false };

    fn of_cells(datatype: Datatype, cell_val_num: CellValNum) -> Self {
        let single = cell_val_num == CellValNum::ONE;
        let number = single && !datatype.is_string() && !datatype.is_bytes() && datatype != Datatype::Any;
        let text = matches!(datatype, Datatype::Char | Datatype::StringAscii);
        let bounds = match cell_val_num.fixed() {
            Some(number) if text => Some(Bounds::FixedString(number as usize)),
            None if text => Some(Bounds::VarString),
            _ => number.then(|| Bounds::Number(datatype.physical())),
        };
        let wide = datatype.is_string() || datatype == Datatype::Any;
        let counts_nulls = bounds.is_some() || !(cell_val_num.is_var() || wide);
        Self { bounds, sum: number.then(|| datatype.physical()), nullable: false, counts_nulls }
    }

    fn of_coordinates(schema: &ArraySchema) -> Self {
        let Some(first) = schema.dimensions().first() else { return Self::NONE };
        let size = first.datatype().size();
        let kind = Self::of_cells(first.datatype(), CellValNum::ONE);
        let zeros = Bounds::Zeros { tile: size * schema.dim_count(), total: size };
        Self { bounds: kind.bounds.map(|_| zeros), ..kind }
    }

    /// Returns the type of the cells if statistics of numbers are computed.
    pub(super) fn numbers(self) -> Option<PhysicalType> {
        match self.bounds {
            Some(Bounds::Number(physical)) => Some(physical),
            _ => self.sum,
        }
    }

    fn nullable(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }
}
