//! Conversion of integers to bytes.

use byteorder::{LittleEndian, WriteBytesExt};

/// A little-endian writer into a growing buffer, the counterpart of
/// [`ByteReader`](crate::ByteReader).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteWriter {
    bytes: Vec<u8>,
}

macro_rules! integers {
    ($($name:ident: $type:ty;)*) => {$(
        #[doc = concat!("Appends a little-endian `", stringify!($type), "`.")]
        pub fn $name(&mut self, value: $type) {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    )*};
}

impl ByteWriter {
    /// Creates an empty writer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    integers! {
        u8: u8;
        u16: u16;
        u32: u32;
        u64: u64;
        i32: i32;
        i64: i64;
        f32: f32;
        f64: f64;
    }

    /// Appends 0 or 1.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// Appends raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a `u32` length and the bytes of `text`. The caller must reject texts of 4 GiB or
    /// more, because the length would saturate.
    pub fn string_u32(&mut self, text: &str) {
        self.u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.bytes(text.as_bytes());
    }

    /// Appends a `u64` length and the bytes of `text`.
    pub fn string_u64(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Appends `u64` values.
    pub fn u64_list(&mut self, values: &[u64]) {
        self.bytes.reserve(values.len() * 8);
        for &value in values {
            // Writing to a `Vec` cannot fail.
            let _ = self.bytes.write_u64::<LittleEndian>(value);
        }
    }

    /// Returns the number of bytes written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns `true` if no bytes were written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes written so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
