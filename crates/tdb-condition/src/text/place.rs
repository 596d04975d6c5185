//! Positions in a text.

use std::ops::Range;

/// An error: its byte range and message.
pub(super) type Wrong = (Range<usize>, String);

/// The byte ranges of the parts of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TestPlace {
    pub(super) field: Range<usize>,
    pub(super) values: Vec<Range<usize>>,
}
