use proptest::prelude::*;
use tdb_types::{Datatype, PhysicalType, Scalar};

use super::truncate;
use crate::Dimension;

fn indices(dimension: &Dimension, keys: &[u64]) -> Vec<u64> {
    let mut indices = Vec::new();
    dimension.tiling().indices(keys, &mut indices);
    let one_by_one: Vec<u64> = keys.iter().map(|key| dimension.tile_index(*key)).collect();
    assert_eq!(indices, one_by_one);
    indices
}

#[test]
fn extents_of_signed_types_count_as_unsigned() {
    let whole = Dimension::new("d", -128i8..=126);
    let halves = whole.clone().with_tile(128);
    let keys = [-128, -1, 0, 126].map(|value| Scalar::I8(value).key());
    assert_eq!(indices(&whole, &keys), [0, 0, 0, 0]);
    assert_eq!(indices(&halves, &keys), [0, 0, 1, 1]);
    assert_eq!((halves.extent_cells(), halves.tile_count()), (Some(128), 2));
    assert_eq!((whole.extent_cells(), whole.tile_count(), whole.tile_range(0)), (Some(255), 1, Some((0, 254))));
}

#[test]
fn tile_extents_take_the_type_of_the_domain_if_they_fit() {
    let extent = |dimension: Dimension| dimension.tile_extent().unwrap();
    assert_eq!(extent(Dimension::new("d", 0u8..=9).with_tile(255)), Scalar::U8(255));
    assert_eq!(extent(Dimension::new("d", 0u8..=9).with_tile(256)), Scalar::I32(256));
    assert_eq!(extent(Dimension::new("d", -9i8..=9).with_tile(255)), Scalar::I8(-1));
    assert_eq!(extent(Dimension::new("d", -9i8..=9).with_tile(-1)), Scalar::I32(-1));
    assert_eq!(extent(Dimension::new("d", 0i64..=9).with_tile(2.0)), Scalar::F64(2.0));
    assert_eq!(extent(Dimension::new("d", 0.0..=9.0).with_tile(2)), Scalar::F64(2.0));
    assert_eq!(extent(Dimension::new("d", 0.0f32..=9.0).with_tile(0.5)), Scalar::F32(0.5));
}

#[test]
fn the_widest_domains() {
    let dimension = Dimension::new("d", i64::MIN..=i64::MAX - 1);
    let ones = dimension.clone().with_tile(1);
    assert_eq!(indices(&ones, &[0, 1, u64::MAX - 1]), [0, 1, u64::MAX - 1]);
    assert_eq!((ones.tile_count(), ones.tile_range(u64::MAX - 1)), (u64::MAX, Some((u64::MAX - 1, u64::MAX - 1))));
    let tens = dimension.with_tile(10);
    let last = (u64::MAX - 1) / 10;
    assert_eq!(tens.tile_range(last), Some((last * 10, u64::MAX)));
    assert_eq!(tens.tile_range(last + 1), None);
}

#[test]
fn coordinates_below_the_domain_are_in_the_first_tile() {
    let dimension = Dimension::new("d", 10i32..=99);
    let dimension = dimension.with_tile(10);
    let keys = [i32::MIN, 9, 10, 19, 20].map(|value| Scalar::I32(value).key());
    assert_eq!(indices(&dimension, &keys), [0, 0, 0, 0, 1]);
}

#[test]
fn quotients_of_floats_are_truncated() {
    let dimension = Dimension::new("d", -1.0f64..=1.0);
    let tenths = dimension.with_tile(0.1);
    let keys = [-1.0, -0.95, -0.9, -0.1, 0.0, 1.0].map(|value| Scalar::F64(value).key());
    // The quotient for -0.9 is slightly below 1, because only the rounding of the dimension's type
    // applies.
    assert_eq!(indices(&tenths, &keys), [0, 0, 0, 9, 10, 20]);
    let dimension = Dimension::new("d", 0.0f32..=1e6);
    let tenths = dimension.with_tile(0.1);
    // In double precision the quotient would be 999 999.98….
    assert_eq!(indices(&tenths, &[Scalar::F32(100_000.0).key()]), [1_000_000]);
}

#[test]
fn quotients_beyond_all_integers() {
    // The reference library (2.30.0, x86-64) sorts the tiles of these cells in this order.
    let values = [0.0, 1.9e19, 1e20, 1e24, 1e25, 1e3, 9.2e18, 9.3e18, 1.7e19];
    for (datatype, scalar) in [
        (Datatype::Float64, (|value| Scalar::F64(value)) as fn(f64) -> Scalar),
        (Datatype::Float32, |value| Scalar::F32(value as f32)),
    ] {
        let dimension = Dimension::new("d", scalar(0.0)..=scalar(1e25)).with_datatype(datatype).with_tile(scalar(1.0));
        let indices = indices(&dimension, &values.map(|value| scalar(value).key()));
        assert_eq!(indices[..5], [0; 5], "{datatype}");
        assert!(indices[4..].is_sorted_by(|a, b| a < b), "{datatype}: {indices:?}");
    }
}

#[test]
fn truncation() {
    assert_eq!(truncate(-0.5), 0);
    assert_eq!(truncate(-1.0), u64::MAX);
    assert_eq!(truncate(9_223_372_036_854_775_808.0), 1 << 63);
    assert_eq!(truncate(18_446_744_073_709_549_568.0), u64::MAX - 2047);
    assert_eq!(truncate(18_446_744_073_709_551_616.0), 0);
    assert_eq!(truncate(f64::INFINITY), 0);
    assert_eq!([f64::NAN, f64::NEG_INFINITY].map(truncate), [1 << 63; 2]);
}

proptest! {
    #[test]
    fn tiles_contain_their_coordinates(low: u32, width in 0_u32.., extent: u32, key: u32) {
        let width = width.min(u32::MAX - low).min(u32::MAX - 1);
        let (high, extent) = (low + width, extent % (width + 1) + 1);
        let key = u64::from(low + key % (width + 1));
        let dimension = Dimension::new("d", low..=high)
            .with_tile(extent);
        let index = dimension.tile_index(key);
        prop_assert!(index < dimension.tile_count());
        let (first, last) = dimension.tile_range(index).expect("a tile of the domain");
        prop_assert!((first..=last).contains(&key), "{key} in tile {index}: {first} to {last}");
        prop_assert_eq!(dimension.tile_range(dimension.tile_count()), None);
        if index > 0 {
            prop_assert_eq!(dimension.tile_range(index - 1).expect("the tile before").1 + 1, first);
        }
    }

    #[test]
    fn no_dimension_panics(low: u64, high: u64, extent: u64, keys: Vec<u64>, datatype in 0..44_u8) {
        // Includes dimensions that no schema accepts.
        let datatype = Datatype::from_code(datatype).expect("a datatype");
        let scalar = |bits| Scalar::from_key(datatype.physical(), bits);
        let dimension = Dimension::new("d", scalar(low)..=scalar(high)).with_datatype(datatype).with_tile(scalar(extent));
        indices(&dimension, &keys);
        let _ = (dimension.tile_count(), dimension.tile_range(extent));
        let _ = Dimension::new("d", Scalar::from_key(PhysicalType::U8, low)..=scalar(high)).with_datatype(datatype).tile_index(high);
    }
}
