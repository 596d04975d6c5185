//! Places in a text.

use std::ops::Range;

/// What is wrong, and where.
pub(super) type Wrong = (Range<usize>, String);

/// Where the parts of a test stand in the text, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TestPlace {
    pub(super) field: Range<usize>,
    pub(super) values: Vec<Range<usize>>,
}
