//! Rules for the existence and reliability of a field's statistics.

use tdb_schema::ArraySchema;
use tdb_types::{CellValNum, Datatype, Feature, PhysicalType};

use super::trust::UntrustedReason;
use crate::field::FragmentField;
use crate::footer::FragmentFooter;
use crate::sections::values::ValueShape;

/// The meaning and reliability of a field's statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatisticsRules {
    pub(super) values: Values,
    pub(super) sum: Option<SumKind>,
    pub(crate) nullable: bool,
    /// `true` if the reference library counts nulls of the field.
    counted: bool,
    /// The size of a cell in bytes, or `None` if variable.
    pub(super) cell_size: Option<u64>,
    /// The reason to distrust all statistics of the field.
    pub(super) all: Option<UntrustedReason>,
    /// The reason to distrust null counts.
    pub(super) null_counts: Option<UntrustedReason>,
    /// The reason to distrust minimums and maximums of tiles.
    pub(super) bounds: Option<UntrustedReason>,
    /// The reason to distrust the minimum and maximum of the fragment.
    pub(super) total_bounds: Option<UntrustedReason>,
}

/// The order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Compared as numbers of this type.
    Number(PhysicalType),
    /// Compared as unsigned bytes.
    String,
    /// Not comparable.
    Opaque,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SumKind {
    I64,
    U64,
    F64,
}

impl StatisticsRules {
    /// Returns the rules of a field, or `None` if the fragment does not have the field.
    #[must_use]
    pub fn new(footer: &FragmentFooter, schema: &ArraySchema, field: FragmentField) -> Option<Self> {
        footer.slot(field)?;
        Some(match field {
            FragmentField::Attribute(index) => {
                let attribute = schema.attributes().get(index)?;
                let mut rules = Self::of_cells(attribute.datatype(), attribute.cell_val_num());
                let fixed_string = rules.values == Values::String && !attribute.is_var();
                if fixed_string && !footer.version().has(Feature::SoundStringStatistics) {
                    rules.all = Some(UntrustedReason::FixedStringsBefore21);
                }
                if attribute.is_nullable() {
                    rules.nullable(footer);
                }
                if attribute.is_var() && footer.is_dense() {
                    rules.dense_var(footer, schema);
                }
                rules
            }
            FragmentField::Dimension(index) => {
                let dimension = schema.domain().dimensions().get(index)?;
                let rules = Self::of_cells(dimension.datatype(), dimension.cell_val_num());
                // Dense arrays have no coordinates to sum. The totals store 0.
                if schema.is_dense() { Self { sum: None, ..rules } } else { rules }
            }
            FragmentField::Coordinates => Self {
                values: Values::Opaque,
                sum: None,
                cell_size: None,
                all: Some(UntrustedReason::NeverFilled),
                ..Self::of_cells(Datatype::UInt64, CellValNum::ONE)
            },
            _ => Self::of_cells(Datatype::UInt64, CellValNum::ONE),
        })
    }

    fn of_cells(datatype: Datatype, cell_val_num: CellValNum) -> Self {
        let single = cell_val_num == CellValNum::ONE;
        let number = single && !datatype.is_string() && !datatype.is_bytes() && datatype != Datatype::Any;
        let values = match datatype {
            Datatype::Char | Datatype::StringAscii => Values::String,
            _ if number => Values::Number(datatype.physical()),
            _ => Values::Opaque,
        };
        let sum = number.then(|| match datatype.physical() {
            physical if physical.is_float() => SumKind::F64,
            physical if physical.is_signed_integer() => SumKind::I64,
            _ => SumKind::U64,
        });
        let cell_size = cell_val_num.fixed().map(|number| u64::from(number) * datatype.size() as u64);
        let wide = datatype.is_string() || datatype == Datatype::Any;
        let counted = values == Values::String || (cell_size.is_some() && !wide);
        Self {
            values,
            sum,
            nullable: false,
            counted,
            cell_size,
            all: None,
            null_counts: None,
            bounds: None,
            total_bounds: None,
        }
    }

    fn nullable(&mut self, footer: &FragmentFooter) {
        self.nullable = true;
        let fixed = self.cell_size.is_some();
        if fixed && self.values == Values::String {
            self.total_bounds = Some(UntrustedReason::NullableStringTotals);
        }
        if footer.is_dense() && (!fixed || self.values == Values::Opaque) {
            self.null_counts = Some(UntrustedReason::DenseNullable);
            self.bounds = Some(UntrustedReason::DenseNullable);
            self.total_bounds = Some(UntrustedReason::DenseNullable);
        }
        let sound = footer.version().has(Feature::SoundStringStatistics);
        if !self.counted || (self.values == Values::Opaque && !sound) {
            self.null_counts = Some(UntrustedReason::NeverCounted);
        }
    }

    /// Applies the rules for variable-size fields of dense fragments.
    ///
    /// With more attributes than tiles, the reference library writes attributes in parallel. It
    /// then numbers the tiles anew for each tile of an attribute.
    fn dense_var(&mut self, footer: &FragmentFooter, schema: &ArraySchema) {
        let tiles = footer.tile_count();
        if tiles > 1 && schema.attributes().len() as u64 > tiles {
            self.bounds = Some(UntrustedReason::DenseVarTiles);
            self.total_bounds = Some(UntrustedReason::DenseVarTiles);
        }
    }

    /// Returns `true` if minimums and maximums of tiles are wrong because the fragment has several
    /// tiles, but fewer tiles than attributes.
    ///
    /// A fragment with at least as many tiles as attributes avoids this problem.
    #[must_use]
    pub fn are_wrong_in_small_fragments(&self) -> bool {
        self.bounds == Some(UntrustedReason::DenseVarTiles)
    }

    /// Returns the storage layout of minimums and maximums.
    pub(crate) fn value_shape(&self) -> ValueShape {
        match self.cell_size {
            _ if self.all == Some(UntrustedReason::NeverFilled) => ValueShape::AnyFixed,
            Some(size) => ValueShape::Fixed(size),
            None => ValueShape::Var,
        }
    }
}
