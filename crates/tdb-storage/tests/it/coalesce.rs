//! Merged reads contain every range, and no bytes beyond the allowed gaps.

use std::ops::Range;

use proptest::prelude::*;
use tdb_storage::{coalesce, locate};

fn range() -> impl Strategy<Value = Range<u64>> {
    (0u64..400, 0u64..30).prop_map(|(start, len)| start..start + len)
}

proptest! {
    #[test]
    fn merged_ranges_add_only_short_gaps(ranges in prop::collection::vec(range(), 0..20), gap in 0u64..40) {
        let merged = coalesce(&ranges, gap);
        for pair in merged.windows(2) {
            prop_assert!(pair[0].end + gap < pair[1].start);
        }
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            let (index, inside) = locate(&merged, range).expect("a merged range contains every range");
            prop_assert_eq!(merged[index].start + inside.start as u64, range.start);
            prop_assert_eq!(inside.len() as u64, range.end - range.start);
        }
        // Each byte of a merged range is requested, or is in a short enough gap between two
        // requested bytes.
        for read in &merged {
            let wanted = |at: u64| ranges.iter().any(|range| range.contains(&at));
            prop_assert!(wanted(read.start) && wanted(read.end - 1));
            let mut unwanted = 0;
            for at in read.clone() {
                unwanted = if wanted(at) { 0 } else { unwanted + 1 };
                prop_assert!(unwanted <= gap);
            }
        }
    }
}

#[test]
#[allow(clippy::single_range_in_vec_init)]
fn extreme_offsets_do_not_overflow() {
    let last = u64::MAX - 1..u64::MAX;
    assert_eq!(coalesce(&[last.clone(), 0..1], u64::MAX), [0..u64::MAX]);
    assert_eq!(coalesce(&[last.clone(), 0..1], 5), [0..1, last.clone()]);
    assert_eq!(coalesce(&[3..3], 5), []);
    assert_eq!(locate(&[], &(0..1)), None);
    assert_eq!(locate(&[5..9, 20..30], &(8..10)), None);
    assert_eq!(locate(&[5..9, 20..30], &(4..6)), None);
    assert_eq!(locate(&[5..9, 20..30], &(30..30)), Some((1, 10..10)));
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 8..6;
    assert_eq!(locate(&[5..9], &backwards), None);
}
