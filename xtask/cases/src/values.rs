//! Kinds of cells.

use std::cmp::Ordering;

use tdb_types::{Datatype, Scalar};

use tdb_reference::model::{AggregateFunction, AttributeSpec, DimensionSpec};

/// The type of a field's cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    pub datatype: Datatype,
    pub cell_val_num: Option<u32>,
    pub nullable: bool,
    pub enumerated: bool,
}

impl Kind {
    pub fn of_attribute(attribute: &AttributeSpec) -> Self {
        let AttributeSpec { datatype, cell_val_num, nullable, .. } = *attribute;
        Self { datatype, cell_val_num, nullable, enumerated: attribute.enumeration.is_some() }
    }

    pub fn of_dimension(dimension: &DimensionSpec) -> Self {
        let cell_val_num = dimension.domain.is_some().then_some(1);
        Self { datatype: dimension.datatype, cell_val_num, nullable: false, enumerated: false }
    }

    fn is_text(&self) -> bool {
        matches!(self.datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)
    }

    pub fn is_number(&self) -> bool {
        let is_other = self.datatype.is_string() || self.datatype.is_bytes() || self.datatype == Datatype::Any;
        self.cell_val_num == Some(1) && !is_other && !self.is_text()
    }

    pub fn is_float(&self) -> bool {
        self.is_number() && self.datatype.is_float()
    }

    /// `true` if tdb supports the aggregate function for such cells.
    pub fn has(&self, function: AggregateFunction) -> bool {
        match function {
            AggregateFunction::Count | AggregateFunction::NullCount => true,
            AggregateFunction::Min | AggregateFunction::Max => self.is_number() || self.is_text(),
            AggregateFunction::Mean => self.is_number() && !self.enumerated,
            AggregateFunction::Sum => self.is_number() && !self.enumerated && !self.datatype.is_datetime(),
        }
    }

    /// Returns the value of a numeric cell.
    pub fn number(&self, cell: &[u8]) -> Option<Scalar> {
        if self.is_number() { Scalar::from_le_bytes(self.datatype.physical(), cell) } else { None }
    }

    pub fn is_nan(&self, cell: &[u8]) -> bool {
        self.is_float() && self.number(cell).is_some_and(|number| number.to_f64().is_nan())
    }

    /// Compares two values. NaNs are equal, and greater than all other values.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match (self.number(a), self.number(b)) {
            (Some(one), Some(other)) => one.partial_cmp(&other).unwrap_or_else(|| self.is_nan(a).cmp(&self.is_nan(b))),
            _ => a.cmp(b),
        }
    }
}
