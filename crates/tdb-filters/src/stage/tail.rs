//! Bytes after the last whole value of a part.

use crate::FilterError;

/// The treatment of bytes after the last whole value of a part. The delta filters of the reference
/// library do not write these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// The lost bytes are unknown, so decoding fails.
    Refused,
    /// Assumes zeros.
    ///
    /// Metadata of earlier filters end with lengths, and the lost bytes are high bytes. These are
    /// zero except for very large windows. The earlier filters check all lengths against the data,
    /// which reveals a wrong assumption. The reference library leaves uninitialized memory there.
    Zeros,
}

impl Tail {
    /// Returns the whole values of a part to be decoded, and handles the bytes after them.
    pub(super) fn split<'a>(
        self,
        part: &'a mut [u8],
        size: usize,
        filter: &'static str,
    ) -> Result<&'a mut [u8], FilterError> {
        let (values, lost) = part.split_at_mut(part.len() / size * size);
        if self == Self::Refused && !lost.is_empty() {
            let what = "the writer lost the bytes after the last whole value of the part";
            return Err(FilterError::Corrupt { filter, what });
        }
        lost.fill(0);
        Ok(values)
    }
}
