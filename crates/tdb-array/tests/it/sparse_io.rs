//! Boxes of sparse arrays with many chunks per tile: the cells, and the cost of reading them.

use std::sync::Arc;

use crate::sparse_support::{Cells, NewFragment, write_array};
use tdb_array::{Array, ArrayOptions, Order};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::CountingStorage;
use tdb_types::Datatype;

/// Cells along x. Fewer along y.
const WIDTH: i64 = 250;

/// Tiles of 40,000 cells: five chunks per dimension, three per nullable part.
fn schema(filters: &[Filter]) -> ArraySchema {
    let axis = |name| Dimension::new(name, 0i64..=999);
    let filters = FilterPipeline::new(filters.to_vec());
    let value = Attribute::new("value", Datatype::UInt64).with_filters(filters.clone());
    let rank = Attribute::new("rank", Datatype::UInt32).nullable(false).with_filters(filters);
    let schema = SchemaBuilder::sparse().dimension(axis("y").with_tile(1000));
    let schema = schema.dimension(axis("x").with_tile(1000)).capacity(40_000);
    schema.attribute(value).attribute(rank).build().unwrap()
}

fn value(y: i64, x: i64, time: u64) -> u64 {
    ((y * WIDTH + x) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ time
}

fn rank(y: i64, x: i64) -> Option<u32> {
    ((y + x) % 7 != 0).then_some((y * 31 + x) as u32)
}

fn fragment(time: u64, rows: std::ops::Range<i64>) -> NewFragment {
    let places: Vec<(i64, i64)> = rows.flat_map(|y| (0..WIDTH).map(move |x| (y, x))).collect();
    let cells = |values: Vec<u8>| Cells { values, ..Cells::default() };
    let ranks = cells(places.iter().flat_map(|&(y, x)| rank(y, x).unwrap_or(0).to_le_bytes()).collect());
    let validity = places.iter().map(|&(y, x)| u8::from(rank(y, x).is_some())).collect();
    let dimensions = vec![
        cells(places.iter().flat_map(|(y, _)| y.to_le_bytes()).collect()),
        cells(places.iter().flat_map(|(_, x)| x.to_le_bytes()).collect()),
    ];
    let values = cells(places.iter().flat_map(|&(y, x)| value(y, x, time).to_le_bytes()).collect());
    NewFragment::at(time, places.len(), dimensions, vec![values, Cells { validity: Some(validity), ..ranks }])
}

/// An old fragment of 100,000 cells, and a newer fragment over ten rows.
fn array(filters: &[Filter], fragments: usize, threads: usize) -> (CountingStorage, Array) {
    let fragments = &[fragment(1, 0..400), fragment(2, 155..165)][..fragments];
    let storage = CountingStorage::new(write_array(&schema(filters), fragments));
    let array = ArrayOptions::new().threads(threads).open_on(Arc::new(storage.clone())).unwrap();
    (storage, array)
}

/// y, x, value, rank.
type Row = (i64, i64, u64, Option<u32>);

fn read(array: &Array, [y, x]: &[std::ops::RangeInclusive<i64>; 2], order: Order, budget: usize) -> Vec<Row> {
    let query = array.read().order(order).budget(budget);
    let query = query.range("y", y.clone()).unwrap().range("x", x.clone()).unwrap();
    let mut rows = Vec::new();
    for batch in query.batches().unwrap() {
        let batch = batch.unwrap();
        let column = |name| batch.column(name).unwrap();
        let (y, x): (&[i64], &[i64]) = (column("y").values().unwrap(), column("x").values().unwrap());
        let (values, ranks): (&[u64], &[u32]) = (column("value").values().unwrap(), column("rank").values().unwrap());
        let rank = |cell: usize| column("rank").is_valid(cell).then_some(ranks[cell]);
        rows.extend((0..batch.len()).map(|cell| (y[cell], x[cell], values[cell], rank(cell))));
    }
    rows
}

fn expected([y, x]: &[std::ops::RangeInclusive<i64>; 2], fragments: usize) -> Vec<Row> {
    let time = |y: i64| if fragments == 2 && (155..165).contains(&y) { 2 } else { 1 };
    let rows = y.clone().flat_map(|y| x.clone().map(move |x| (y, x)));
    rows.map(|(y, x)| (y, x, value(y, x, time(y)), rank(y, x))).collect()
}

#[test]
fn boxes_of_tiles_with_many_chunks() {
    let boxes = [[10..=12, 5..=9], [100..=300, 0..=249], [158..=161, 200..=210], [0..=399, 7..=7], [32..=33, 0..=249]];
    for filters in [&[][..], &[Filter::Zstd { level: 1 }]] {
        for fragments in [1, 2] {
            for threads in [1, 2] {
                let (_, array) = array(filters, fragments, threads);
                for wanted in &boxes {
                    for order in [Order::Global, Order::RowMajor, Order::ColMajor, Order::Unordered] {
                        for budget in [1000, 1 << 20] {
                            let mut found = read(&array, wanted, order, budget);
                            match order {
                                Order::Global | Order::RowMajor => {}
                                Order::ColMajor => {
                                    assert!(found.is_sorted_by_key(|(y, x, ..)| (*x, *y)));
                                    found.sort();
                                }
                                Order::Unordered => found.sort(),
                            }
                            let place = format!("{wanted:?}, {order:?}, {fragments} fragments, budget {budget}");
                            assert!(found == expected(wanted, fragments), "{place}");
                        }
                    }
                }
            }
        }
    }
}

/// Reads chunks of attributes that hold matching cells, and chunks of x around the matching rows.
#[test]
fn a_small_box_takes_few_chunks() {
    let (storage, array) = array(&[], 1, 1);
    let wanted = [10..=12, 5..=9];
    let planned = array.read().range("y", 10..=12_i64).unwrap().range("x", 5..=9_i64).unwrap().plan().unwrap();
    let before = storage.counters().bytes;
    assert_eq!(read(&array, &wanted, Order::RowMajor, 1 << 20), expected(&wanted, 1));
    let bytes = storage.counters().bytes - before;
    // One chunk of the tile's y, and at most two chunks of every other field.
    assert!(bytes < planned.bytes() * 2 / 3, "{bytes} of {} bytes were read", planned.bytes());
}
