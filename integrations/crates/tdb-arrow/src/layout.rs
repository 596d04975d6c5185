//! Arrow layouts of cells.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef};
use tdb_array::tdb_schema::Enumeration;
use tdb_array::tdb_types::{CellValNum, Datatype};

use crate::element::Element;
use crate::{ArrowOptions, Error, Result};

/// Conversion of the buffers of a column to an Arrow array.
#[derive(Clone, Debug)]
pub(crate) enum Layout {
    /// One value per cell.
    One(Element),
    /// A fixed number of bytes per cell.
    FixedBytes(i32),
    /// Bytes of variable length.
    Bytes { text: bool },
    /// A fixed number of values per cell. The field gives the item type.
    FixedList(Element, i32, FieldRef),
    /// A variable number of values per cell.
    List(Element, FieldRef),
    /// Positions in an enumeration, as a dictionary with these values.
    Positions(Arc<Enumeration>, ArrayRef),
    /// The values at positions in an enumeration, for value types unsupported in dictionaries.
    Values(Arc<Enumeration>, ArrayRef),
}

impl Layout {
    /// Returns the layout for cells without an enumeration.
    pub(crate) fn of(name: &str, datatype: Datatype, number: CellValNum, options: &ArrowOptions) -> Result<Self> {
        let element = Element::of(datatype, options);
        let size = |number: u32| {
            i32::try_from(number).map_err(|_| Error::Refused {
                field: name.to_owned(),
                data_type: DataType::Null,
                why: "its cells have more values than Arrow lists support",
            })
        };
        let item = element.data_type().map(|item| {
            let nullable = element.may_become_null();
            Arc::new(Field::new(Field::LIST_FIELD_DEFAULT_NAME, item.clone(), nullable))
        });
        Ok(match (number.fixed(), element, item) {
            (None, Element::Byte { text }, _) => Self::Bytes { text },
            (Some(number), Element::Byte { .. }, _) => Self::FixedBytes(size(number)?),
            (Some(number), element, Some(item)) if number > 1 => Self::FixedList(element, size(number)?, item),
            (None, element, Some(item)) => Self::List(element, item),
            (Some(_), element, _) | (None, element, None) => Self::One(element),
        })
    }

    /// Returns the layout for positions in an enumeration. Booleans and lists become plain values,
    /// because Arrow cannot cast to dictionaries of booleans or lists. Programs could neither group
    /// nor compare such columns, nor read Parquet files with them.
    pub(crate) fn of_enumeration(enumeration: Arc<Enumeration>, values: ArrayRef, options: &ArrowOptions) -> Self {
        match values.data_type() {
            data_type if *data_type == DataType::Boolean || data_type.is_nested() => Self::Values(enumeration, values),
            data_type if data_type.is_floating() && options.float_values => Self::Values(enumeration, values),
            _ => Self::Positions(enumeration, values),
        }
    }

    /// Returns the Arrow type.
    pub(crate) fn data_type(&self, datatype: Datatype, options: &ArrowOptions) -> DataType {
        match self {
            Self::One(element) => element.data_type().cloned().unwrap_or(DataType::UInt8),
            Self::FixedBytes(size) => DataType::FixedSizeBinary(*size),
            Self::Bytes { text: true } if options.views => DataType::Utf8View,
            Self::Bytes { text } => match (text, options.large) {
                (true, true) => DataType::LargeUtf8,
                (true, false) => DataType::Utf8,
                (false, true) => DataType::LargeBinary,
                (false, false) => DataType::Binary,
            },
            Self::FixedList(_, size, item) => DataType::FixedSizeList(Arc::clone(item), *size),
            Self::List(_, item) if options.large => DataType::LargeList(Arc::clone(item)),
            Self::List(_, item) => DataType::List(Arc::clone(item)),
            Self::Positions(_, values) => {
                let key = if options.wide_keys { wide(datatype) } else { integer(datatype) };
                DataType::Dictionary(Box::new(key), Box::new(values.data_type().clone()))
            }
            Self::Values(_, values) => values.data_type().clone(),
        }
    }

    pub(crate) fn may_become_null(&self) -> bool {
        match self {
            Self::One(element) => element.may_become_null(),
            Self::Positions(..) | Self::Values(..) => true,
            _ => false,
        }
    }
}

/// Returns the datatype and cell value number for the conversion of an enumeration's values.
/// Returns binary if a value ends within an element of the datatype, and `UInt8` if a boolean is
/// neither 0 nor 1. Lists and booleans would lose such values.
pub(crate) fn type_of_values(enumeration: &Enumeration) -> (Datatype, CellValNum) {
    let (datatype, number) = (enumeration.datatype(), enumeration.cell_val_num());
    match datatype {
        _ if enumeration.uneven_value().is_some() => (Datatype::Blob, CellValNum::Var),
        Datatype::Bool if enumeration.data().iter().any(|byte| *byte > 1) => (Datatype::UInt8, number),
        _ => (datatype, number),
    }
}

/// Returns the Arrow type with the memory layout of a datatype.
pub(crate) fn integer(datatype: Datatype) -> DataType {
    use tdb_array::tdb_types::PhysicalType as P;
    match datatype.physical() {
        P::I8 => DataType::Int8,
        P::U8 => DataType::UInt8,
        P::I16 => DataType::Int16,
        P::U16 => DataType::UInt16,
        P::I32 => DataType::Int32,
        P::U32 => DataType::UInt32,
        P::I64 => DataType::Int64,
        P::U64 => DataType::UInt64,
        P::F32 => DataType::Float32,
        P::F64 => DataType::Float64,
    }
}

/// Returns the key type for [`ArrowOptions::wide_keys`]: wider than the positions where possible.
fn wide(datatype: Datatype) -> DataType {
    use tdb_array::tdb_types::PhysicalType as P;
    match datatype.physical() {
        P::I8 | P::U8 | P::I16 | P::U16 | P::I32 => DataType::Int32,
        P::U32 | P::I64 | P::U64 | P::F32 | P::F64 => DataType::Int64,
    }
}
