//! String ranges with exclusive ends, and prefixes, compared with a simple definition of
//! containment.

use std::ops::Bound;

use proptest::prelude::*;
use tdb_rtree::DimRange;

/// Short strings of few distinct bytes, including the minimum and maximum, so that ends coincide.
fn string() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0, 1, b'a', 254, 255]), 0..4)
}

fn range() -> impl Strategy<Value = DimRange> {
    let end = prop_oneof![
        2 => string().prop_map(Bound::Included),
        3 => string().prop_map(Bound::Excluded),
        1 => Just(Bound::Unbounded),
    ];
    (string(), end).prop_map(|(lo, hi)| DimRange::Var { lo, hi })
}

fn is_in(range: &DimRange, string: &[u8]) -> bool {
    let DimRange::Var { lo, hi } = range else { return false };
    let hi = match hi {
        Bound::Included(hi) => string <= hi.as_slice(),
        Bound::Excluded(hi) => string < hi.as_slice(),
        Bound::Unbounded => true,
    };
    lo.as_slice() <= string && hi
}

/// All strings that can distinguish two ranges: the ends and their successors.
fn probes(ranges: &[&DimRange]) -> Vec<Vec<u8>> {
    let ends = ranges.iter().flat_map(|range| match range {
        DimRange::Var { lo, hi: Bound::Included(hi) | Bound::Excluded(hi) } => vec![lo.clone(), hi.clone()],
        DimRange::Var { lo, .. } => vec![lo.clone()],
        DimRange::Fixed { .. } => Vec::new(),
    });
    let mut probes: Vec<Vec<u8>> = ends.flat_map(|end| [[&end[..], &[0]].concat(), end]).collect();
    probes.extend([Vec::new(), vec![255; 9]]);
    probes
}

proptest! {
    #[test]
    fn ranges_match_the_simple_definition(a in range(), b in range(), some in prop::collection::vec(string(), 0..20)) {
        let strings: Vec<Vec<u8>> = probes(&[&a, &b]).into_iter().chain(some).collect();
        let both = a.intersection(&b);
        let mut hull = a.clone();
        hull.expand(&b);
        let mut expected = Vec::new();
        for string in &strings {
            prop_assert_eq!(a.contains_string(string), is_in(&a, string));
            let in_both = is_in(&a, string) && is_in(&b, string);
            prop_assert_eq!(both.as_ref().is_some_and(|both| is_in(both, string)), in_both);
            prop_assert!(is_in(&hull, string) || !(is_in(&a, string) || is_in(&b, string)));
            let is_wanted = is_in(&a, string) || is_in(&b, string);
            let union = DimRange::union_of(&[a.clone(), b.clone()]);
            prop_assert_eq!(union.iter().filter(|range| is_in(range, string)).count(), usize::from(is_wanted));
            expected.push(is_wanted);
        }
        prop_assert_eq!(a.is_empty(), !strings.iter().any(|string| is_in(&a, string)));
        prop_assert_eq!(a.intersects(&b), strings.iter().any(|string| is_in(&a, string) && is_in(&b, string)));
        if !a.is_empty() && !b.is_empty() {
            prop_assert_eq!(a.contains(&b), !strings.iter().any(|string| is_in(&b, string) && !is_in(&a, string)));
        }
    }

    #[test]
    fn a_prefix_range_contains_strings_with_the_prefix(prefix in string(), strings in prop::collection::vec(string(), 0..50)) {
        let range = DimRange::prefix(prefix.clone());
        for string in strings.iter().chain(&probes(&[&range])) {
            prop_assert_eq!(range.contains_string(string), string.starts_with(&prefix), "{:?}", string);
        }
    }
}
