//! A record of what a parse has read.

use std::borrow::Cow;
use std::cell::RefCell;

/// One field, or one structure that holds fields, as a parse met it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which bytes `offset` counts in: 0 is the file, others are unfiltered payloads (see [`Spans::space_name`]).
    pub space: u32,
    /// Offset of the first byte.
    pub offset: u64,
    /// Bytes covered.
    pub len: u64,
    /// Nesting: 0 for the outermost structures.
    pub depth: u32,
    /// The field's name in the format's words.
    pub name: Cow<'static, str>,
    /// The value as read; empty for a structure.
    pub value: String,
    /// What the value means, where the value alone doesn't say; else empty.
    pub meaning: String,
    /// The first bytes covered, at most [`Span::PREVIEW`]; empty for a structure.
    pub bytes: Vec<u8>,
}

impl Span {
    /// How many bytes of a field are kept.
    pub const PREVIEW: usize = 16;
}

/// Collects [`Span`]s while [`ByteReader`](crate::ByteReader)s that were given it read.
///
/// Interior mutability lets every reader of one parse share it; it is not `Sync`, a recorded parse runs on one thread.
#[derive(Debug, Default)]
pub struct Spans {
    inner: RefCell<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    spans: Vec<Span>,
    depth: u32,
    spaces: Vec<String>,
}

impl Spans {
    /// An empty record whose space 0 is the file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a new space of offsets (the unfiltered payload of something) and gives its number.
    pub fn new_space(&self, name: impl Into<String>) -> u32 {
        let mut inner = self.inner.borrow_mut();
        inner.spaces.push(name.into());
        u32::try_from(inner.spaces.len()).unwrap_or(u32::MAX)
    }

    /// The name of a space; space 0 is `file`.
    #[must_use]
    pub fn space_name(&self, space: u32) -> String {
        let inner = self.inner.borrow();
        match space.checked_sub(1).and_then(|index| inner.spaces.get(usize::try_from(index).ok()?)) {
            Some(name) => name.clone(),
            None => "file".to_owned(),
        }
    }

    /// All spans in the order in which their first bytes were read; a structure stands before its fields.
    #[must_use]
    pub fn into_spans(self) -> Vec<Span> {
        self.inner.into_inner().spans
    }

    /// A copy of the spans so far.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Span> {
        self.inner.borrow().spans.clone()
    }

    /// Records one field at the present depth.
    pub fn field(&self, space: u32, offset: u64, len: u64, name: impl Into<Cow<'static, str>>, value: String) {
        let mut inner = self.inner.borrow_mut();
        let depth = inner.depth;
        inner.spans.push(Span {
            space,
            offset,
            len,
            depth,
            name: name.into(),
            value,
            meaning: String::new(),
            bytes: Vec::new(),
        });
    }

    /// Keeps the first of the bytes that the span recorded last covers.
    pub fn keep_bytes_of_last(&self, bytes: &[u8]) {
        if let Some(span) = self.inner.borrow_mut().spans.last_mut() {
            span.bytes = bytes.iter().take(Span::PREVIEW).copied().collect();
        }
    }

    /// Adds a meaning to the span recorded last.
    pub fn explain_last(&self, meaning: impl Into<String>) {
        if let Some(span) = self.inner.borrow_mut().spans.last_mut() {
            span.meaning = meaning.into();
        }
    }

    /// Opens a structure; what is recorded until the matching [`end`](Self::end) lies inside it.
    pub fn begin(&self, space: u32, offset: u64, name: impl Into<Cow<'static, str>>) -> usize {
        let mut inner = self.inner.borrow_mut();
        let depth = inner.depth;
        inner.spans.push(Span {
            space,
            offset,
            len: 0,
            depth,
            name: name.into(),
            value: String::new(),
            meaning: String::new(),
            bytes: Vec::new(),
        });
        inner.depth += 1;
        inner.spans.len() - 1
    }

    /// Closes the structure that [`begin`](Self::begin) gave `token` for, at absolute `end`.
    pub fn end(&self, token: usize, end: u64) {
        let mut inner = self.inner.borrow_mut();
        inner.depth = inner.depth.saturating_sub(1);
        if let Some(span) = inner.spans.get_mut(token) {
            span.len = end.saturating_sub(span.offset);
        }
    }
}
