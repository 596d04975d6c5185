//! Bytes after the last whole value.

use crate::FilterError;

/// What to make of the bytes after the last whole value of a part, which the reference library's deltas don't write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// What they were is not known, so the part is an error.
    Refused,
    /// Zeros. Metadata of filters before end with lengths, of which the high bytes are lost first: zeros, but in windows of
    /// many bytes. Those filters hold all lengths against the data, so that a wrong one is found. (The reference library
    /// leaves there what the memory held.)
    Zeros,
}

impl Tail {
    /// The whole values of a part that is to be decoded; what follows them is dealt with.
    pub(super) fn split<'a>(
        self,
        part: &'a mut [u8],
        size: usize,
        filter: &'static str,
    ) -> Result<&'a mut [u8], FilterError> {
        let (values, lost) = part.split_at_mut(part.len() / size * size);
        if self == Self::Refused && !lost.is_empty() {
            let what = "the writer has lost the bytes after the last whole value of the part";
            return Err(FilterError::Corrupt { filter, what });
        }
        lost.fill(0);
        Ok(values)
    }
}
