//! Typed metadata values.

use std::borrow::Cow;
use std::fmt;

use tdb_types::{Datatype, PhysicalType, Scalar};

/// An error of creating or writing metadata.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataWriteError {
    /// The key exceeds the 32-bit length of the format.
    #[error("metadata key of {len} bytes exceeds the limit of 4294967295")]
    KeyTooLong {
        /// Length of the key, in bytes.
        len: u64,
    },
    /// The bytes are not whole values, or exceed the 32-bit count of the format.
    #[error(
        "{len} bytes are not a metadata value of {datatype}: expected a whole number of values, at most 4294967295"
    )]
    BadLength {
        /// The datatype.
        datatype: Datatype,
        /// Length of the given value, in bytes.
        len: u64,
    },
}

/// A metadata value: zero or more values of a datatype.
#[derive(Clone, PartialEq, Eq)]
pub struct MetadataValue {
    datatype: Datatype,
    count: u32,
    bytes: Vec<u8>,
}

/// A metadata value, interpreted by datatype and content.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataView<'a> {
    /// Zero values. Empty strings are [`Text`](Self::Text) instead, and empty blobs are
    /// [`Bytes`](Self::Bytes).
    Empty,
    /// Text. Libraries use `char`, `string_ascii` and `string_utf8` interchangeably. Invalid text
    /// is [`Bytes`](Self::Bytes).
    Text(Cow<'a, str>),
    /// A single number, boolean, date or time.
    Number(Scalar),
    /// Several numbers, booleans, dates or times.
    Numbers(Vec<Scalar>),
    /// A value of datatype `blob`, `geom_wkb` or `any`, or a string datatype with invalid text.
    Bytes(&'a [u8]),
}

impl MetadataValue {
    /// Creates a value from little-endian bytes.
    ///
    /// # Errors
    /// Fails if the bytes are not a whole number of values, or if the number exceeds 4294967295.
    pub fn new(datatype: Datatype, bytes: Vec<u8>) -> Result<Self, MetadataWriteError> {
        let bad = || MetadataWriteError::BadLength { datatype, len: bytes.len() as u64 };
        if !bytes.len().is_multiple_of(datatype.size()) {
            return Err(bad());
        }
        let count = u32::try_from(bytes.len() / datatype.size()).map_err(|_| bad())?;
        Ok(Self { datatype, count, bytes })
    }

    /// Creates a text value of datatype `string_utf8`.
    ///
    /// # Errors
    /// Fails if the text has 4 GiB or more.
    pub fn text(text: &str) -> Result<Self, MetadataWriteError> {
        Self::new(Datatype::StringUtf8, text.as_bytes().to_vec())
    }

    /// Creates a value from `bytes`, which must be `count` values.
    pub(crate) fn from_parts(datatype: Datatype, count: u32, bytes: Vec<u8>) -> Self {
        debug_assert_eq!(bytes.len() as u64, u64::from(count) * datatype.size() as u64);
        Self { datatype, count, bytes }
    }

    /// Returns the datatype.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Returns the number of values. For text, this is the number of bytes or code units.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the bytes of the values, in little-endian order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the interpreted value.
    #[must_use]
    pub fn view(&self) -> MetadataView<'_> {
        if is_string(self.datatype) {
            return self.decoded().map_or(MetadataView::Bytes(&self.bytes), MetadataView::Text);
        }
        match self.datatype {
            Datatype::Blob | Datatype::GeomWkb | Datatype::Any => MetadataView::Bytes(&self.bytes),
            _ if self.count == 0 => MetadataView::Empty,
            _ => match self.scalars().collect::<Vec<_>>().as_slice() {
                [one] => MetadataView::Number(*one),
                several => MetadataView::Numbers(several.to_vec()),
            },
        }
    }

    /// Returns the text, or `None` if [`view`](Self::view) is not [`Text`](MetadataView::Text).
    #[must_use]
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self.view() {
            MetadataView::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns integers, booleans, dates or times as integers. Returns `None` for floats, strings
    /// and bytes (`blob`, `geom_wkb`, `any`), and if a value exceeds `i64`.
    #[must_use]
    pub fn as_integers(&self) -> Option<Vec<i64>> {
        let is_bytes = matches!(self.datatype, Datatype::Blob | Datatype::GeomWkb | Datatype::Any);
        let is_integer = !self.datatype.is_float() && !is_string(self.datatype) && !is_bytes;
        let integer = |scalar: Scalar| i64::try_from(scalar.to_integer()?).ok();
        is_integer.then(|| self.scalars().map(integer).collect())?
    }

    /// Iterates over the values as scalars of the datatype's physical type.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> {
        let physical = self.datatype.physical();
        let chunks = self.bytes.chunks_exact(self.datatype.size().max(1));
        chunks.filter_map(move |bytes| Scalar::from_le_bytes(physical, bytes))
    }

    fn decoded(&self) -> Option<Cow<'_, str>> {
        match self.datatype.physical() {
            PhysicalType::U16 => {
                let units: Vec<u16> =
                    self.bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
                String::from_utf16(&units).ok().map(Cow::Owned)
            }
            PhysicalType::U32 => {
                let units = self.bytes.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit));
                units.map(char::from_u32).collect::<Option<String>>().map(Cow::Owned)
            }
            _ => std::str::from_utf8(&self.bytes).ok().map(Cow::Borrowed),
        }
    }
}

/// Returns `true` if libraries use the datatype for text.
fn is_string(datatype: Datatype) -> bool {
    matches!(
        datatype,
        Datatype::Char
            | Datatype::StringAscii
            | Datatype::StringUtf8
            | Datatype::StringUtf16
            | Datatype::StringUtf32
            | Datatype::StringUcs2
            | Datatype::StringUcs4
            | Datatype::GeomWkt
    )
}

impl fmt::Display for MetadataValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.view() {
            MetadataView::Empty => write!(f, "no {}", self.datatype),
            MetadataView::Text(text) => write!(f, "{text:?}"),
            MetadataView::Number(number) => write!(f, "{number}"),
            MetadataView::Numbers(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", numbers.join(", "))
            }
            MetadataView::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl fmt::Debug for MetadataValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", self.datatype)
    }
}
