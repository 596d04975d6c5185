//! Boxes, compared with a simple definition of containment.

use std::ops::Bound;

use proptest::prelude::*;
use tdb_rtree::{BoxedTile, Boxes, Coverage, DimRange, DimensionKind, NdRange, RTree};
use tdb_types::{ByteReader, ByteWriter, Datatype, FormatVersion, Scalar};

/// Short strings of few distinct bytes, including the minimum and maximum, so that ends coincide.
fn string() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0, 1, 254, 255]), 0..3)
}

fn wanted(kind: DimensionKind) -> BoxedStrategy<DimRange> {
    if kind.var {
        let end = prop_oneof![
            string().prop_map(Bound::Included),
            string().prop_map(Bound::Excluded),
            Just(Bound::Unbounded),
        ];
        return (string(), end).prop_map(|(lo, hi)| DimRange::Var { lo, hi }).boxed();
    }
    let max = if kind.datatype == Datatype::UInt8 { 255 } else { u64::MAX };
    let key = move || prop_oneof![8 => 120u64..140, 1 => Just(0), 1 => Just(max)];
    let point = key().prop_map(|key| DimRange::Fixed { lo: key, hi: key });
    prop_oneof![point, (key(), key()).prop_map(|(lo, hi)| DimRange::Fixed { lo, hi })].boxed()
}

fn stored(kind: DimensionKind) -> BoxedStrategy<DimRange> {
    let ordered = |range: DimRange| match range {
        DimRange::Fixed { lo, hi } => DimRange::Fixed { lo: lo.min(hi), hi: lo.max(hi) },
        DimRange::Var { lo, hi: Bound::Included(hi) | Bound::Excluded(hi) } => {
            DimRange::strings(lo.clone().min(hi.clone()), lo.max(hi))
        }
        DimRange::Var { lo, .. } => DimRange::strings(lo, [255; 4]),
    };
    wanted(kind).prop_map(ordered).boxed()
}

fn kinds() -> impl Strategy<Value = Vec<DimensionKind>> {
    let kind = prop::sample::select(vec![
        DimensionKind::fixed(Datatype::UInt8),
        DimensionKind::fixed(Datatype::UInt64),
        DimensionKind::var(Datatype::StringAscii),
    ]);
    prop::collection::vec(kind, 1..4)
}

type Case = (Vec<DimensionKind>, Vec<Vec<DimRange>>, Vec<Vec<DimRange>>);

/// Dimensions, boxes and tiles, each with a range in every dimension.
fn cases() -> impl Strategy<Value = Case> {
    kinds().prop_flat_map(|kinds| {
        let all = |side: fn(DimensionKind) -> BoxedStrategy<DimRange>, most: usize| {
            prop::collection::vec(kinds.iter().map(|kind| side(*kind)).collect::<Vec<_>>(), 0..most)
        };
        (Just(kinds.clone()), all(wanted, 30), all(stored, 60))
    })
}

fn columns(kinds: &[DimensionKind], boxes: &[Vec<DimRange>]) -> Vec<Vec<DimRange>> {
    (0..kinds.len()).map(|dimension| boxes.iter().map(|sides| sides[dimension].clone()).collect()).collect()
}

fn is_in(range: &DimRange, cell: &DimRange) -> bool {
    match cell {
        DimRange::Fixed { lo, .. } => range.contains_key(*lo),
        DimRange::Var { lo, .. } => range.contains_string(lo),
    }
}

proptest! {
    #[test]
    fn tiles_and_cells((kinds, boxes, tiles) in cases()) {
        let all = Boxes::new(&kinds, &columns(&kinds, &boxes)).unwrap();
        let mbrs: Vec<NdRange> = tiles.iter().map(|sides| NdRange(sides.clone())).collect();
        let tree = RTree::build(&kinds, &mbrs, 3).unwrap();
        let mut found = Vec::new();
        tree.search_boxes(&all, &mut |BoxedTile { tile, coverage, boxes }| found.push((tile, coverage, boxes.to_vec())));
        let some: Vec<NdRange> = (0..all.len())
            .map(|number| NdRange((0..kinds.len()).map(|dimension| all.range(dimension, number).unwrap()).collect()))
            .collect();
        let expected = mbrs.iter().enumerate().filter_map(|(tile, mbr)| {
            let meet: Vec<u32> = (0u32..).zip(&some).filter(|(_, other)| other.intersects(mbr)).map(|(number, _)| number).collect();
            let is_met = boxes.iter().any(|sides| NdRange(sides.clone()).intersects(mbr));
            assert_eq!(is_met, !meet.is_empty());
            let full = boxes.iter().any(|sides| NdRange(sides.clone()).contains(mbr));
            is_met.then(|| match full {
                true => (tile as u64, Coverage::Full, Vec::new()),
                false => (tile as u64, Coverage::Partial, meet),
            })
        });
        prop_assert_eq!(found, expected.collect::<Vec<_>>());

        // Cells at the starts of tiles.
        let places: Vec<Vec<u32>> = (0..kinds.len()).map(|dimension| {
            let mut places = Vec::new();
            for tile in &tiles {
                match &tile[dimension] {
                    DimRange::Fixed { lo, .. } => all.places_of_keys(dimension, &[*lo], &mut places),
                    DimRange::Var { lo, .. } => all.places_of_strings(dimension, [&lo[..]], &mut places),
                }
            }
            places
        }).collect();
        let numbers: Vec<u32> = (0..all.len() as u32).collect();
        let is_inside = |cell: &Vec<DimRange>| boxes.iter().any(|sides| sides.iter().zip(cell).all(|(side, cell)| is_in(side, cell)));
        let inside: Vec<bool> = tiles.iter().map(is_inside).collect();
        prop_assert_eq!(all.contain(&numbers, &places), inside.clone());
        if all.are_product(&numbers) {
            let sides: Vec<_> = (0..kinds.len()).map(|dimension| all.along(dimension, &numbers)).collect();
            let in_sides = |cell: &Vec<DimRange>| sides.iter().zip(cell).all(|(sides, cell)| sides.iter().any(|side| is_in(side, cell)));
            prop_assert_eq!(tiles.iter().map(in_sides).collect::<Vec<_>>(), inside);
        }
    }

    #[test]
    fn unions_contain_the_same_coordinates((kinds, boxes, tiles) in cases()) {
        let ranges: Vec<DimRange> = boxes.iter().map(|sides| sides[0].clone()).collect();
        let union = DimRange::union_of(&ranges);
        for tile in &tiles {
            let narrowed: Vec<_> = union.iter().filter(|range| range.intersects(&tile[0])).cloned().collect();
            prop_assert_eq!(DimRange::narrowed(&union, &tile[0]), narrowed);
            let count = |ranges: &[DimRange]| ranges.iter().filter(|range| is_in(range, &tile[0])).count();
            prop_assert_eq!(count(&union), count(&ranges).min(1), "{:?}", kinds);
        }
    }
}

#[test]
fn both_zeros_are_one_point() {
    let kinds = [DimensionKind::fixed(Datatype::Float64)];
    for zero in [0.0, -0.0] {
        let key = Scalar::F64(zero).key();
        let boxes = Boxes::new(&kinds, &[vec![DimRange::Fixed { lo: key, hi: key }]]).unwrap();
        let mut places = Vec::new();
        boxes.places_of_keys(0, &[0.0, -0.0, 1e-300].map(|value| Scalar::F64(value).key()), &mut places);
        assert_eq!(boxes.contain(&[0], &[places]), [true, true, false]);
    }
}

#[test]
fn ranges_must_match_the_dimensions() {
    let kinds = [DimensionKind::fixed(Datatype::Int32), DimensionKind::var(Datatype::StringAscii)];
    let numbers = vec![DimRange::Fixed { lo: 1, hi: 2 }];
    let error = |ranges: &[Vec<DimRange>]| Boxes::new(&kinds, ranges).unwrap_err().to_string();
    assert_eq!(error(std::slice::from_ref(&numbers)), "expected ranges for 2 dimensions, found 1");
    assert_eq!(
        error(&[numbers.clone(), numbers.clone()]),
        "dimension 1: expected a range of strings, found fixed-size values"
    );
    assert_eq!(error(&[numbers, Vec::new()]), "dimension 1: expected 1 ranges, as in the first dimension, found 0");
}

#[test]
fn a_tree_may_be_very_deep() {
    // Levels with a single node each.
    let kind = DimensionKind::fixed(Datatype::UInt64);
    let levels = 60_000_u32;
    let mut writer = ByteWriter::new();
    writer.u32(2);
    writer.u32(levels);
    for _ in 0..levels {
        writer.u64(1);
        writer.u64(3);
        writer.u64(9);
    }
    let tree = RTree::parse(&mut ByteReader::new(writer.as_slice()), &[kind], FormatVersion::DEFAULT).unwrap();
    let boxes =
        Boxes::new(&[kind], &[vec![DimRange::Fixed { lo: 4, hi: 5 }, DimRange::Fixed { lo: 7, hi: 7 }]]).unwrap();
    let mut found = Vec::new();
    tree.search_boxes(&boxes, &mut |BoxedTile { tile, boxes, .. }| found.push((tile, boxes.to_vec())));
    assert_eq!(found, [(0, vec![0, 1])]);
}
