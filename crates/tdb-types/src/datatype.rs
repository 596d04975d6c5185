//! Datatypes of cell values.

use std::fmt;

use crate::{ByteReader, ByteWriter, DecodeError, PhysicalType, Result, with_physical};

macro_rules! datatypes {
    ($($variant:ident = $code:literal, $physical:ident, $text:literal;)*) => {
        /// The datatype of an attribute or dimension.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // variants are named as in the format
        #[non_exhaustive]
        pub enum Datatype { $($variant,)* }

        impl Datatype {
            /// All datatypes, in ascending order of code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the datatype with this code, or `None` if the code is unknown.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// Returns the code stored in files.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Returns the reference library's name in lower case: `int32`, `string_utf8`,
            /// `datetime_ns` and so on.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the in-memory type of the values.
            #[must_use]
            pub const fn physical(self) -> PhysicalType {
                match self { $(Self::$variant => PhysicalType::$physical,)* }
            }
        }
    };
}

datatypes! {
    Int32 = 0, I32, "int32";
    Int64 = 1, I64, "int64";
    Float32 = 2, F32, "float32";
    Float64 = 3, F64, "float64";
    Char = 4, I8, "char";
    Int8 = 5, I8, "int8";
    UInt8 = 6, U8, "uint8";
    Int16 = 7, I16, "int16";
    UInt16 = 8, U16, "uint16";
    UInt32 = 9, U32, "uint32";
    UInt64 = 10, U64, "uint64";
    StringAscii = 11, U8, "string_ascii";
    StringUtf8 = 12, U8, "string_utf8";
    StringUtf16 = 13, U16, "string_utf16";
    StringUtf32 = 14, U32, "string_utf32";
    StringUcs2 = 15, U16, "string_ucs2";
    StringUcs4 = 16, U32, "string_ucs4";
    Any = 17, U8, "any";
    DatetimeYear = 18, I64, "datetime_year";
    DatetimeMonth = 19, I64, "datetime_month";
    DatetimeWeek = 20, I64, "datetime_week";
    DatetimeDay = 21, I64, "datetime_day";
    DatetimeHr = 22, I64, "datetime_hr";
    DatetimeMin = 23, I64, "datetime_min";
    DatetimeSec = 24, I64, "datetime_sec";
    DatetimeMs = 25, I64, "datetime_ms";
    DatetimeUs = 26, I64, "datetime_us";
    DatetimeNs = 27, I64, "datetime_ns";
    DatetimePs = 28, I64, "datetime_ps";
    DatetimeFs = 29, I64, "datetime_fs";
    DatetimeAs = 30, I64, "datetime_as";
    TimeHr = 31, I64, "time_hr";
    TimeMin = 32, I64, "time_min";
    TimeSec = 33, I64, "time_sec";
    TimeMs = 34, I64, "time_ms";
    TimeUs = 35, I64, "time_us";
    TimeNs = 36, I64, "time_ns";
    TimePs = 37, I64, "time_ps";
    TimeFs = 38, I64, "time_fs";
    TimeAs = 39, I64, "time_as";
    Blob = 40, U8, "blob";
    Bool = 41, U8, "bool";
    GeomWkb = 42, U8, "geom_wkb";
    GeomWkt = 43, U8, "geom_wkt";
}

/// Returns the datatype of plain numbers, such as [`Int64`](Datatype::Int64) for
/// [`PhysicalType::I64`].
impl From<PhysicalType> for Datatype {
    fn from(physical: PhysicalType) -> Self {
        match physical {
            PhysicalType::I8 => Self::Int8,
            PhysicalType::U8 => Self::UInt8,
            PhysicalType::I16 => Self::Int16,
            PhysicalType::U16 => Self::UInt16,
            PhysicalType::I32 => Self::Int32,
            PhysicalType::U32 => Self::UInt32,
            PhysicalType::I64 => Self::Int64,
            PhysicalType::U64 => Self::UInt64,
            PhysicalType::F32 => Self::Float32,
            PhysicalType::F64 => Self::Float64,
        }
    }
}

impl Datatype {
    /// Returns the size of one value, in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        self.physical().size()
    }

    /// Returns the datatype with this [`name`](Self::name), or `None` if the name is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|datatype| datatype.name() == name)
    }

    /// Returns `true` for datetimes, `datetime_year` to `datetime_as`. Their values count units
    /// since 1970-01-01 as `i64`.
    #[must_use]
    pub const fn is_datetime(self) -> bool {
        let code = self.code();
        code >= Self::DatetimeYear.code() && code <= Self::DatetimeAs.code()
    }

    /// Returns `true` for times of day, `time_hr` to `time_as`.
    #[must_use]
    pub const fn is_time(self) -> bool {
        let code = self.code();
        code >= Self::TimeHr.code() && code <= Self::TimeAs.code()
    }

    /// Returns `true` for the six string types. `char` is not a string type.
    #[must_use]
    pub const fn is_string(self) -> bool {
        let code = self.code();
        code >= Self::StringAscii.code() && code <= Self::StringUcs4.code()
    }

    /// Returns `true` for opaque bytes: blobs and geometries.
    #[must_use]
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::Blob | Self::GeomWkb | Self::GeomWkt)
    }

    /// Returns `true` for `bool` and the datatypes `int8` to `uint64`. Datetimes, times and `char`
    /// are not integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::Bool
                | Self::Int8
                | Self::UInt8
                | Self::Int16
                | Self::UInt16
                | Self::Int32
                | Self::UInt32
                | Self::Int64
                | Self::UInt64
        )
    }

    /// Returns `true` for `float32` and `float64`.
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.physical().is_float()
    }

    /// Returns `true` if a dimension may have this datatype.
    #[must_use]
    pub const fn may_be_dimension(self) -> bool {
        (self.is_integer() && !matches!(self, Self::Bool))
            || self.is_float()
            || self.is_datetime()
            || self.is_time()
            || matches!(self, Self::StringAscii)
    }

    /// Returns the default fill value, in little-endian order.
    ///
    /// The fill value is the minimum for signed integers, the maximum for unsigned integers, and
    /// NaN for floats. Datetimes, times and `char` count as signed integers. The fill value of
    /// strings, opaque bytes, `any` and `bool` is zero.
    #[must_use]
    pub fn default_fill(self) -> Vec<u8> {
        if self.is_string() || self.is_bytes() || matches!(self, Self::Any | Self::Bool) {
            return vec![0; self.size()];
        }
        let is_signed = self.physical().is_signed_integer();
        with_physical!(
            self.physical(),
            T => (if is_signed { T::MIN } else { T::MAX }).to_le_bytes().to_vec(),
            _ => if self.size() == 4 { f32::NAN.to_le_bytes().to_vec() } else { f64::NAN.to_le_bytes().to_vec() }
        )
    }

    /// Reads a code.
    ///
    /// # Errors
    /// Fails if the byte is missing or the code is unknown.
    pub fn read(reader: &mut ByteReader<'_>, field: &'static str) -> Result<Self> {
        let offset = reader.offset();
        let code = reader.u8(field)?;
        let datatype = Self::from_code(code)
            .ok_or_else(|| DecodeError::invalid(field, offset, code, "a datatype code from 0 to 43"))?;
        reader.explain(|| datatype.name().to_owned());
        Ok(datatype)
    }

    /// Writes the code.
    pub fn write(self, writer: &mut ByteWriter) {
        writer.u8(self.code());
    }
}

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_positions() {
        for (index, datatype) in Datatype::ALL.iter().enumerate() {
            assert_eq!(usize::from(datatype.code()), index);
            assert_eq!(Datatype::from_code(datatype.code()), Some(*datatype));
            assert_eq!(Datatype::from_name(datatype.name()), Some(*datatype));
        }
        assert_eq!(Datatype::from_code(44), None);
    }

    #[test]
    fn fill_values() {
        assert_eq!(Datatype::Char.default_fill(), [0x80]);
        assert_eq!(Datatype::UInt16.default_fill(), [0xff, 0xff]);
        assert_eq!(Datatype::Float32.default_fill(), [0, 0, 0xc0, 0x7f]);
        assert_eq!(Datatype::StringUtf32.default_fill(), [0; 4]);
        assert_eq!(Datatype::DatetimeNs.default_fill(), i64::MIN.to_le_bytes());
    }
}
