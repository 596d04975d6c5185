//! Random trees and queries: a search finds the same tiles as checking every tile, and stored trees
//! survive a round trip.

use std::ops::Bound;

use proptest::prelude::*;
use tdb_rtree::{DimRange, DimensionKind, NdRange, RTree};
use tdb_types::{ByteReader, ByteWriter, Datatype, FormatVersion, PhysicalType, Scalar, Spans};

use crate::fuzz_replay::fuzz::oracle;

/// Bounds that often coincide, including the ends of every type.
fn coordinate(kind: DimensionKind) -> BoxedStrategy<DimRangeBound> {
    if kind.var {
        return prop::collection::vec(prop::sample::select(vec![0u8, b'a', b'b', 0xff]), 0..4)
            .prop_map(DimRangeBound::String)
            .boxed();
    }
    let physical = kind.physical();
    let small = if physical.is_float() {
        let values = vec![-2.5, -1.0, -0.0, 0.0, 1.0, 3.5, f64::INFINITY, f64::NEG_INFINITY];
        prop::sample::select(values).prop_map(move |value| float(physical, value).key()).boxed()
    } else {
        // Consecutive keys in the middle and at the ends of the type.
        let size = physical.size();
        let (max, middle) = (u64::MAX >> (64 - 8 * size), 1u64 << (8 * size - 1));
        prop_oneof![(0u64..20).prop_map(move |key| middle + key), Just(0), Just(max), Just(max - 1)].boxed()
    };
    small.prop_map(DimRangeBound::Key).boxed()
}

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum DimRangeBound {
    Key(u64),
    String(Vec<u8>),
}

fn float(physical: PhysicalType, value: f64) -> Scalar {
    if physical == PhysicalType::F32 { Scalar::F32(value as f32) } else { Scalar::F64(value) }
}

/// A storable range.
fn range(kind: DimensionKind) -> impl Strategy<Value = DimRange> {
    (coordinate(kind), coordinate(kind)).prop_map(|(a, b)| {
        let (lo, hi) = if a <= b { (a, b) } else { (b, a) };
        match (lo, hi) {
            (DimRangeBound::String(lo), DimRangeBound::String(hi)) => DimRange::strings(lo, hi),
            (DimRangeBound::Key(lo), DimRangeBound::Key(hi)) => DimRange::Fixed { lo, hi },
            _ => unreachable!("both are of one kind"),
        }
    })
}

/// A searchable range, possibly descending.
fn wanted(kind: DimensionKind) -> BoxedStrategy<DimRange> {
    let backwards = (range(kind), range(kind)).prop_map(|ranges| match ranges {
        (DimRange::Fixed { hi, .. }, DimRange::Fixed { lo, .. }) => DimRange::Fixed { lo: hi, hi: lo },
        (DimRange::Var { lo, .. }, DimRange::Var { hi: Bound::Included(hi), .. }) => DimRange::strings(hi, lo),
        _ => unreachable!("both are of one kind"),
    });
    let open = range(kind).prop_map(move |range| match range {
        DimRange::Fixed { lo, .. } => DimRange::Fixed { lo, hi: u64::MAX },
        DimRange::Var { lo, .. } => DimRange::strings_from(lo),
    });
    let half_open = range(kind).prop_map(move |range| match range {
        DimRange::Var { lo, hi: Bound::Included(hi) } => DimRange::strings_before(lo, hi),
        other => other,
    });
    prop_oneof![8 => range(kind), 1 => backwards, 1 => open, 3 => half_open, 2 => Just(DimRange::everything(kind))]
        .boxed()
}

fn kind() -> impl Strategy<Value = DimensionKind> {
    use Datatype::{DatetimeMs, Float32, Float64, Int8, Int16, Int32, Int64, StringAscii, UInt8, UInt32, UInt64};
    let fixed = vec![Int8, UInt8, Int16, Int32, UInt32, Int64, UInt64, Float32, Float64, DatetimeMs];
    prop_oneof![
        5 => prop::sample::select(fixed).prop_map(DimensionKind::fixed),
        1 => Just(DimensionKind::var(StringAscii)),
    ]
}

type Case = (Vec<DimensionKind>, Vec<NdRange>, Vec<Vec<DimRange>>);

fn case() -> impl Strategy<Value = Case> {
    prop::collection::vec(kind(), 1..4).prop_flat_map(|kinds| {
        let tile: Vec<_> = kinds.iter().map(|kind| range(*kind)).collect();
        let tiles = prop::collection::vec(tile.prop_map(NdRange), 0..150);
        let query: Vec<_> = kinds.iter().map(|kind| prop::collection::vec(wanted(*kind), 1..4)).collect();
        (Just(kinds), tiles, query)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 4000 }))]

    #[test]
    fn a_search_finds_the_same_tiles_as_a_scan((kinds, tiles, query) in case(), fanout in prop_oneof![Just(10u32), 2u32..80]) {
        let tree = RTree::build(&kinds, &tiles, fanout).unwrap();
        prop_assert!(tree.is_covering());
        let found: Vec<_> = tree.search(&query).unwrap().collect();
        prop_assert_eq!(&found, &oracle::search(&tree, &query));
        // Without trees and coverage: a found tile intersects a range in each dimension.
        let meets = |tile: &NdRange| {
            let tile = tile.widened(&kinds);
            tile.0.iter().zip(&query).all(|(bounds, ranges)| ranges.iter().any(|range| !range.is_empty() && range.intersects(bounds)))
        };
        let expected: Vec<_> = (0u64..).zip(&tiles).filter(|tile| meets(tile.1)).map(|tile| tile.0).collect();
        prop_assert_eq!(found.iter().map(|tile| tile.0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn stored_trees_round_trip((kinds, tiles, _) in case(), fanout in 2u32..20, version in 1u32..24) {
        let version = FormatVersion::new(version).unwrap();
        let tree = RTree::build(&kinds, &tiles, fanout).unwrap();
        for (tile, mbr) in tiles.iter().enumerate() {
            prop_assert_eq!(&tree.mbr(tile as u64).unwrap(), mbr);
        }
        let mut writer = ByteWriter::new();
        tree.write(&mut writer, version);
        let mut reader = ByteReader::new(writer.as_slice());
        let parsed = RTree::parse(&mut reader, &kinds, version).unwrap();
        reader.finish("tree").unwrap();
        prop_assert_eq!(&parsed, &tree);
        let spans = Spans::new();
        let recorded = RTree::parse(&mut ByteReader::new(writer.as_slice()).recording(&spans, 0), &kinds, version);
        prop_assert_eq!(recorded.unwrap(), tree);
    }

    #[test]
    fn a_truncated_tree_is_rejected((kinds, tiles, _) in case(), cut in any::<prop::sample::Index>()) {
        let tree = RTree::build(&kinds, &tiles, 10).unwrap();
        let mut writer = ByteWriter::new();
        tree.write(&mut writer, FormatVersion::DEFAULT);
        let bytes = &writer.as_slice()[..cut.index(writer.len())];
        prop_assert!(RTree::parse(&mut ByteReader::new(bytes), &kinds, FormatVersion::DEFAULT).is_err());
    }

    #[test]
    fn ranges_relate_as_sets_do((kind, a, b, c) in kind().prop_flat_map(|kind| (Just(kind), wanted(kind), wanted(kind), coordinate(kind)))) {
        let has = |range: &DimRange| match &c {
            DimRangeBound::Key(key) => range.contains_key(*key),
            DimRangeBound::String(string) => range.contains_string(string),
        };
        prop_assert_eq!(a.intersection(&b).is_some_and(|both| has(&both)), has(&a) && has(&b));
        prop_assert_eq!(a.intersects(&b), b.intersects(&a));
        if has(&a) {
            prop_assert!(!a.is_empty());
            if b.contains(&a) {
                prop_assert!(has(&b));
            }
        }
        if !a.is_empty() && !b.is_empty() {
            let mut hull = a.clone();
            hull.expand(&b);
            prop_assert!(hull.contains(&a) && hull.contains(&b));
            prop_assert!(DimRange::everything(kind).intersects(&hull));
        }
    }
}
