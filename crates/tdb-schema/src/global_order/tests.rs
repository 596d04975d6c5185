use std::cmp::Ordering;

use proptest::prelude::*;
use tdb_types::{Layout, PhysicalType, Scalar};

use super::{Coordinate, GlobalOrder, make_comparable};
use crate::hilbert::CoordinateColumn;
use crate::{ArraySchema, Dimension, SchemaBuilder};

fn byte(name: &str, extent: u8) -> Dimension {
    Dimension::new(name, 0u8..=199).with_tile(extent)
}

/// A dimension with up to almost 2^64 tiles.
fn wide(name: &str, extent: u64) -> Dimension {
    Dimension::new(name, 0u64..=u64::MAX - 1000).with_tile(extent)
}

fn schema(tiles: Layout, cells: Layout, dimensions: impl IntoIterator<Item = Dimension>) -> ArraySchema {
    let builder = SchemaBuilder::sparse().tile_order(tiles).cell_order(cells);
    dimensions.into_iter().fold(builder, SchemaBuilder::dimension).build().expect("a schema")
}

fn words(order: &GlobalOrder, columns: &[CoordinateColumn<'_>]) -> Vec<Vec<u64>> {
    (0..order.leading_word_count())
        .map(|word| {
            let mut words = Vec::new();
            order.leading_word(word, columns, &mut words);
            words
        })
        .collect()
}

#[test]
fn dimensions_in_their_orders() {
    let three = || [byte("a", 10), Dimension::string("s"), byte("b", 50)];
    let row_row = GlobalOrder::new(&schema(Layout::RowMajor, Layout::RowMajor, three())).expect("an order");
    let col_row = GlobalOrder::new(&schema(Layout::ColMajor, Layout::RowMajor, three())).expect("an order");
    let row_col = GlobalOrder::new(&schema(Layout::RowMajor, Layout::ColMajor, three())).expect("an order");
    let hilbert = GlobalOrder::new(&schema(Layout::ColMajor, Layout::Hilbert, three())).expect("an order");
    assert_eq!((row_row.tile_dimensions(), row_row.cell_dimensions()), (vec![0, 2], &[0, 1, 2][..]));
    assert_eq!((col_row.tile_dimensions(), col_row.cell_dimensions()), (vec![2, 0], &[0, 1, 2][..]));
    assert_eq!((row_col.tile_dimensions(), row_col.cell_dimensions()), (vec![0, 2], &[2, 1, 0][..]));
    assert_eq!((hilbert.tile_dimensions(), hilbert.cell_dimensions()), (vec![], &[0, 1, 2][..]));
    assert!(hilbert.hilbert().is_some() && row_row.hilbert().is_none());
    assert_eq!([&row_row, &col_row, &row_col, &hilbert].map(GlobalOrder::leading_word_count), [1; 4]);
}

#[test]
fn a_single_tile_has_no_leading_words() {
    let dimensions = [byte("a", 200), Dimension::string("s")];
    let order = GlobalOrder::new(&schema(Layout::RowMajor, Layout::RowMajor, dimensions)).expect("an order");
    assert_eq!((order.leading_word_count(), order.tile_dimensions()), (0, vec![]));
}

#[test]
fn words_are_packed_while_they_fit() {
    let dimensions = [byte("a", 10), byte("b", 10), wide("c", 1), wide("d", 1 << 32), wide("e", 1 << 34), byte("f", 1)];
    let order = GlobalOrder::new(&schema(Layout::RowMajor, Layout::RowMajor, dimensions)).expect("an order");
    // The words are `a` and `b`, then `c`, then `d` and `e`, then `f`.
    assert_eq!((order.leading_word_count(), order.tile_dimensions().len()), (4, 6));
    let keys = [199, 42, u64::MAX - 1000, 5 << 32, 7 << 34, 3];
    let columns: Vec<_> = keys.iter().map(|key| CoordinateColumn::Keys(std::slice::from_ref(key))).collect();
    assert_eq!(words(&order, &columns), [[19 * 20 + 4], [u64::MAX - 1000], [5 * (1 << 30) + 7], [3]]);
}

#[test]
fn coordinates_outside_of_the_domain_are_in_the_last_tile() {
    let order = GlobalOrder::new(&schema(Layout::RowMajor, Layout::RowMajor, [byte("a", 10), byte("b", 10)]));
    let order = order.expect("an order");
    let columns = [CoordinateColumn::Values(&[0, 0, 255]), CoordinateColumn::Values(&[0, 255, 0])];
    assert_eq!(words(&order, &columns), [[0, 19, 380]]);
}

#[test]
fn mismatched_columns_are_harmless() {
    let dimensions = [byte("a", 10), Dimension::string("s"), byte("b", 10)];
    let order = GlobalOrder::new(&schema(Layout::RowMajor, Layout::RowMajor, dimensions)).expect("an order");
    let strings = CoordinateColumn::Strings { offsets: &[7, 1], values: b"x" };
    let keys = CoordinateColumn::Keys(&[1, u64::MAX]);
    assert_eq!(words(&order, &[strings, keys, strings]), [[0, 0]]);
    assert_eq!(words(&order, &[keys]), [[]]);
    let mut out = Vec::new();
    order.leading_word(1, &[keys, strings, keys], &mut out);
    assert_eq!(out, []);
    assert_eq!(order.compare(&[], &[]), Ordering::Equal);
}

#[test]
fn zeros_of_both_signs_are_equal() {
    let mut keys = [Scalar::F64(-0.0).key(), Scalar::F64(0.0).key(), Scalar::F64(-f64::MIN_POSITIVE).key()];
    make_comparable(PhysicalType::F64, &mut keys);
    assert_eq!(keys[0], keys[1]);
    assert!(keys[2] < keys[0]);
    let mut keys = [Scalar::F32(-0.0).key(), Scalar::F32(1.0).key()];
    make_comparable(PhysicalType::F32, &mut keys);
    assert_eq!(keys, [Scalar::F32(0.0).key(), Scalar::F32(1.0).key()]);
    let mut keys = [Scalar::I32(-1).key()];
    make_comparable(PhysicalType::I32, &mut keys);
    assert_eq!(keys, [Scalar::I32(-1).key()]);

    let float = Dimension::new("f", -1.0f64..=1.0);
    let order = GlobalOrder::new(&schema(Layout::RowMajor, Layout::RowMajor, [float, byte("b", 200)]));
    let cell = |zero: f64, key| [Coordinate::Key(Scalar::F64(zero).key()), Coordinate::Key(key)];
    assert_eq!(order.expect("an order").compare(&cell(0.0, 1), &cell(-0.0, 2)), Ordering::Less);
}

/// The definition of the order: tile coordinates, then coordinates, one dimension after the other.
fn by_definition(schema: &ArraySchema, a: &[u64], b: &[u64]) -> Ordering {
    let dimensions = |order| -> Box<dyn Iterator<Item = usize>> {
        match order {
            Layout::ColMajor => Box::new((0..a.len()).rev()),
            _ => Box::new(0..a.len()),
        }
    };
    let tile = |dimension: usize, key: u64| schema.dimensions()[dimension].tile_index(key);
    let tiles = dimensions(schema.tile_order()).map(|d| tile(d, a[d]).cmp(&tile(d, b[d])));
    let cells = dimensions(schema.cell_order()).map(|d| a[d].cmp(&b[d]));
    tiles.chain(cells).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

proptest! {
    #[test]
    fn compares_by_definition(
        extents in proptest::collection::vec(1_u64..200, 1..5),
        wide_extents in proptest::collection::vec(any::<u64>(), 0..3),
        tiles in any::<bool>(), cells in any::<bool>(),
        a in proptest::collection::vec(any::<u64>(), 8), b in proptest::collection::vec(any::<u64>(), 8),
        close in any::<u8>(),
    ) {
        let order = |col| if col { Layout::ColMajor } else { Layout::RowMajor };
        let most = (u64::MAX - 1000) / 2;
        let small = extents.iter().enumerate().map(|(i, extent)| byte(&format!("s{i}"), *extent as u8));
        let large = wide_extents.iter().enumerate().map(|(i, extent)| wide(&format!("w{i}"), extent % most + 1));
        let dimensions: Vec<_> = small.chain(large).filter(|dimension| {
            // Skips dimensions whose last tile extends beyond the datatype.
            dimension.tile_range(dimension.tile_count() - 1).is_some_and(|(first, last)| {
                Some(last - first + 1) == dimension.extent_cells() && last <= if dimension.physical().size() == 1 { 255 } else { u64::MAX - 1 }
            })
        }).collect();
        prop_assume!(!dimensions.is_empty());
        let schema = schema(order(tiles), order(cells), dimensions);
        let within = |keys: &[u64]| -> Vec<u64> {
            schema.dimensions().iter().zip(keys).map(|(d, key)| {
                let high = d.domain_keys().expect("bounds").1;
                key % (high + 1)
            }).collect()
        };
        let a = within(&a);
        let mut b = within(&b);
        for (index, (b, a)) in b.iter_mut().zip(&a).enumerate() {
            if close >> index & 1 == 1 { *b = *a; }
        }
        let order = GlobalOrder::new(&schema).expect("an order");
        let coordinates = |keys: &[u64]| keys.iter().map(|key| Coordinate::Key(*key)).collect::<Vec<_>>();
        prop_assert_eq!(order.compare(&coordinates(&a), &coordinates(&b)), by_definition(&schema, &a, &b));
    }
}
