//! A record of the fields read by a parser.

use std::borrow::Cow;
use std::cell::RefCell;

/// A field, or a structure of fields, read by a parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset space: 0 for the file, other numbers for unfiltered payloads (see
    /// [`Spans::space_name`]).
    pub space: u32,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
    /// Nesting depth, 0 for the outermost structures.
    pub depth: u32,
    /// The field's name in the format.
    pub name: Cow<'static, str>,
    /// The value as text, empty for a structure.
    pub value: String,
    /// An explanation of the value, or empty.
    pub meaning: String,
    /// The first [`Span::PREVIEW`] bytes, empty for a structure.
    pub bytes: Vec<u8>,
}

impl Span {
    /// Maximum number of bytes kept per field.
    pub const PREVIEW: usize = 16;
}

/// A record of [`Span`]s, attached to [`ByteReader`](crate::ByteReader)s.
///
/// The number of spans (see [`Spans::MOST`]) and the length of values are bounded, because a small
/// file can unfilter to millions of fields.
///
/// All readers of a parse share the record through interior mutability. The record is not `Sync`,
/// so a recorded parse runs on a single thread.
#[derive(Debug)]
pub struct Spans {
    inner: RefCell<Inner>,
    most: usize,
}

#[derive(Debug, Default)]
struct Inner {
    spans: Vec<Span>,
    depth: u32,
    spaces: Vec<String>,
    /// Number of dropped spans.
    left_out: u64,
}

impl Default for Spans {
    fn default() -> Self {
        Self { inner: RefCell::default(), most: Self::MOST }
    }
}

impl Spans {
    /// Default maximum number of spans.
    pub const MOST: usize = 100_000;

    /// Maximum number of characters of a value or meaning.
    const MOST_TEXT: usize = 1000;

    /// Sets the maximum number of spans.
    #[must_use]
    pub fn keeping(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Returns `true` if the record is full. In this case, counts one dropped span.
    pub(crate) fn leaves_out(&self) -> bool {
        let mut inner = self.inner.borrow_mut();
        let is_full = inner.spans.len() >= self.most;
        inner.left_out += u64::from(is_full);
        is_full
    }

    /// Returns the number of dropped spans.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.inner.borrow().left_out
    }

    /// Adds a span and returns its index. If the record is full, counts the span as dropped and
    /// returns `None`.
    fn keep(
        &self,
        inner: &mut Inner,
        (space, offset, len): (u32, u64, u64),
        name: impl Into<Cow<'static, str>>,
        value: String,
    ) -> Option<usize> {
        if inner.spans.len() >= self.most {
            inner.left_out += 1;
            return None;
        }
        inner.spans.push(Span {
            space,
            offset,
            len,
            depth: inner.depth,
            name: name.into(),
            value: beginning(value),
            meaning: String::new(),
            bytes: Vec::new(),
        });
        Some(inner.spans.len() - 1)
    }

    /// Creates an empty record, with the file as space 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a new offset space, such as an unfiltered payload, and returns its number. If the
    /// number of spaces has reached the maximum number of spans, returns the number of the last
    /// space.
    pub fn new_space(&self, name: impl Into<String>) -> u32 {
        let mut inner = self.inner.borrow_mut();
        if inner.spaces.len() < self.most {
            inner.spaces.push(name.into());
        }
        u32::try_from(inner.spaces.len()).unwrap_or(u32::MAX)
    }

    /// Returns the name of a space. Space 0 and unknown spaces are named `file`.
    #[must_use]
    pub fn space_name(&self, space: u32) -> String {
        let inner = self.inner.borrow();
        match space.checked_sub(1).and_then(|index| inner.spaces.get(usize::try_from(index).ok()?)) {
            Some(name) => name.clone(),
            None => "file".to_owned(),
        }
    }

    /// Returns all spans in the order of reading. A structure precedes its fields.
    #[must_use]
    pub fn into_spans(self) -> Vec<Span> {
        self.inner.into_inner().spans
    }

    /// Returns a copy of the spans recorded so far.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Span> {
        self.inner.borrow().spans.clone()
    }

    /// Records a field at the current depth, or counts it as dropped if the record is full.
    pub fn field(&self, space: u32, offset: u64, len: u64, name: impl Into<Cow<'static, str>>, value: String) {
        self.keep(&mut self.inner.borrow_mut(), (space, offset, len), name, value);
    }

    /// Changes the last recorded span, if no span was dropped.
    fn with_last(&self, change: impl FnOnce(&mut Span)) {
        let mut inner = self.inner.borrow_mut();
        if inner.left_out == 0
            && let Some(span) = inner.spans.last_mut()
        {
            change(span);
        }
    }

    /// Stores the first bytes of a field in the last recorded span. Does nothing after a dropped
    /// span.
    pub fn keep_bytes_of_last(&self, bytes: &[u8]) {
        self.with_last(|span| span.bytes = bytes.iter().take(Span::PREVIEW).copied().collect());
    }

    /// Sets the meaning of the last recorded span. Does nothing after a dropped span.
    pub fn explain_last(&self, meaning: impl Into<String>) {
        self.with_last(|span| span.meaning = beginning(meaning.into()));
    }

    /// Opens a structure and returns its token. Spans recorded until the matching
    /// [`end`](Self::end) are nested inside.
    pub fn begin(&self, space: u32, offset: u64, name: impl Into<Cow<'static, str>>) -> usize {
        let mut inner = self.inner.borrow_mut();
        let token = self.keep(&mut inner, (space, offset, 0), name, String::new());
        inner.depth += 1;
        token.unwrap_or(usize::MAX)
    }

    /// Closes the structure with the `token` returned by [`begin`](Self::begin), at absolute offset
    /// `end`.
    pub fn end(&self, token: usize, end: u64) {
        let mut inner = self.inner.borrow_mut();
        inner.depth = inner.depth.saturating_sub(1);
        if let Some(span) = inner.spans.get_mut(token) {
            span.len = end.saturating_sub(span.offset);
        }
    }
}

/// Shortens a text to [`Spans::MOST_TEXT`] characters.
fn beginning(text: String) -> String {
    match text.char_indices().nth(Spans::MOST_TEXT) {
        // Copying the beginning frees the memory of the long text.
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ByteReader;

    #[test]
    fn spans_beyond_the_limit_are_counted_as_dropped() {
        let bytes = [7; 1000];
        let spans = Spans::new().keeping(10);
        let mut reader = ByteReader::new(&bytes).recording(&spans, 0);
        for index in 0..100 {
            let structure = reader.group(
                || format!("structure {index}"),
                |reader| {
                    reader.u8("field")?;
                    reader.explain(|| format!("meaning {index}"));
                    spans.new_space("space");
                    Ok(())
                },
            );
            assert!(structure.is_ok());
        }
        assert_eq!(spans.left_out(), 190);
        let kept = spans.into_spans();
        assert_eq!(kept.len(), 10);
        assert_eq!((&*kept[8].name, kept[8].len, kept[8].depth), ("structure 4", 1, 0));
        assert_eq!((&*kept[9].name, &*kept[9].meaning, kept[9].depth), ("field", "meaning 4", 1));
    }

    #[test]
    fn long_values_are_shortened() {
        let bytes = "é".repeat(100_000).into_bytes();
        let spans = Spans::new();
        assert!(ByteReader::new(&bytes).recording(&spans, 0).string("name", bytes.len() as u64).is_ok());
        let kept = spans.into_spans();
        assert!(kept[0].value.ends_with("éé…") && kept[0].value.chars().count() == 1001);
    }
}
