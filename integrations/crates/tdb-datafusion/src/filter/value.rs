//! SQL values as bytes of cells.

use datafusion::scalar::ScalarValue;
use tdb_array::tdb_schema::FieldType;
use tdb_array::tdb_types::{CellValNum, Datatype};

/// Comparison of the cells of a field with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As integers: numbers, dates and times.
    Integer,
    /// As integers, except for the minimum, "no time", which is null in SQL.
    IntegerOrNoTime,
    /// In total order in SQL, by IEEE 754 in conditions.
    Float,
    /// Every byte other than 0 is true.
    Boolean,
    /// Byte by byte.
    Bytes,
}

impl Kind {
    /// Returns the kind of a field. Returns `None` if SQL and conditions compare it differently.
    pub(super) fn of(field: FieldType) -> Option<Self> {
        let FieldType { datatype, cell_val_num, .. } = field;
        if matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char) {
            return (cell_val_num == CellValNum::Var).then_some(Self::Bytes);
        }
        if cell_val_num != CellValNum::ONE {
            return None;
        }
        Some(match datatype {
            Datatype::Int8 | Datatype::UInt8 | Datatype::Int16 | Datatype::UInt16 | Datatype::Int32 => Self::Integer,
            Datatype::UInt32 | Datatype::Int64 | Datatype::UInt64 => Self::Integer,
            Datatype::Float32 | Datatype::Float64 => Self::Float,
            Datatype::Bool => Self::Boolean,
            // SQL uses different units here, and lacks some values.
            Datatype::DatetimeYear | Datatype::DatetimeMonth | Datatype::DatetimeWeek => return None,
            Datatype::DatetimeHr | Datatype::DatetimeMin | Datatype::TimeHr | Datatype::TimeMin => return None,
            datatype if datatype.is_datetime() || datatype.is_time() => Self::IntegerOrNoTime,
            _ => return None,
        })
    }
}

/// Returns a value as bytes of a cell. Returns `None` if the value has another type than the field
/// in Arrow.
pub(super) fn bytes(datatype: Datatype, value: &ScalarValue) -> Option<Vec<u8>> {
    use ScalarValue as S;
    let long = |value: i64| Some(value.to_le_bytes().to_vec());
    match (value, datatype) {
        (S::Int8(Some(value)), Datatype::Int8) => Some(value.to_le_bytes().to_vec()),
        (S::UInt8(Some(value)), Datatype::UInt8) => Some(value.to_le_bytes().to_vec()),
        (S::Int16(Some(value)), Datatype::Int16) => Some(value.to_le_bytes().to_vec()),
        (S::UInt16(Some(value)), Datatype::UInt16) => Some(value.to_le_bytes().to_vec()),
        (S::Int32(Some(value)), Datatype::Int32) => Some(value.to_le_bytes().to_vec()),
        (S::UInt32(Some(value)), Datatype::UInt32) => Some(value.to_le_bytes().to_vec()),
        (S::UInt64(Some(value)), Datatype::UInt64) => Some(value.to_le_bytes().to_vec()),
        (S::Float32(Some(value)), Datatype::Float32) => Some(value.to_le_bytes().to_vec()),
        (S::Float64(Some(value)), Datatype::Float64) => Some(value.to_le_bytes().to_vec()),
        (
            S::Int64(Some(value)),
            Datatype::Int64
            | Datatype::DatetimePs
            | Datatype::DatetimeFs
            | Datatype::DatetimeAs
            | Datatype::TimePs
            | Datatype::TimeFs
            | Datatype::TimeAs,
        ) => long(*value),
        (S::TimestampSecond(Some(value), None), Datatype::DatetimeSec) => long(*value),
        (S::TimestampMillisecond(Some(value), None), Datatype::DatetimeMs) => long(*value),
        (S::TimestampMicrosecond(Some(value), None), Datatype::DatetimeUs) => long(*value),
        (S::TimestampNanosecond(Some(value), None), Datatype::DatetimeNs) => long(*value),
        (S::Time64Microsecond(Some(value)), Datatype::TimeUs) => long(*value),
        (S::Time64Nanosecond(Some(value)), Datatype::TimeNs) => long(*value),
        (S::Date32(Some(value)), Datatype::DatetimeDay) => long((*value).into()),
        (S::Time32Second(Some(value)), Datatype::TimeSec) => long((*value).into()),
        (S::Time32Millisecond(Some(value)), Datatype::TimeMs) => long((*value).into()),
        (
            S::LargeUtf8(Some(value)) | S::Utf8(Some(value)) | S::Utf8View(Some(value)),
            Datatype::StringAscii | Datatype::StringUtf8,
        ) => Some(value.as_bytes().to_vec()),
        (
            S::LargeBinary(Some(value)) | S::Binary(Some(value)) | S::BinaryView(Some(value)),
            Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8,
        ) => Some(value.clone()),
        _ => None,
    }
}
