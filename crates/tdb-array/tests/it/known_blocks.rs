//! Recorded bounds of blocks reduce the work of later queries and do not change their results.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::two_arrays::{array_on, create, names};
use tdb_array::{Array, Order, Query, QueryBox, WriteBatch};
use tdb_filters::FilterPipeline;
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_testkit::hostile::SplitMix64;
use tdb_types::Datatype;

const ORDERS: [Order; 4] = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];
/// Number of columns. The coordinate along `x` is half the column.
const WIDTH: i64 = 400;

fn below(random: &mut SplitMix64, end: i64) -> i64 {
    random.below(end as usize) as i64
}

/// Value by row and by twice the column.
type Cells = BTreeMap<(i64, i64), i64>;

/// An array with many blocks per tile. Rows are on both sides of zero. Columns are fractions.
fn array(fragments: u64, with_extents: bool) -> (Arc<MemoryStorage>, Cells) {
    let y = Dimension::new("y", -200i64..=199);
    let x = Dimension::new("x", -100.0f64..=100.0);
    let (y, x) = match with_extents {
        true => (y.with_tile(100), x.with_tile(50.0)),
        false => (y, x),
    };
    let value = Attribute::new("value", Datatype::Int64);
    // Without filters, the bytes read equal the bytes inspected.
    let schema =
        SchemaBuilder::sparse().dimension(y).dimension(x).attribute(value).coords_filters(FilterPipeline::default());
    let schema = schema.capacity(15_000).build().unwrap();
    let storage = create(&schema);
    let (mut all, mut random) = (Cells::new(), SplitMix64::new(7));
    for fragment in 0..fragments {
        let cells: Cells = (0..40_000 / fragments as i64)
            .map(|cell| ((below(&mut random, 400) - 200, below(&mut random, WIDTH) - 200), cell * 10 + fragment as i64))
            .collect();
        let (places, values): (Vec<_>, Vec<_>) = cells.iter().map(|(place, value)| (*place, *value)).unzip();
        let y: Vec<i64> = places.iter().map(|(y, _)| *y).collect();
        let x: Vec<f64> = places.iter().map(|(_, x)| *x as f64 / 2.0).collect();
        let new = WriteBatch::new().with("y", &y).with("x", &x).with("value", &values);
        array_on(&storage, 1).write().ids(names(fragment + 1)).cells(new).unwrap();
        all.extend(cells);
    }
    (storage, all)
}

/// Returns the cells of a query, sorted.
fn cells(query: Query) -> Vec<((i64, i64), i64)> {
    let mut cells = Vec::new();
    for batch in query.batches().unwrap() {
        let batch = batch.unwrap();
        let (y, x) = (batch.column("y").unwrap(), batch.column("x").unwrap());
        let (y, x) = (y.values::<i64>().unwrap(), x.values::<f64>().unwrap());
        let values = batch.column("value").unwrap().values::<i64>().unwrap();
        cells.extend(y.iter().zip(x).zip(values).map(|((y, x), value)| ((*y, (*x * 2.0) as i64), *value)));
    }
    cells.sort_unstable();
    cells
}

#[test]
fn boxes_of_an_open_array() {
    for (fragments, with_extents) in [(1, true), (1, false), (3, true)] {
        let (storage, all) = array(fragments, with_extents);
        let array = array_on(&storage, 1);
        let mut random = SplitMix64::new(11);
        for number in 0..160 {
            let (height, width) = (below(&mut random, 30), below(&mut random, 30));
            let (y, x) = (below(&mut random, 400 - height) - 200, below(&mut random, WIDTH - width) - 200);
            let is_in = |(row, column): &(i64, i64)| (y..=y + height).contains(row) && (x..=x + width).contains(column);
            let expected: Vec<_> = all.iter().filter(|(place, _)| is_in(place)).map(|(a, b)| (*a, *b)).collect();
            let (first, last) = (x as f64 / 2.0, (x + width) as f64 / 2.0);
            let order = ORDERS[number % 4];
            let query = array.read().order(order);
            let query = match number % 3 {
                0 => query.boxes([QueryBox::new().range("y", y..=y + height).range("x", first..=last)]).unwrap(),
                _ => query.range("y", y..=y + height).unwrap().range("x", first..=last).unwrap(),
            };
            assert_eq!(cells(query), expected, "{fragments} {with_extents} {order} {y} {x} {height} {width}");
        }
    }
}

#[test]
fn points_read_less_when_blocks_are_known() {
    let (storage, all) = array(1, true);
    let bytes_of = |array: &Array, place: &(i64, i64), value: &i64| {
        // Load the sections of the metadata first.
        let query = || array.read().range("y", place.0..=place.0).unwrap();
        query().plan().unwrap();
        let before = array.counters().bytes;
        let query = query().range("x", place.1 as f64 / 2.0..=place.1 as f64 / 2.0).unwrap();
        assert_eq!(cells(query), [(*place, *value)]);
        array.counters().bytes - before
    };
    let some: Vec<_> = all.iter().step_by(101).collect();
    let first: u64 = some.iter().map(|(place, value)| bytes_of(&array_on(&storage, 1), place, value)).sum();
    let array = array_on(&storage, 1);
    for (place, value) in &some {
        bytes_of(&array, place, value);
    }
    let again: u64 = some.iter().map(|(place, value)| bytes_of(&array, place, value)).sum();
    // Bytes adjacent to the needed bytes are read too.
    assert!(again * 3 < first * 2, "{first} bytes at first, {again} when all blocks are known");
}
