use proptest::prelude::*;
use tdb_types::{Datatype, Scalar, ordered_keys};

use super::{CoordinateColumn, HilbertCurve, transform};
use crate::{Dimension, Domain};

/// A curve over `dimensions` dimensions. Each coordinate is its own bucket, without scaling.
fn plain(dimensions: usize) -> HilbertCurve {
    let bits = 63 / u32::try_from(dimensions).expect("few dimensions");
    let high = Scalar::U64((1 << bits) - 1);
    let side = |index| Dimension::new(format!("d{index}"), Scalar::U64(0)..=high).with_datatype(Datatype::UInt64);
    HilbertCurve::new(&Domain::new((0..dimensions).map(side).collect())).expect("a curve")
}

fn values(curve: &HilbertCurve, columns: &[CoordinateColumn<'_>]) -> Vec<u64> {
    let mut values = Vec::new();
    curve.values(columns, &mut values);
    values
}

/// An independent inverse of the transform: from a position along the curve to buckets.
fn buckets_of(value: u64, dimensions: usize, bits: u32) -> Vec<u64> {
    let mut axes = vec![0_u64; dimensions];
    for (place, axis) in (0..bits).rev().flat_map(|bit| (0..dimensions).map(move |axis| (bit, axis))).rev().enumerate()
    {
        axes[axis.1] |= ((value >> place) & 1) << axis.0;
    }
    let carried = axes[dimensions - 1] >> 1;
    for index in (1..dimensions).rev() {
        axes[index] ^= axes[index - 1];
    }
    axes[0] ^= carried;
    for bit in 1..bits {
        let lower = (1_u64 << bit) - 1;
        for index in (0..dimensions).rev() {
            if (axes[index] >> bit) & 1 == 1 {
                axes[0] ^= lower;
            } else {
                let exchanged = (axes[0] ^ axes[index]) & lower;
                axes[0] ^= exchanged;
                axes[index] ^= exchanged;
            }
        }
    }
    axes
}

#[test]
fn the_first_cells_of_a_plane() {
    // The start of the curve in the usual drawing, with the first dimension to the right. The first
    // step goes right if the number of bits is even (4 in the usual drawing), and up if the number
    // is odd. The 31 bits of `plain(2)` therefore swap the two dimensions.
    let path = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (0, 3), (1, 3), (1, 2), (2, 2), (2, 3), (3, 3), (3, 2)];
    let (right, up): (Vec<u64>, Vec<u64>) = path.into_iter().unzip();
    let expected: Vec<u64> = (0..12).collect();
    let mirrored = [CoordinateColumn::Keys(&up), CoordinateColumn::Keys(&right)];
    assert_eq!(values(&plain(2), &mirrored), expected);
    for (value, (right, up)) in (0..).zip(path) {
        assert_eq!(transform::value(&mut [right, up], 4), value);
    }
}

#[test]
fn neighbors_along_the_curve_are_neighbors_in_space() {
    for dimensions in 1..=16 {
        let curve = plain(dimensions);
        let mut before = vec![0; dimensions];
        for value in 1..2000 {
            let here = buckets_of(value, dimensions, curve.bits());
            let distance: u64 = here.iter().zip(&before).map(|(a, b)| a.abs_diff(*b)).sum();
            assert_eq!(distance, 1, "{dimensions} dimensions, from {} to {value}", value - 1);
            assert_eq!(curve.value_of_buckets(&here), value, "{dimensions} dimensions");
            before = here;
        }
    }
}

#[test]
fn one_dimension_ends_at_the_rounded_bucket() {
    // As a double, the highest bucket of 63 bits rounds up to 2^63, which exceeds 63 bits. The
    // Hilbert value of the last coordinate therefore has all 63 bits set.
    let side = Dimension::new("d", -5i32..=5);
    let curve = HilbertCurve::new(&Domain::new(vec![side])).expect("a curve");
    let keys = [-5, 0, 5].map(|value| Scalar::I32(value).key());
    assert_eq!(values(&curve, &[CoordinateColumn::Keys(&keys)]), [0, 1 << 62, (1 << 63) - 1]);
}

#[test]
fn a_domain_of_one_coordinate_leaves_the_others_in_order() {
    // Scaling divides zero by zero here. The reference library (2.30.0, x86-64) sorts the cells by
    // the other dimension.
    let point = Dimension::new("d", 2.5f64..=2.5);
    let line = Dimension::new("e", 0u8..=200);
    let points = [Scalar::F64(2.5).key(); 21];
    let lines: Vec<u8> = (0..=200).step_by(10).collect();
    let (points, lines) = (CoordinateColumn::Keys(&points), CoordinateColumn::Values(&lines));
    for (dimensions, columns) in
        [(vec![point.clone(), line.clone()], [points, lines]), (vec![line, point], [lines, points])]
    {
        let curve = HilbertCurve::new(&Domain::new(dimensions)).expect("a curve");
        assert!(values(&curve, &columns).is_sorted());
    }
}

#[test]
fn sixteen_dimensions_match_the_reference_library() {
    // Twelve cells, with one row per dimension. The assertion contains the order in which release
    // 2.30.0 stored the cells.
    const COORDINATES: [&[u8; 12]; 16] = [
        &[6, 0, 1, 1, 1, 6, 6, 4, 0, 0, 2, 3],
        &[4, 3, 2, 1, 5, 5, 0, 0, 3, 3, 7, 4],
        &[3, 3, 5, 4, 1, 5, 6, 7, 6, 2, 2, 5],
        &[5, 5, 6, 2, 7, 0, 0, 7, 7, 2, 1, 2],
        &[0, 7, 5, 4, 1, 3, 1, 6, 3, 0, 2, 5],
        &[4, 2, 2, 0, 4, 5, 4, 7, 7, 1, 4, 5],
        &[1, 2, 3, 5, 2, 5, 5, 1, 3, 6, 6, 5],
        &[0, 5, 1, 6, 7, 3, 7, 6, 2, 7, 3, 0],
        &[4, 6, 5, 3, 7, 3, 3, 1, 1, 5, 6, 2],
        &[5, 6, 1, 2, 4, 4, 3, 3, 1, 4, 7, 1],
        &[6, 1, 0, 5, 1, 6, 2, 4, 7, 7, 3, 1],
        &[2, 6, 4, 1, 7, 7, 7, 4, 7, 4, 4, 7],
        &[4, 6, 2, 6, 7, 0, 4, 2, 0, 0, 2, 1],
        &[5, 1, 5, 6, 3, 1, 0, 2, 3, 3, 2, 6],
        &[4, 7, 7, 5, 0, 1, 5, 4, 7, 5, 6, 0],
        &[2, 5, 5, 2, 1, 4, 0, 5, 6, 5, 0, 4],
    ];
    let side = |index| Dimension::new(format!("d{index}"), 0u8..=7);
    let curve = HilbertCurve::new(&Domain::new((0..16).map(side).collect())).expect("a curve");
    let columns = COORDINATES.map(|column| CoordinateColumn::Values(column));
    let found = values(&curve, &columns);
    let mut order: Vec<usize> = (0..12).collect();
    order.sort_by_key(|cell| found[*cell]);
    assert_eq!(order, [9, 1, 8, 2, 3, 11, 4, 10, 0, 5, 6, 7]);
}

#[test]
fn strings_count_by_their_first_bytes() {
    let curve = HilbertCurve::new(&Domain::new(vec![Dimension::string("s")])).expect("a curve");
    let text = b"cat\xff\x01ab\x80";
    // The strings are "cat", "\xff\x01", "a", "" and "b\x80". A byte of 0x80 or above sets all bits
    // of the preceding bytes.
    let offsets = [0, 3, 5, 6, 6];
    let found = values(&curve, &[CoordinateColumn::Strings { offsets: &offsets, values: text }]);
    let expected = [
        u64::from_be_bytes(*b"cat\0\0\0\0\0") >> 1,
        u64::from_be_bytes(*b"\xff\x01\0\0\0\0\0\0") >> 1,
        u64::from_be_bytes(*b"a\0\0\0\0\0\0\0") >> 1,
        0,
        u64::from_be_bytes(*b"\xff\x80\0\0\0\0\0\0") >> 1,
    ];
    assert_eq!(found, expected);
}

#[test]
fn mismatched_columns_are_harmless() {
    let curve =
        HilbertCurve::new(&Domain::new(vec![Dimension::string("s"), Dimension::new("d", 0i32..=9)])).expect("a curve");
    let hostile = CoordinateColumn::Strings { offsets: &[9, 3, u64::MAX], values: b"ab" };
    let keys = [u64::MAX, 0, 5];
    assert_eq!(values(&curve, &[hostile, CoordinateColumn::Keys(&keys)]).len(), 3);
    assert_eq!(values(&curve, &[CoordinateColumn::Keys(&keys), hostile]), [0; 3]);
    assert_eq!(values(&curve, &[hostile]), []);
    assert_eq!(values(&curve, &[hostile, CoordinateColumn::Values(&[1, 2, 3, 4, 5])]).len(), 1);
}

#[test]
fn too_many_dimensions_are_refused() {
    let side = |index| Dimension::new(format!("d{index}"), 0i8..=9);
    let curve = |count: i32| HilbertCurve::new(&Domain::new((0..count).map(side).collect()));
    assert!(curve(0).is_err() && curve(16).is_ok() && curve(17).is_err());
}

proptest! {
    #[test]
    fn blocks_match_single_cells(dimensions in 1_usize..=16, cells in 0_usize..200, seed: u64) {
        let curve = plain(dimensions);
        let bits = curve.bits();
        // A few buckets have more than `bits` bits and take the slow path.
        let bucket = |cell: usize, axis: usize| {
            let mixed = (cell as u64 * 31 + axis as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if mixed.is_multiple_of(997) { mixed } else { mixed >> (64 - bits) }
        };
        let mut buckets: Vec<[u64; super::BLOCK]> = vec![[0; super::BLOCK]; dimensions];
        let cells = cells.min(super::BLOCK);
        for (axis, buckets) in buckets.iter_mut().enumerate() {
            for (cell, to) in buckets.iter_mut().enumerate().take(cells) {
                *to = bucket(cell, axis);
            }
        }
        let mut found = [0; super::BLOCK];
        curve.transform.apply(&mut buckets, &mut found);
        for (cell, found) in found.iter().enumerate().take(cells) {
            let mut axes: Vec<u64> = (0..dimensions).map(|axis| bucket(cell, axis)).collect();
            prop_assert_eq!(*found, transform::value(&mut axes, bits));
        }
    }

    #[test]
    fn keys_and_values_agree(values_of_x in proptest::collection::vec(any::<i16>(), 0..150), y: f32) {
        let curve = HilbertCurve::new(&Domain::new(vec![
            Dimension::new("x", i16::MIN..=i16::MAX),
            Dimension::new("y", -1e30f32..=1e30),
        ])).expect("a curve");
        let x: Vec<u8> = values_of_x.iter().flat_map(|value| value.to_le_bytes()).collect();
        let y: Vec<u8> = values_of_x.iter().flat_map(|_| y.to_le_bytes()).collect();
        let (mut x_keys, mut y_keys) = (Vec::new(), Vec::new());
        ordered_keys(tdb_types::PhysicalType::I16, &x, &mut x_keys);
        ordered_keys(tdb_types::PhysicalType::F32, &y, &mut y_keys);
        let by_value = values(&curve, &[CoordinateColumn::Values(&x), CoordinateColumn::Values(&y)]);
        let by_key = values(&curve, &[CoordinateColumn::Keys(&x_keys), CoordinateColumn::Keys(&y_keys)]);
        prop_assert_eq!(by_value.len(), values_of_x.len());
        prop_assert_eq!(by_value, by_key);
    }
}

/// Generates boxes of buckets, as a lower and an upper end per dimension, with random numbers that
/// select cells in the box.
fn boxes() -> impl Strategy<Value = (Vec<(u64, u64)>, Vec<Vec<u64>>)> {
    (1..17_usize).prop_flat_map(|dimensions| {
        let bits = 63 / u32::try_from(dimensions).expect("few dimensions");
        let bucket = move || (any::<u64>(), 0..bits).prop_map(move |(bucket, shift)| (bucket >> (64 - bits)) >> shift);
        let range = (bucket(), bucket()).prop_map(|(a, b)| (a.min(b), a.max(b)));
        let inside = prop::collection::vec(prop::collection::vec(any::<u64>(), dimensions), 1..20);
        (prop::collection::vec(range, dimensions), inside)
    })
}

proptest! {
    #[test]
    fn a_box_is_within_its_bounds((ranges, inside) in boxes()) {
        let curve = plain(ranges.len());
        let corners: Vec<[u64; 2]> = ranges.iter().map(|(low, high)| [*low, *high]).collect();
        let columns: Vec<_> = corners.iter().map(|ends| CoordinateColumn::Keys(ends)).collect();
        let (low, high) = curve.ends(&columns);
        for point in inside {
            let at = point.iter().zip(&ranges).map(|(at, (low, high))| low + at % (high - low + 1));
            let value = curve.value_of_buckets(&at.collect::<Vec<_>>());
            prop_assert!((low..=high).contains(&value), "{value} is not between {low} and {high}");
        }
    }

    #[test]
    fn prefixes_are_the_high_bits_of_values(
        dimensions in 1..17_usize,
        cells in prop::collection::vec(prop::collection::vec(any::<u64>(), 16), 1..150),
        shift in 0..64_u32,
    ) {
        let curve = plain(dimensions);
        let bits = curve.bits();
        let columns: Vec<Vec<u64>> = (0..dimensions)
            .map(|axis| cells.iter().map(|cell| (cell[axis] >> (64 - bits)) >> (shift % bits)).collect())
            .collect();
        let columns: Vec<_> = columns.iter().map(|keys| CoordinateColumn::Keys(keys)).collect();
        let kept = if dimensions == 1 { bits } else { bits.min(16) };
        let mut found = Vec::new();
        curve.prefixes(&columns, &mut found);
        let dropped = (bits - kept) * u32::try_from(dimensions).expect("few dimensions");
        let expected = values(&curve, &columns).into_iter().map(|value| value >> dropped);
        prop_assert_eq!(found, expected.collect::<Vec<_>>());
    }

    /// In two dimensions, `ends` returns the exact minimum and maximum Hilbert value in the box.
    #[test]
    fn the_bounds_of_a_small_box_are_exact(at in [0..1_u64 << 31, 0..1_u64 << 31], size in [0..9_u64, 0..9_u64]) {
        let curve = plain(2);
        let ends = |axis: usize| [at[axis], (at[axis] + size[axis]).min((1 << 31) - 1)];
        let (x, y) = (ends(0), ends(1));
        let found = curve.ends(&[CoordinateColumn::Keys(&x), CoordinateColumn::Keys(&y)]);
        let all = (x[0]..=x[1]).flat_map(|x| (y[0]..=y[1]).map(move |y| [x, y]));
        let all = all.map(|place| curve.value_of_buckets(&place)).collect::<Vec<_>>();
        prop_assert_eq!(found, (*all.iter().min().expect("a place"), *all.iter().max().expect("a place")));
    }

    #[test]
    fn strings_are_within_the_bounds_of_their_ranges(mut strings in prop::collection::vec(prop::collection::vec(
        prop_oneof![Just(b'a'), Just(0x7f), Just(0x80), Just(0xff), Just(0)], 0..10), 3)) {
        strings.sort();
        let curve = HilbertCurve::new(&Domain::new(vec![Dimension::string("a"), Dimension::string("b")])).expect("a curve");
        let column = |strings: &[Vec<u8>]| {
            let starts = strings.iter().scan(0, |at, string| Some(std::mem::replace(at, *at + string.len() as u64)));
            (starts.collect::<Vec<u64>>(), strings.concat())
        };
        let (offsets, values) = column(&[strings[0].clone(), strings[2].clone()]);
        let corners = CoordinateColumn::Strings { offsets: &offsets, values: &values };
        let (low, high) = curve.ends(&[corners, corners]);
        let (offsets, values) = column(&strings);
        let strings = CoordinateColumn::Strings { offsets: &offsets, values: &values };
        for value in self::values(&curve, &[strings, strings]) {
            prop_assert!((low..=high).contains(&value));
        }
    }
}
