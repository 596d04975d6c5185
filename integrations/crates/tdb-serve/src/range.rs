//! The `Range` header of RFC 9110.

use std::ops::Range;

/// Maximum number of parts in a response.
const PARTS: usize = 64;
/// Maximum number of ranges in a request, including unsatisfiable ranges.
const RANGES: usize = 1024;

/// The requested parts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// The entire file. RFC 9110 ignores malformed headers and unknown units.
    Whole,
    /// Non-empty ranges within the file, without overlaps.
    Parts(Vec<Range<u64>>),
    /// No range begins within the file, or the request has too many ranges.
    Unsatisfiable,
}

impl Ranges {
    /// Parses the value of a `Range` header, for a file of `size` bytes. Merges overlapping ranges.
    ///
    /// ```
    /// use tdb_serve::Ranges;
    ///
    /// assert_eq!(Ranges::parse("bytes=2-3, -1", 10), Ranges::Parts(vec![2..4, 9..10]));
    /// assert_eq!(Ranges::parse("bytes=10-", 10), Ranges::Unsatisfiable);
    /// assert_eq!(Ranges::parse("cells=1-2", 10), Ranges::Whole);
    /// ```
    #[must_use]
    pub fn parse(value: &str, size: u64) -> Self {
        let Some((unit, set)) = value.split_once('=') else { return Self::Whole };
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return Self::Whole;
        }
        let (mut parts, mut count) = (Vec::new(), 0);
        for element in set.split(',').map(|element| element.trim_matches([' ', '\t'])) {
            if element.is_empty() {
                continue;
            }
            count += 1;
            if count > RANGES {
                return Self::Unsatisfiable;
            }
            match one(element, size) {
                Some(range) if !range.is_empty() => parts.push(range),
                Some(_) => {}
                None => return Self::Whole,
            }
        }
        if count == 0 {
            return Self::Whole;
        }
        let parts = merged(parts);
        if parts.is_empty() || parts.len() > PARTS { Self::Unsatisfiable } else { Self::Parts(parts) }
    }
}

/// Parses a range. Returns an empty range for a start beyond the end, and `None` for malformed
/// text.
fn one(element: &str, size: u64) -> Option<Range<u64>> {
    let (first, last) = element.split_once('-')?;
    if first.is_empty() {
        return Some(size.saturating_sub(number(last)?)..size);
    }
    let first = number(first)?;
    let end = if last.is_empty() { size } else { number(last).filter(|last| *last >= first)?.saturating_add(1) };
    Some(first.min(size)..end.min(size))
}

/// Parses digits. Numbers of more than 64 bits become the maximum.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Keeps the order of ranges without overlaps. Otherwise sorts and merges the ranges.
fn merged(parts: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut sorted = parts.clone();
    sorted.sort_unstable_by_key(|range| (range.start, range.end));
    if sorted.is_sorted_by(|a, b| a.end <= b.start) {
        return parts;
    }
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // one range in a list of ranges
mod tests {
    use super::*;

    fn parts(value: &str) -> Vec<Range<u64>> {
        match Ranges::parse(value, 10) {
            Ranges::Parts(parts) => parts,
            other => panic!("{value}: {other:?}"),
        }
    }

    #[test]
    fn ranges_are_clamped_to_the_file() {
        for (value, range) in [
            ("bytes=0-0", 0..1),
            ("bytes=0-9", 0..10),
            ("bytes=0-10", 0..10),
            ("bytes=3-", 3..10),
            ("bytes=-3", 7..10),
            ("bytes=-30", 0..10),
            ("Bytes = 1-2", 1..3),
            ("bytes=9-99999999999999999999999", 9..10),
            ("bytes=-99999999999999999999999", 0..10),
            ("bytes=,\t1-1 ,", 1..2),
            ("bytes=20-30,1-1", 1..2),
        ] {
            assert_eq!(parts(value), vec![range], "{value}");
        }
    }

    #[test]
    fn malformed_headers_are_ignored() {
        let malformed = [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=a-b",
            "bytes=1",
            "bytes=2-1",
            "bytes=--1",
            "bytes=-",
            "bytes=1-2-3",
            "bytes=+1-2",
            "bytes=0x1-2",
            "bytes=1 - 2",
            "items=1-2",
            "bytes=1-2;3-4",
            "bytes=1-2,x",
            "=1-2",
            "bytes=-1-2",
        ];
        for value in malformed {
            assert_eq!(Ranges::parse(value, 10), Ranges::Whole, "{value:?}");
        }
    }

    #[test]
    fn ranges_beyond_the_end_are_unsatisfiable() {
        for value in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-", "bytes=11-,12-13"] {
            assert_eq!(Ranges::parse(value, 10), Ranges::Unsatisfiable, "{value}");
        }
        for value in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
            assert_eq!(Ranges::parse(value, 0), Ranges::Unsatisfiable, "{value}");
        }
    }

    #[test]
    fn overlapping_ranges_are_merged() {
        assert_eq!(parts("bytes=5-6,1-2"), [5..7, 1..3]);
        assert_eq!(parts("bytes=5-6,1-5"), [1..7]);
        assert_eq!(parts("bytes=0-,0-,0-"), [0..10]);
        let many = |step: usize| {
            let ranges: Vec<String> = (0..70).map(|number| format!("{0}-{0}", number * step)).collect();
            Ranges::parse(&format!("bytes={}", ranges.join(",")), 1000)
        };
        assert_eq!(many(2), Ranges::Unsatisfiable);
        assert_eq!(many(0), Ranges::Parts(vec![0..1]));
        assert_eq!(Ranges::parse(&format!("bytes={}", "0-0,".repeat(2000)), 10), Ranges::Unsatisfiable);
    }
}
