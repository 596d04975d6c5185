//! Expected SQL types from docs/guides/arrow.md, and cells as keys that compare like SQL.

use std::sync::Arc;

use tdb_datafusion::datafusion::arrow::array::Array;
use tdb_datafusion::datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use tdb_datafusion::datafusion::scalar::ScalarValue;
use tdb_datafusion::tdb_array::tdb_types::{Datatype, Scalar};

use super::cells::Number;

/// A cell as a comparable key. Lists compare value by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Number(i128),
    /// In total order of floats.
    Float(u64),
    Truth(bool),
    Bytes(Vec<u8>),
    List(Vec<Key>),
}

/// `true` if several values form one SQL value.
fn is_bytes(datatype: Datatype) -> bool {
    use Datatype as D;
    matches!(datatype, D::StringAscii | D::StringUtf8 | D::GeomWkt | D::Char | D::Blob | D::GeomWkb | D::Any)
}

/// Returns the SQL type of one value.
fn of_one(datatype: Datatype) -> DataType {
    use Datatype as D;
    match datatype {
        D::Int8 => DataType::Int8,
        D::UInt8 => DataType::UInt8,
        D::Int16 => DataType::Int16,
        D::UInt16 | D::StringUtf16 | D::StringUcs2 => DataType::UInt16,
        D::Int32 => DataType::Int32,
        D::UInt32 | D::StringUtf32 | D::StringUcs4 => DataType::UInt32,
        D::UInt64 => DataType::UInt64,
        D::Float32 => DataType::Float32,
        D::Float64 => DataType::Float64,
        D::Bool => DataType::Boolean,
        D::DatetimeYear | D::DatetimeMonth | D::DatetimeWeek | D::DatetimeDay => DataType::Date32,
        D::DatetimeHr | D::DatetimeMin | D::DatetimeSec => DataType::Timestamp(TimeUnit::Second, None),
        D::DatetimeMs => DataType::Timestamp(TimeUnit::Millisecond, None),
        D::DatetimeUs => DataType::Timestamp(TimeUnit::Microsecond, None),
        D::DatetimeNs => DataType::Timestamp(TimeUnit::Nanosecond, None),
        D::TimeHr | D::TimeMin | D::TimeSec => DataType::Time32(TimeUnit::Second),
        D::TimeMs => DataType::Time32(TimeUnit::Millisecond),
        D::TimeUs => DataType::Time64(TimeUnit::Microsecond),
        D::TimeNs => DataType::Time64(TimeUnit::Nanosecond),
        _ => DataType::Int64,
    }
}

/// `true` for dates and times, where "no time" is null in SQL.
fn is_time(datatype: Datatype) -> bool {
    datatype.is_datetime() || datatype.is_time()
}

/// Returns the type of a column.
pub(super) fn type_of(datatype: Datatype, number: Number) -> DataType {
    let is_text = matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::GeomWkt);
    match (is_bytes(datatype), number) {
        (true, Number::One) => DataType::FixedSizeBinary(1),
        (true, Number::Two) => DataType::FixedSizeBinary(2),
        (true, Number::Any) if is_text => DataType::Utf8View,
        (true, Number::Any) => DataType::LargeBinary,
        (false, Number::One) => of_one(datatype),
        (false, number) => {
            let item = Arc::new(Field::new("item", of_one(datatype), is_time(datatype)));
            if number == Number::Two { DataType::FixedSizeList(item, 2) } else { DataType::LargeList(item) }
        }
    }
}

/// Returns the key of a cell's bytes. `None` if null in SQL.
pub(super) fn key(datatype: Datatype, number: Number, bytes: &[u8]) -> Option<Key> {
    if is_bytes(datatype) {
        return Some(Key::Bytes(bytes.to_vec()));
    }
    if number == Number::One && is_time(datatype) {
        let scalar = Scalar::from_le_bytes(datatype.physical(), bytes).unwrap();
        if is_null(datatype, scalar.to_integer().unwrap()) {
            return None;
        }
    }
    let mut values = bytes.chunks_exact(datatype.size()).map(|bytes| of_value(datatype, bytes));
    match number {
        Number::One => values.next_back(),
        _ => Some(Key::List(values.collect())),
    }
}

fn of_value(datatype: Datatype, bytes: &[u8]) -> Key {
    let scalar = Scalar::from_le_bytes(datatype.physical(), bytes).unwrap();
    match scalar {
        Scalar::F32(value) => Key::Float(total(value.into())),
        Scalar::F64(value) => Key::Float(total(value)),
        Scalar::U8(value) if datatype == Datatype::Bool => Key::Truth(value != 0),
        _ => Key::Number(in_sql(datatype, scalar.to_integer().unwrap())),
    }
}

/// `true` if a date or time is null in SQL: "no time", and values beyond the SQL type.
pub(super) fn is_null(datatype: Datatype, value: i128) -> bool {
    let told = in_sql(datatype, value);
    let fits = match of_one(datatype) {
        DataType::Date32 | DataType::Time32(_) => i32::try_from(told).is_ok(),
        _ => i64::try_from(told).is_ok(),
    };
    value == i64::MIN.into() || !fits
}

/// Converts a number to the SQL unit.
fn in_sql(datatype: Datatype, value: i128) -> i128 {
    match datatype {
        Datatype::DatetimeYear => days_before(value * 12),
        Datatype::DatetimeMonth => days_before(value),
        Datatype::DatetimeWeek => value * 7,
        Datatype::DatetimeHr | Datatype::TimeHr => value * 3600,
        Datatype::DatetimeMin | Datatype::TimeMin => value * 60,
        _ => value,
    }
}

/// Days from 1970-01-01 to the first day of a month, given in months since January 1970. Counts
/// years and months.
fn days_before(months: i128) -> i128 {
    const BEFORE: [i128; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let year = 1970 + months.div_euclid(12);
    let month = months.rem_euclid(12) as usize;
    let leaps = |year: i128| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let of_years = 365 * (year - 1970) + leaps(year - 1) - leaps(1969);
    of_years + BEFORE[month] + i128::from(is_leap && month > 1)
}

/// Bits in the order of floats, with NaN above all.
fn total(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the key of a SQL value. `None` for null.
pub(super) fn native(value: &ScalarValue) -> Option<Key> {
    use ScalarValue as S;
    if value.is_null() {
        return None;
    }
    let list = |values: &dyn Array| {
        let each = (0..values.len()).map(|place| native(&S::try_from_array(values, place).unwrap()).unwrap());
        Some(Key::List(each.collect()))
    };
    match value {
        S::Boolean(Some(value)) => Some(Key::Truth(*value)),
        S::Float32(Some(value)) => Some(Key::Float(total((*value).into()))),
        S::Float64(Some(value)) => Some(Key::Float(total(*value))),
        S::Utf8View(Some(text)) => Some(Key::Bytes(text.as_bytes().to_vec())),
        S::LargeBinary(Some(bytes)) | S::FixedSizeBinary(_, Some(bytes)) => Some(Key::Bytes(bytes.clone())),
        S::FixedSizeList(array) => list(array.value(0).as_ref()),
        S::LargeList(array) => list(array.value(0).as_ref()),
        S::UInt64(Some(value)) => Some(Key::Number((*value).into())),
        S::Date32(Some(value)) | S::Time32Second(Some(value)) | S::Time32Millisecond(Some(value)) => {
            Some(Key::Number((*value).into()))
        }
        S::TimestampSecond(Some(value), None)
        | S::TimestampMillisecond(Some(value), None)
        | S::TimestampMicrosecond(Some(value), None)
        | S::TimestampNanosecond(Some(value), None)
        | S::Time64Microsecond(Some(value))
        | S::Time64Nanosecond(Some(value)) => Some(Key::Number((*value).into())),
        number => match number.cast_to(&DataType::Int64).unwrap() {
            S::Int64(Some(value)) => Some(Key::Number(value.into())),
            other => panic!("{other:?}"),
        },
    }
}
