//! Merging of small ranges into fewer reads.

use std::ops::Range;

/// Merges ranges of a file that overlap, touch, or are at most `gap` bytes apart. The result is
/// sorted and disjoint.
///
/// The ranges may be in any order. Empty ranges are dropped. [`locate`] finds a range in the
/// result.
///
/// ```
/// use tdb_storage::{coalesce, locate};
///
/// let wanted = [100..110, 0..10, 14..20];
/// let reads = coalesce(&wanted, 4);
/// assert_eq!(reads, [0..20, 100..110]);
/// assert_eq!(locate(&reads, &wanted[2]), Some((0, 14..20)));
/// assert_eq!(locate(&reads, &wanted[0]), Some((1, 0..10)));
/// ```
#[must_use]
pub fn coalesce(ranges: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| range.start < range.end).cloned().collect();
    // Planners mostly request in file order. The sort is linear in this case.
    sorted.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the index of the `merged` range that contains `range`, and the position of `range`
/// inside it. Returns `None` if no merged range contains `range`.
///
/// `merged` must be sorted and disjoint, as returned by [`coalesce`]. An empty range is found if it
/// touches a merged range.
#[must_use]
pub fn locate(merged: &[Range<u64>], range: &Range<u64>) -> Option<(usize, Range<usize>)> {
    let index = merged.partition_point(|read| read.start <= range.start).checked_sub(1)?;
    let read = merged.get(index)?;
    if range.start > range.end || range.end > read.end {
        return None;
    }
    let start = usize::try_from(range.start - read.start).ok()?;
    let end = usize::try_from(range.end - read.start).ok()?;
    Some((index, start..end))
}
