//! Arrow types for single values of each datatype.

use arrow_schema::{DataType, TimeUnit};
use tdb_array::tdb_types::Datatype;

use crate::ArrowOptions;
use crate::dates::Unit;

/// Conversion of a single value to Arrow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Element {
    /// The same bits, as this type.
    Same(DataType),
    /// A date or time with the same bits. "No time" becomes null.
    Time(DataType),
    /// A byte of a string or binary value.
    Byte {
        /// `true` for UTF-8 and for ASCII, which is a subset of UTF-8.
        text: bool,
    },
    /// One bit per byte.
    Boolean,
    /// A date or time in another unit.
    Date(Unit, DataType),
}

impl Element {
    /// Returns the conversion for a datatype.
    pub(crate) fn of(datatype: Datatype, options: &ArrowOptions) -> Self {
        use Datatype as D;
        let date = |unit, data_type| match options.dates {
            true => Self::Date(unit, data_type),
            false => Self::Same(DataType::Int64),
        };
        let second = if options.seconds { TimeUnit::Second } else { TimeUnit::Millisecond };
        match datatype {
            D::Int8 => Self::Same(DataType::Int8),
            D::UInt8 => Self::Same(DataType::UInt8),
            D::Int16 => Self::Same(DataType::Int16),
            D::UInt16 | D::StringUtf16 | D::StringUcs2 => Self::Same(DataType::UInt16),
            D::Int32 => Self::Same(DataType::Int32),
            D::UInt32 | D::StringUtf32 | D::StringUcs4 => Self::Same(DataType::UInt32),
            D::UInt64 => Self::Same(DataType::UInt64),
            D::Float32 => Self::Same(DataType::Float32),
            D::Float64 => Self::Same(DataType::Float64),
            D::Bool => Self::Boolean,
            D::StringAscii | D::StringUtf8 | D::GeomWkt => Self::Byte { text: options.strings },
            D::Char | D::Blob | D::GeomWkb | D::Any => Self::Byte { text: false },
            D::DatetimeYear => date(Unit::Year, DataType::Date32),
            D::DatetimeMonth => date(Unit::Month, DataType::Date32),
            D::DatetimeWeek => date(Unit::Week, DataType::Date32),
            D::DatetimeDay => date(Unit::Day, DataType::Date32),
            D::DatetimeHr => date(Unit::Hour, DataType::Timestamp(second, None)),
            D::DatetimeMin => date(Unit::Minute, DataType::Timestamp(second, None)),
            D::DatetimeSec if !options.seconds => date(Unit::Second, DataType::Timestamp(second, None)),
            D::DatetimeSec => Self::Time(DataType::Timestamp(TimeUnit::Second, None)),
            D::DatetimeMs => Self::Time(DataType::Timestamp(TimeUnit::Millisecond, None)),
            D::DatetimeUs => Self::Time(DataType::Timestamp(TimeUnit::Microsecond, None)),
            D::DatetimeNs => Self::Time(DataType::Timestamp(TimeUnit::Nanosecond, None)),
            D::TimeHr => date(Unit::Hour, DataType::Time32(second)),
            D::TimeMin => date(Unit::Minute, DataType::Time32(second)),
            D::TimeSec => date(Unit::Second, DataType::Time32(second)),
            D::TimeMs => date(Unit::Milli, DataType::Time32(TimeUnit::Millisecond)),
            D::TimeUs => Self::Time(DataType::Time64(TimeUnit::Microsecond)),
            D::TimeNs => Self::Time(DataType::Time64(TimeUnit::Nanosecond)),
            // Arrow has no unit finer than a nanosecond.
            D::DatetimePs | D::DatetimeFs | D::DatetimeAs | D::TimePs | D::TimeFs | D::TimeAs => {
                Self::Time(DataType::Int64)
            }
            _ => Self::Same(DataType::Int64),
        }
    }

    /// Returns the Arrow type of one value. Returns `None` for bytes, which are not values by
    /// themselves.
    pub(crate) fn data_type(&self) -> Option<&DataType> {
        match self {
            Self::Same(data_type) | Self::Time(data_type) | Self::Date(_, data_type) => Some(data_type),
            Self::Boolean => Some(&DataType::Boolean),
            Self::Byte { .. } => None,
        }
    }

    /// Returns `true` if a valid value may become null: "no time" of a date or time.
    pub(crate) fn may_become_null(&self) -> bool {
        matches!(self, Self::Time(_) | Self::Date(..))
    }
}
