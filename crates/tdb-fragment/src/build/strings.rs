//! Comparison of strings in statistics. Like the reference library, it stops at the first NUL.

use std::cmp::Ordering;

/// Compares strings of the same length. Ignores the bytes after a NUL at the same position in both.
pub(super) fn compare_fixed(a: &[u8], b: &[u8]) -> Ordering {
    for (a, b) in a.iter().zip(b) {
        if a != b {
            return a.cmp(b);
        }
        if *a == 0 {
            return Ordering::Equal;
        }
    }
    Ordering::Equal
}

/// Compares strings of any length: the common length first, then the shorter string sorts first.
pub(super) fn compare_var(a: &[u8], b: &[u8]) -> Ordering {
    compare_fixed(a, b).then(a.len().cmp(&b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_unsigned_and_end_at_nul() {
        assert_eq!(compare_fixed(b"a\xff", b"ab"), Ordering::Greater);
        assert_eq!(compare_fixed(b"a\0z", b"a\0b"), Ordering::Equal);
        assert_eq!(compare_fixed(b"a\0z", b"aaa"), Ordering::Less);
        assert_eq!(compare_var(b"ab", b"abc"), Ordering::Less);
        assert_eq!(compare_var(b"a\0zz", b"a\0b"), Ordering::Greater);
        assert_eq!(compare_var(b"", b""), Ordering::Equal);
    }
}
