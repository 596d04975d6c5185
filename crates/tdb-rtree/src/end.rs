//! Upper ends of string ranges.

use std::cmp::Ordering;
use std::ops::Bound;

/// Borrows an end.
pub(crate) fn borrow(end: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match end {
        Bound::Included(end) => Bound::Included(end),
        Bound::Excluded(end) => Bound::Excluded(end),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// Returns `true` if the string is not beyond the end.
pub(crate) fn reaches(end: Bound<&[u8]>, string: &[u8]) -> bool {
    match end {
        Bound::Included(end) => string <= end,
        Bound::Excluded(end) => string < end,
        Bound::Unbounded => true,
    }
}

/// Compares two ends. `Unbounded` is greater than any other end.
pub(crate) fn compare(a: Bound<&[u8]>, b: Bound<&[u8]>) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(a), Bound::Included(b)) | (Bound::Excluded(a), Bound::Excluded(b)) => a.cmp(b),
        // The successor of `a` is `a` followed by a zero byte.
        (Bound::Included(a), Bound::Excluded(b)) => {
            if is_next(a, b) {
                Ordering::Equal
            } else {
                a.cmp(b).then(Ordering::Greater)
            }
        }
        (Bound::Excluded(_), Bound::Included(_)) => compare(b, a).reverse(),
    }
}

/// Returns `true` if no string is between a range with this end and a range from `start` on.
pub(crate) fn touches(end: Bound<&[u8]>, start: &[u8]) -> bool {
    match end {
        Bound::Included(end) => start <= end || is_next(end, start),
        Bound::Excluded(end) => start <= end,
        Bound::Unbounded => true,
    }
}

/// Returns the excluded end of the strings with a prefix, which is the prefix with the last byte
/// incremented. Trailing bytes of 255 are dropped first. Returns `Unbounded` if all bytes are 255.
pub(crate) fn of_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    let Some(last) = prefix.iter().rposition(|byte| *byte < u8::MAX) else { return Bound::Unbounded };
    let mut end = prefix.get(..=last).unwrap_or_default().to_vec();
    if let Some(byte) = end.last_mut() {
        *byte = byte.saturating_add(1);
    }
    Bound::Excluded(end)
}

/// Returns `true` if `next` is the successor of `string`.
fn is_next(string: &[u8], next: &[u8]) -> bool {
    next.split_last() == Some((&0, string))
}
