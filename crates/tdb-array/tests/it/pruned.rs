//! Tiles excluded by statistics and MBRs: exactly the tiles without a matching cell and without a
//! cell that hides another.

use std::sync::Arc;

use crate::arrays::count;
use crate::two_arrays::*;
use tdb_array::{Array, Order, Query, WriteBatch, WriteColumn};
use tdb_condition::{Condition, Operator, field};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_types::Datatype;

const ORDERS: [Order; 4] = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];

/// An array with one dimension `x` and four cells per tile.
fn builder(is_dense: bool) -> SchemaBuilder {
    let x = Dimension::new("x", 0i32..=99).with_tile(4);
    let builder = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse().capacity(4) };
    builder.dimension(x)
}

/// Writes cells at these coordinates, with these attributes.
fn write(storage: &Arc<MemoryStorage>, time: u64, places: &[i32], columns: Vec<(&'static str, WriteColumn<'static>)>) {
    let array = array_on(storage, 1);
    let mut cells = WriteBatch::new();
    let mut write = array.write().ids(names(time));
    if array.schema().is_dense() {
        write = write.range("x", places[0]..=*places.last().unwrap()).unwrap();
    } else {
        let places = places.iter().flat_map(|place| place.to_le_bytes()).collect();
        cells = cells.with("x", WriteColumn::owned(places, None, None));
    }
    write.cells(columns.into_iter().fold(cells, |cells, (name, column)| cells.with(name, column))).unwrap();
}

fn column<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> WriteColumn<'static> {
    WriteColumn::owned(values.into_iter().flatten().collect(), None, None)
}

/// Returns the coordinates of matching cells.
fn places(query: Query) -> Vec<i32> {
    let mut places = Vec::new();
    for batch in query.only_matching().select(["x"]).unwrap().batches().unwrap() {
        places.extend_from_slice(batch.unwrap().column("x").unwrap().values::<i32>().unwrap());
    }
    places.sort_unstable();
    places
}

/// Returns the number of excluded tiles per fragment. All tiles of an excluded fragment count.
fn left_out(array: &Array, query: Query) -> Vec<u64> {
    let plan = query.only_matching().plan().unwrap();
    let fragments = array.fragments().unwrap();
    assert_eq!(fragments.len(), plan.fragments.len() + plan.left_out.totals);
    let planned = |folder: &str| plan.fragments.iter().find(|planned| planned.folder == folder);
    let out = fragments.iter().map(|fragment| match planned(fragment.folder()) {
        Some(planned) => planned.pruned as u64,
        None => fragment.tile_count(),
    });
    out.collect()
}

/// Checks the cells in all orders. Checks that exactly the tiles without a match are excluded, in
/// the only fragment.
fn check(storage: &Arc<MemoryStorage>, condition: &Condition, holds: &[bool], is_exact: bool) {
    let array = array_on(storage, 1);
    let expected: Vec<i32> = (0..).zip(holds).filter(|(_, holds)| **holds).map(|(place, _)| place).collect();
    let context = condition.display(array.schema()).to_string();
    let last = i32::try_from(holds.len()).unwrap() - 1;
    for order in ORDERS {
        let query = array.read().order(order).range("x", 0..=last).unwrap().filter(condition.clone());
        assert_eq!(places(query.clone()), expected, "{context}, {order}");
        if is_exact {
            let without = holds.chunks(4).filter(|tile| !tile.contains(&true)).count() as u64;
            assert_eq!(left_out(&array, query), [without], "{context}, {order}");
        }
    }
}

#[test]
fn bounds_are_values_of_cells() {
    for is_dense in [false, true] {
        let storage = create(&builder(is_dense).attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
        // Tiles with one value and with several. The last tile is not full.
        let cells = [0, 1, 2, 3, 4, 5, 6, 7, 5, 5, 5, 5, -9, -8, -8, -7, 7, 8, 9];
        let at: Vec<i32> = (0..19).collect();
        write(&storage, 1, &at, vec![("a", column(cells.map(i32::to_le_bytes)))]);
        for value in -10..=10 {
            for operator in Operator::ALL {
                let holds = cells.map(|cell: i32| match operator {
                    Operator::Less => cell < value,
                    Operator::LessOrEqual => cell <= value,
                    Operator::Greater => cell > value,
                    Operator::GreaterOrEqual => cell >= value,
                    Operator::Equal => cell == value,
                    Operator::NotEqual => cell != value,
                });
                // Any value may occur between minimum and maximum.
                let is_exact = operator != Operator::Equal;
                check(&storage, &field("a").compare(operator, value), &holds, is_exact);
            }
            let members = [value, value + 1];
            check(&storage, &field("a").is_in(members), &cells.map(|cell| members.contains(&cell)), true);
            check(&storage, &field("a").not_in(members), &cells.map(|cell| !members.contains(&cell)), false);
        }
    }
}

#[test]
fn fulfilled_parts_of_a_condition_do_not_fulfil_others() {
    let builder = builder(false).attribute(Attribute::new("a", Datatype::Int32));
    let storage = create(&builder.attribute(Attribute::new("b", Datatype::Int64)).build().unwrap());
    let (a, b) = ([1, 2, 3, 4, 1, 2, 3, 4, 9, 9, 9, 9], [1_i64, 2, 3, 4, 9, 9, 9, 9, 1, 2, 3, 4]);
    let at: Vec<i32> = (0..12).collect();
    write(&storage, 1, &at, vec![("a", column(a.map(i32::to_le_bytes))), ("b", column(b.map(i64::to_le_bytes)))]);
    for least in 0..11 {
        for other in 0..11 {
            let condition = field("a").ge(least) & field("b").ge(other);
            let holds: Vec<bool> = a.iter().zip(b).map(|(a, b)| *a >= least && b >= other.into()).collect();
            check(&storage, &condition, &holds, false);
            let condition = field("a").ge(least) | field("b").ge(other);
            let holds: Vec<bool> = a.iter().zip(b).map(|(a, b)| *a >= least || b >= other.into()).collect();
            check(&storage, &condition, &holds, true);
        }
    }
}

#[test]
fn newer_cells_without_a_match_hide_older_matches() {
    for duplicates in [false, true] {
        let builder = builder(false).attribute(Attribute::new("a", Datatype::Int32)).allows_duplicates(duplicates);
        let storage = create(&builder.build().unwrap());
        let old: Vec<i32> = (0..8).collect();
        write(&storage, 1, &old, vec![("a", column([1_i32; 8].map(i32::to_le_bytes)))]);
        // Statistics exclude these tiles, but only the second overlaps no older cell.
        let new = [2, 3, 4, 5, 50, 51, 52, 53];
        write(&storage, 2, &new, vec![("a", column([100_i32; 8].map(i32::to_le_bytes)))]);
        let array = array_on(&storage, 1);
        for order in ORDERS {
            let query = array.read().order(order).filter(field("a").lt(50));
            let (expected, out) = if duplicates { (&old[..], [0, 2]) } else { (&[0, 1, 6, 7][..], [0, 1]) };
            assert_eq!(places(query.clone()), expected, "{order}");
            assert_eq!(left_out(&array, query), out, "{order}");
        }
    }
}

#[test]
fn nulls_are_known_from_their_counts() {
    let attribute = Attribute::new("a", Datatype::Int32).nullable(true);
    for is_dense in [false, true] {
        let storage = create(&builder(is_dense).attribute(attribute.clone()).build().unwrap());
        let cells = [None, None, None, None, Some(1), Some(2), Some(3), Some(4), Some(1), None, Some(2), None];
        let at: Vec<i32> = (0..12).collect();
        write(&storage, 1, &at, vec![("a", WriteColumn::options(cells))]);
        check(&storage, &field("a").is_null(), &cells.map(|cell| cell.is_none()), true);
        check(&storage, &field("a").is_not_null(), &cells.map(|cell| cell.is_some()), true);
        check(&storage, &field("a").gt(0), &cells.map(|cell| cell.is_some()), true);
        check(&storage, &field("a").not_in([7]), &cells.map(|cell| cell.is_some()), true);
        check(&storage, &field("a").ge(3), &cells.map(|cell| cell.is_some_and(|cell| cell >= 3)), true);
        check(&storage, &!field("a").ge(3), &cells.map(|cell| cell.is_some_and(|cell| cell < 3)), true);
    }
}

#[test]
fn tiles_with_nans_are_read() {
    let storage = create(&builder(false).attribute(Attribute::new("a", Datatype::Float64)).build().unwrap());
    const N: f64 = f64::NAN;
    let cells =
        [N, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, N, N, N, N, N, 5.0, 5.0, 5.0, 5.0, 0.0, -0.0, -0.0, 0.0, N, 1.0, 2.0, 3.0];
    let at: Vec<i32> = (0..24).collect();
    write(&storage, 1, &at, vec![("a", column(cells.map(f64::to_le_bytes)))]);
    for value in [-1.0, -0.0, 0.0, 1.0, 5.0, 6.0] {
        let is = |holds: &dyn Fn(f64) -> bool| cells.map(holds);
        check(&storage, &field("a").lt(value), &is(&|cell| cell < value), false);
        check(&storage, &field("a").ge(value), &is(&|cell| cell >= value), false);
        check(&storage, &field("a").eq(value), &is(&|cell| cell == value), false);
        check(&storage, &field("a").ne(value), &is(&|cell| cell != value), false);
        check(&storage, &field("a").is_in([value]), &is(&|cell| cell == value), false);
        check(&storage, &field("a").not_in([value]), &is(&|cell| cell != value), false);
    }
}

#[test]
fn characters_compare_with_their_sign() {
    let storage = create(&builder(false).attribute(Attribute::new("a", Datatype::Char)).build().unwrap());
    let cells = [1_i8, 2, 3, 4, -4, -3, -2, -1, -128, 127, 0, 1];
    let at: Vec<i32> = (0..12).collect();
    write(&storage, 1, &at, vec![("a", column(cells.map(i8::to_le_bytes)))]);
    for value in [-128_i8, -3, 0, 2, 127] {
        check(&storage, &field("a").lt(value), &cells.map(|cell| cell < value), false);
        check(&storage, &field("a").ge(value), &cells.map(|cell| cell >= value), false);
    }
}

/// If no tile can match, no field is read.
#[test]
fn conditions_without_a_possible_match_read_nothing() {
    for is_dense in [false, true] {
        let storage = create(&builder(is_dense).attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
        let at: Vec<i32> = (0..100).collect();
        write(&storage, 1, &at, vec![("a", column((0..100_i32).map(i32::to_le_bytes)))]);
        for condition in [field("a").gt(99), field("x").lt(0), field("a").lt(7) & field("x").gt(7)] {
            let array = array_on(&storage, 1);
            let query = array.read().filter(condition);
            // Load the metadata first.
            left_out(&array, query.clone());
            let before = array.counters();
            assert_eq!(places(query), [0i32; 0]);
            assert_eq!(array.counters().bytes, before.bytes);
        }
    }
}

/// Reads the condition's fields only in tiles with inconclusive statistics, and other fields only
/// in tiles with a match.
#[test]
fn conclusive_tiles_are_not_read() {
    for is_dense in [false, true] {
        let schema = builder(is_dense).attribute(Attribute::new("a", Datatype::Int32));
        let storage = create(&schema.attribute(Attribute::new("b", Datatype::Int64)).build().unwrap());
        let at: Vec<i32> = (0..100).collect();
        let a = column((0..100_i32).map(|cell| (cell % 2 * 9).to_le_bytes()));
        write(&storage, 1, &at, vec![("a", a), ("b", column((0..100_i64).map(i64::to_le_bytes)))]);
        let bytes = |field: &str, condition: Option<Condition>| {
            let array = array_on(&storage, 1);
            let query = array.read().order(Order::Unordered).select([field]).unwrap();
            let query = condition.into_iter().fold(query, Query::filter);
            let read = || query.clone().batches().unwrap().for_each(|batch| drop(batch.unwrap()));
            // The second read finds the metadata loaded.
            read();
            let before = array.counters().bytes;
            read();
            array.counters().bytes - before
        };
        assert!(bytes("a", None) > 0);
        // No cell is 5, but only the cells show this.
        assert_eq!(bytes("b", Some(field("a").eq(5))), bytes("a", None), "dense: {is_dense}");
        if !is_dense {
            assert_eq!(bytes("b", Some(field("a").lt(10))), bytes("b", None));
        }
    }
}

/// Statistics describe the written values. A rounding filter changes the values.
#[test]
fn statistics_of_lossy_filters_are_not_used() {
    use tdb_filters::{Filter, FilterPipeline};
    let scale = Filter::FloatScale { scale: 1.0, offset: 0.5, byte_width: 4 };
    let x = Dimension::new("x", 0i32..=99);
    let a = Attribute::new("a", Datatype::Float64).with_filters(FilterPipeline::new(vec![scale]));
    let storage = create(&SchemaBuilder::sparse().dimension(x).attribute(a).build().unwrap());
    let cells = WriteBatch::new().with("x", &[1i32, 2]).with("a", &[3.0f64, 3.0]);
    array_on(&storage, 1).write().cells(cells).unwrap();
    let array = array_on(&storage, 1);
    assert_eq!(count(array.read().filter(field("a").ne(3.0))), 2, "expected the cells with 3.5 and 2.5");
    assert_eq!(count(array.read().filter(field("a").eq(3.0))), 0);
}
