//! Where ranges of strings end.

use std::cmp::Ordering;
use std::ops::Bound;

/// The end without the memory that it is in.
pub(crate) fn borrow(end: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match end {
        Bound::Included(end) => Bound::Included(end),
        Bound::Excluded(end) => Bound::Excluded(end),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// Whether the string lies before the end.
pub(crate) fn reaches(end: Bound<&[u8]>, string: &[u8]) -> bool {
    match end {
        Bound::Included(end) => string <= end,
        Bound::Excluded(end) => string < end,
        Bound::Unbounded => true,
    }
}

/// Which of two ends comes first; that of all strings comes last.
pub(crate) fn compare(a: Bound<&[u8]>, b: Bound<&[u8]>) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(a), Bound::Included(b)) | (Bound::Excluded(a), Bound::Excluded(b)) => a.cmp(b),
        // The string that comes next after `a` is `a` with a byte 0 behind it.
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

/// Whether a range that begins at `start` leaves no string between itself and one that ends so.
pub(crate) fn touches(end: Bound<&[u8]>, start: &[u8]) -> bool {
    match end {
        Bound::Included(end) => start <= end || is_next(end, start),
        Bound::Excluded(end) => start <= end,
        Bound::Unbounded => true,
    }
}

/// Where the strings end that begin with a prefix: before the prefix whose last byte is one more. There is none if all bytes
/// are 255, since nothing comes behind such strings.
pub(crate) fn of_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    let Some(last) = prefix.iter().rposition(|byte| *byte < u8::MAX) else { return Bound::Unbounded };
    let mut end = prefix.get(..=last).unwrap_or_default().to_vec();
    if let Some(byte) = end.last_mut() {
        *byte = byte.saturating_add(1);
    }
    Bound::Excluded(end)
}

/// Whether no string lies between `string` and `next`.
fn is_next(string: &[u8], next: &[u8]) -> bool {
    next.split_last() == Some((&0, string))
}
