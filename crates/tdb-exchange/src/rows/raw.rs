//! The raw bytes of CSV rows. The CSV reader does not report which fields were quoted.

/// The bytes that were read from a file, from the current row on.
#[derive(Debug, Default)]
pub(super) struct RawBytes {
    bytes: Vec<u8>,
    /// Position of the first byte in the file.
    start: u64,
}

/// The bytes of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRow<'a> {
    bytes: &'a [u8],
    delimiter: u8,
}

impl RawBytes {
    /// Adds the next bytes.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Drops the bytes before `place` if they are more than half of the bytes in memory.
    pub(super) fn forget(&mut self, place: u64) {
        let before = tdb_types::saturating_len(place - self.start).min(self.bytes.len());
        if before > self.bytes.len() / 2 {
            self.bytes.drain(..before);
            self.start += before as u64;
        }
    }

    /// Returns the row between two positions of the file.
    pub(super) fn row(&self, start: u64, end: u64, delimiter: u8) -> RawRow<'_> {
        let at = |place: u64| tdb_types::saturating_len(place.saturating_sub(self.start));
        let bytes = self.bytes.get(at(start)..at(end).min(self.bytes.len())).unwrap_or_default();
        // Skip the line end of the previous row, and blank lines.
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        RawRow { bytes: &bytes[blank..], delimiter }
    }
}

impl RawRow<'_> {
    /// Returns `true` if the field at index `place`, which holds `text`, is quoted.
    pub(super) fn is_quoted(self, place: usize, text: &str) -> bool {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        quoted.push(b'"');
        for byte in text.bytes() {
            quoted.extend(std::iter::repeat_n(byte, 1 + usize::from(byte == b'"')));
        }
        quoted.push(b'"');
        // The search quickly excludes most fields.
        memchr::memmem::find(self.bytes, &quoted).is_some() && self.field(place).starts_with(b"\"")
    }

    /// Returns the bytes of the row from the field at index `place` on. Returns no bytes if the row
    /// has no such field.
    fn field(&self, place: usize) -> &[u8] {
        let mut rest = self.bytes;
        for _ in 0..place {
            let quotes = match rest.first() {
                Some(b'"') => quoted_len(rest),
                _ => 0,
            };
            match memchr::memchr(self.delimiter, rest.get(quotes..).unwrap_or_default()) {
                Some(end) => rest = &rest[quotes + end + 1..],
                None => return &[],
            }
        }
        rest
    }
}

/// Returns the length of the quoted text at the start of `bytes`, including the quotes.
fn quoted_len(bytes: &[u8]) -> usize {
    let mut len = 1;
    loop {
        match memchr::memchr(b'"', bytes.get(len..).unwrap_or_default()) {
            None => return bytes.len(),
            Some(end) if bytes.get(len + end + 1) == Some(&b'"') => len += end + 2,
            Some(end) => return len + end + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_are_found() {
        let mut raw = RawBytes::default();
        raw.pass(b"x,y\r\n1,\"\",");
        raw.pass(b"\"a,\"\"b\",\"NA\",NA,\n");
        raw.forget(4);
        let row = raw.row(4, 26, b',');
        let quoted: Vec<bool> = [(0, "1"), (1, ""), (2, "a,\"b"), (3, "NA"), (4, "NA"), (5, "")]
            .map(|(at, text)| row.is_quoted(at, text))
            .into();
        assert_eq!(quoted, [false, true, true, true, false, false]);
        assert!(!raw.row(90, 99, b',').is_quoted(0, ""));
    }
}
