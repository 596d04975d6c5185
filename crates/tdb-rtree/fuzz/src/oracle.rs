//! A simple reference implementation of search, tile by tile.

use std::ops::Bound;

use tdb_rtree::{Coverage, DimRange, DimensionKind, NdRange, RTree};

/// Returns the tiles that [`RTree::search`] must find.
pub fn search(tree: &RTree, query: &[Vec<DimRange>]) -> Vec<(u64, Coverage)> {
    let tiles = (0..tree.leaf_count()).map(|tile| tree.mbr(tile).expect("a tile"));
    let found = tiles.map(|mbr| coverage(&mbr, tree.kinds(), query));
    found.enumerate().filter_map(|(tile, coverage)| Some((tile as u64, coverage?))).collect()
}

fn coverage(mbr: &NdRange, kinds: &[DimensionKind], query: &[Vec<DimRange>]) -> Option<Coverage> {
    let mut all = true;
    for ((bounds, ranges), kind) in mbr.widened(kinds).0.iter().zip(query).zip(kinds) {
        let ranges: Vec<_> =
            ranges.iter().filter(|range| !range.is_empty()).map(|range| both_zeros(range, *kind)).collect();
        if !ranges.iter().any(|range| range.intersects(bounds)) {
            return None;
        }
        all &= match bounds {
            DimRange::Fixed { lo, hi } => all_keys_in(&ranges, *lo, *hi),
            DimRange::Var { lo, hi: Bound::Included(hi) } => all_strings_in(&ranges, lo, hi),
            DimRange::Var { .. } => unreachable!("stored ranges include their end"),
        };
    }
    Some(if all { Coverage::Full } else { Coverage::Partial })
}

/// Extends a bound of `0.0` or `-0.0` to include both zeros.
fn both_zeros(range: &DimRange, kind: DimensionKind) -> DimRange {
    match range {
        DimRange::Fixed { lo, hi } if kind.datatype.is_float() => {
            let zero = |sign: u8| {
                let mut bytes = [0; 8];
                bytes[kind.datatype.size() - 1] = sign;
                tdb_types::ordered_key(kind.physical(), &bytes)
            };
            let (negative, positive) = (zero(0x80), zero(0));
            DimRange::Fixed {
                lo: if *lo == positive { negative } else { *lo },
                hi: if *hi == negative { positive } else { *hi },
            }
        }
        other => other.clone(),
    }
}

/// Returns `true` if the ranges contain all keys from `lo` to `hi`.
fn all_keys_in(ranges: &[DimRange], lo: u64, hi: u64) -> bool {
    let mut next = lo;
    loop {
        let Some(end) = ranges
            .iter()
            .filter(|range| range.contains_key(next))
            .map(|range| match range {
                DimRange::Fixed { hi, .. } => *hi,
                DimRange::Var { .. } => 0,
            })
            .max()
        else {
            return false;
        };
        match end.checked_add(1) {
            Some(after) if after <= hi => next = after,
            _ => return true,
        }
    }
}

/// Returns `true` if the ranges reach from `lo` to `hi`, each overlapping or adjacent to the
/// previous.
fn all_strings_in(ranges: &[DimRange], lo: &[u8], hi: &[u8]) -> bool {
    let mut reached = lo.to_vec();
    loop {
        let ends = ranges.iter().filter(|range| range.contains_string(&reached)).map(|range| match range {
            // The first string after the range.
            DimRange::Var { hi: Bound::Included(hi), .. } => Some([&hi[..], &[0]].concat()),
            DimRange::Var { hi: Bound::Excluded(hi), .. } => Some(hi.clone()),
            DimRange::Var { hi: Bound::Unbounded, .. } => None,
            DimRange::Fixed { .. } => Some(Vec::new()),
        });
        let ends: Vec<_> = ends.collect();
        if ends.contains(&None) {
            return true;
        }
        match ends.into_iter().flatten().max() {
            Some(end) if end.as_slice() > hi => return true,
            Some(end) if end > reached => reached = end,
            _ => return false,
        }
    }
}
