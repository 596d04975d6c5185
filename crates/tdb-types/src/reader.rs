//! Conversion of bytes to integers.

use byteorder::{ByteOrder, LittleEndian};

use crate::spans::Spans;
use crate::{DecodeError, DecodeErrorKind, Result};

/// A bounded little-endian reader over a slice, cheap to clone.
///
/// Each read names its field. Errors carry the field and the absolute offset. With [`Spans`]
/// attached, the reader also records each field for `tdb inspect`.
#[derive(Clone, Debug)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Absolute offset of `bytes[0]`.
    base: u64,
    space: u32,
    spans: Option<&'a Spans>,
}

macro_rules! integers {
    ($($name:ident: $type:ty, $read:expr;)*) => {$(
        #[doc = concat!("Reads a little-endian `", stringify!($type), "`.\n\n# Errors\nFails if bytes are missing.")]
        pub fn $name(&mut self, field: &'static str) -> Result<$type> {
            let offset = self.offset();
            let bytes = self.take(field, size_of::<$type>())?;
            let value: $type = $read(bytes);
            self.record(field, offset, || value.to_string());
            Ok(value)
        }
    )*};
}

impl<'a> ByteReader<'a> {
    /// Creates a reader over `bytes`, starting at offset 0.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, base: 0, space: 0, spans: None }
    }

    /// Creates a reader over `bytes`, whose first byte is at absolute offset `base` of the file.
    #[must_use]
    pub fn at(bytes: &'a [u8], base: u64) -> Self {
        Self { base, ..Self::new(bytes) }
    }

    /// Attaches a record of fields. Offsets are recorded in `space` (see [`Spans::new_space`]).
    #[must_use]
    pub fn recording(mut self, spans: &'a Spans, space: u32) -> Self {
        self.spans = Some(spans);
        self.space = space;
        self
    }

    /// Returns the attached record, if any.
    #[must_use]
    pub fn spans(&self) -> Option<&'a Spans> {
        self.spans
    }

    /// Returns the number of the offset space of this reader's bytes.
    #[must_use]
    pub fn space(&self) -> u32 {
        self.space
    }

    /// Returns the absolute offset of the next byte.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(self.position as u64)
    }

    /// Returns the number of remaining bytes.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Returns the remaining bytes without consuming them.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    integers! {
        u8: u8, |b: &[u8]| b[0];
        u16: u16, LittleEndian::read_u16;
        u32: u32, LittleEndian::read_u32;
        u64: u64, LittleEndian::read_u64;
        i32: i32, LittleEndian::read_i32;
        i64: i64, LittleEndian::read_i64;
        f32: f32, LittleEndian::read_f32;
        f64: f64, LittleEndian::read_f64;
    }

    /// Reads a byte with the value 0 or 1.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or the byte has another value.
    pub fn bool(&mut self, field: &'static str) -> Result<bool> {
        let offset = self.offset();
        match self.u8(field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(DecodeError::invalid(field, offset, other, "0 or 1")),
        }
    }

    /// Reads a one-byte code and converts it with `decode`.
    ///
    /// `expected` describes the valid codes in the error message.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or `decode` returns `None`.
    pub fn code<T: std::fmt::Debug>(
        &mut self,
        field: &'static str,
        expected: &'static str,
        decode: impl FnOnce(u8) -> Option<T>,
    ) -> Result<T> {
        let offset = self.offset();
        let code = self.u8(field)?;
        let value = decode(code).ok_or_else(|| DecodeError::invalid(field, offset, code, expected))?;
        self.explain(|| format!("{value:?}"));
        Ok(value)
    }

    /// Reads `len` raw bytes.
    ///
    /// # Errors
    /// Fails if the bytes are truncated.
    pub fn bytes(&mut self, field: &'static str, len: u64) -> Result<&'a [u8]> {
        let offset = self.offset();
        let len = self.length(field, len)?;
        let bytes = self.take(field, len)?;
        self.record(field, offset, || preview(bytes));
        Ok(bytes)
    }

    /// Reads `len` bytes of UTF-8.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or not UTF-8.
    pub fn string(&mut self, field: &'static str, len: u64) -> Result<String> {
        let offset = self.offset();
        let len = self.length(field, len)?;
        let bytes = self.take(field, len)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| DecodeError::invalid(field, offset, preview(bytes), "a UTF-8 name"))?;
        self.record(field, offset, || format!("{text:?}"));
        Ok(text.to_owned())
    }

    /// Reads a `u32` length followed by as many bytes of UTF-8.
    ///
    /// # Errors
    /// The errors of [`string`](Self::string).
    pub fn string_u32(&mut self, field: &'static str) -> Result<String> {
        let len = self.u32(field)?;
        self.explain(|| "length".to_owned());
        self.string(field, u64::from(len))
    }

    /// Reads a `u64` length followed by as many bytes of UTF-8.
    ///
    /// # Errors
    /// The errors of [`string`](Self::string).
    pub fn string_u64(&mut self, field: &'static str) -> Result<String> {
        let len = self.u64(field)?;
        self.explain(|| "length".to_owned());
        self.string(field, len)
    }

    /// Checks that `count` items of at least `min_item` bytes each fit in the remaining bytes, and
    /// returns `count` as `usize`. Call this before allocating.
    ///
    /// A `min_item` of 0 counts as 1, so that the remaining bytes always bound the count.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Truncated`] if the items do not fit.
    pub fn count(&self, field: &'static str, count: u64, min_item: u64) -> Result<usize> {
        let need = count.saturating_mul(min_item.max(1));
        if need > self.remaining() as u64 {
            return Err(self.truncated(field, need));
        }
        usize::try_from(count).map_err(|_| self.truncated(field, need))
    }

    /// Reads `count` little-endian `u64` values.
    ///
    /// # Errors
    /// Fails if the bytes are truncated.
    pub fn u64_list(&mut self, field: &'static str, count: u64) -> Result<Vec<u64>> {
        let offset = self.offset();
        let count = self.count(field, count, 8)?;
        let bytes = self.take(field, count * 8)?;
        let mut values = vec![0; count];
        LittleEndian::read_u64_into(bytes, &mut values);
        self.record(field, offset, || preview_list(&values));
        Ok(values)
    }

    /// Consumes the next `len` bytes and returns a reader over them. The returned reader keeps
    /// absolute offsets and the record.
    ///
    /// # Errors
    /// Fails if the bytes are truncated.
    pub fn sub(&mut self, field: &'static str, len: u64) -> Result<ByteReader<'a>> {
        let base = self.offset();
        let len = self.length(field, len)?;
        let bytes = self.take(field, len)?;
        Ok(ByteReader { bytes, position: 0, base, space: self.space, spans: self.spans })
    }

    /// Runs `parse` inside a structure called `name`. Errors carry the name, and recorded fields
    /// are nested in the structure.
    ///
    /// # Errors
    /// Returns the errors of `parse`.
    pub fn group<T>(&mut self, name: impl Fn() -> String, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let token = self.spans.map(|spans| spans.begin(self.space, self.offset(), name()));
        let result = parse(self);
        if let (Some(spans), Some(token)) = (self.spans, token) {
            spans.end(token, self.offset());
        }
        result.map_err(|error| error.inside(name()))
    }

    /// Adds a meaning to the last recorded field. Does nothing without a record.
    pub fn explain(&self, meaning: impl FnOnce() -> String) {
        if let Some(spans) = self.spans {
            spans.explain_last(meaning());
        }
    }

    /// Checks that no bytes remain. `field` names the structure in the error.
    ///
    /// # Errors
    /// Fails if bytes remain.
    pub fn finish(self, field: &'static str) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            left => {
                let kind = DecodeErrorKind::TrailingBytes { count: left as u64 };
                Err(DecodeError::new(kind, field, self.offset()))
            }
        }
    }

    fn length(&self, field: &'static str, len: u64) -> Result<usize> {
        usize::try_from(len).map_err(|_| self.truncated(field, len))
    }

    fn take(&mut self, field: &'static str, len: usize) -> Result<&'a [u8]> {
        match self.rest().get(..len) {
            Some(bytes) => {
                self.position += len;
                Ok(bytes)
            }
            None => Err(self.truncated(field, len as u64)),
        }
    }

    #[cold]
    fn truncated(&self, field: &'static str, need: u64) -> DecodeError {
        let kind = DecodeErrorKind::Truncated { need, have: self.remaining() as u64 };
        DecodeError::new(kind, field, self.offset())
    }

    fn record(&self, field: &'static str, offset: u64, value: impl FnOnce() -> String) {
        if let Some(spans) = self.spans
            && !spans.leaves_out()
        {
            let len = self.offset() - offset;
            spans.field(self.space, offset, len, field, value());
            let start = self.position.saturating_sub(crate::saturating_len(len));
            spans.keep_bytes_of_last(self.bytes.get(start..self.position).unwrap_or_default());
        }
    }
}

/// Formats the first bytes in hexadecimal.
fn preview(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = crate::hex::encode(bytes.get(..16).unwrap_or(bytes));
    if bytes.len() > 16 {
        let _ = write!(text, "… ({} bytes)", bytes.len());
    }
    text
}

/// Formats the first values of a list.
fn preview_list(values: &[u64]) -> String {
    let shown: Vec<String> = values.iter().take(8).map(u64::to_string).collect();
    match values.len() {
        0..=8 => format!("[{}]", shown.join(", ")),
        len => format!("[{}, … {len} values]", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests;
