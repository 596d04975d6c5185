use std::sync::Arc;

use proptest::prelude::*;
use tdb_array::{Aggregate, Array, ArrayOptions, CreateOptions, Order, Query, QueryBox, WriteBatch};
use tdb_condition::{Condition, field};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::Datatype;

use crate::DenseReader;

/// First and last coordinate along a dimension.
type Side = (i64, i64);

/// Creates a dense array with written boxes. Each box holds consecutive numbers from a given start.
fn array(domain: i64, extent: i64, sides: &[&str], written: &[(Vec<Side>, i32)]) -> Array {
    let mut builder = SchemaBuilder::dense();
    for name in sides {
        let dimension = Dimension::new(*name, 0i64..=domain - 1);
        builder = builder.dimension(dimension.with_tile(extent));
    }
    let attribute = Attribute::new("a", Datatype::Int32).with_fill_value((-1i32).to_le_bytes());
    let definition = ArrayDefinition::new(builder.attribute(attribute).build().unwrap()).unwrap();
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    for (at, number) in written {
        let cells = at.iter().map(|(first, last)| last - first + 1).product::<i64>();
        let numbers: Vec<i32> = (0..cells as i32).map(|cell| number + cell).collect();
        let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
        let write = sides
            .iter()
            .zip(at)
            .fold(array.write(), |write, (name, (first, last))| write.range(name, *first..=*last).unwrap());
        write.cells(WriteBatch::new().with("a", &numbers)).unwrap();
    }
    ArrayOptions::new().open_on(storage).unwrap()
}

/// Returns the number of cells that a reader visits.
fn walked(query: &Query) -> u128 {
    let reader = DenseReader::new(query.check().unwrap()).unwrap();
    let (mut cursor, mut cells) = (reader.cursor.clone(), 0);
    while let Some(step) = cursor.step(&reader.shape, 1 << 20, 1 << 10) {
        cells += step.cells();
        cursor = step.next;
        assert!(cells < 1 << 30, "the reader visits {cells} cells, most of them unwritten");
    }
    cells
}

fn numbers(query: Query) -> Vec<i32> {
    let batches = query.select(["a"]).unwrap().batches().unwrap();
    batches.flat_map(|batch| batch.unwrap().column("a").unwrap().values::<i32>().unwrap().to_vec()).collect()
}

#[test]
fn unwritten_cells_of_huge_domains_are_skipped() {
    let ends = |domain: i64, dimensions: usize| {
        vec![(vec![(7, 7); dimensions], 5), (vec![(domain - 3, domain - 3); dimensions], 6)]
    };
    for (sides, domain) in [(&["x"][..], 1i64 << 40), (&["y", "x"], 1 << 20)] {
        let array = array(domain, 16, sides, &ends(domain, sides.len()));
        for order in [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered] {
            let query = || array.read().order(order).filter(field("a").gt(0)).only_matching();
            assert!(walked(&query()) <= 2, "{order}");
            assert_eq!(numbers(query()), [5, 6], "{order}");
            let ranges = || query().ranges("x", [0..10, 20..domain]).unwrap();
            let boxes = [QueryBox::new().range("x", 5..domain - 5), QueryBox::new().range("x", domain - 4..)];
            let boxed = || query().boxes(boxes.clone()).unwrap();
            if order != Order::Global {
                assert!(walked(&ranges()) <= 2, "{order}");
                assert_eq!(numbers(ranges()), [5, 6], "{order}");
            }
            assert!(walked(&boxed()) <= 2, "{order}");
            assert_eq!(numbers(boxed()), [5, 6], "{order}");
            for query in [query(), boxed()] {
                let found = query.aggregate([Aggregate::count(), Aggregate::max("a")]).unwrap();
                assert_eq!(found.value::<u64>("count").unwrap(), Some(2), "{order}");
                assert_eq!(found.value::<i32>("max(a)").unwrap(), Some(6), "{order}");
            }
        }
    }
    let nothing = array(1 << 40, 16, &["x"], &[]).read().filter(field("a").gt(0)).only_matching();
    assert_eq!((walked(&nothing), numbers(nothing)), (0, Vec::new()));
}

#[test]
fn tiles_that_statistics_rule_out_are_skipped() {
    for (sides, domain, extent) in [(&["x"][..], 1i64 << 20, 1i64 << 10), (&["y", "x"], 1 << 10, 64)] {
        let cells = 1i32 << 20;
        let array = array(domain, extent, sides, &[(vec![(0, domain - 1); sides.len()], 0)]);
        for order in [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered] {
            let query = |least: i32| array.read().order(order).filter(field("a").ge(least)).only_matching();
            assert!(walked(&query(cells - 3)) <= 1 << 12, "{order}");
            assert_eq!(numbers(query(cells - 3)), [cells - 3, cells - 2, cells - 1], "{order}");
            assert_eq!((walked(&query(cells)), numbers(query(cells))), (0, Vec::new()), "{order}");
        }
    }
}

/// The domain has too many tiles for a decision per tile.
#[test]
fn batches_of_excluded_tiles_are_not_assembled() {
    let domain = super::MOST_BOXES as i64 + 1;
    let array = array(domain, 1, &["x"], &[(vec![(0, domain - 1)], 0)]);
    let query = || array.read().filter(field("a").ge(domain as i32 - 2)).only_matching();
    assert_eq!(walked(&query()), domain as u128);
    assert_eq!(numbers(query()), [domain as i32 - 2, domain as i32 - 1]);
    let mut reader = DenseReader::new(query().budget(1 << 20).check().unwrap()).unwrap();
    let planned = reader.plan_batch(&mut 1024, DenseReader::batch_division).unwrap().unwrap();
    let rest = planned.step.next.step(&reader.shape, u128::MAX, 1).map_or(0, |step| step.cells());
    assert!(rest <= 1, "the first batch is {rest} cells before the end");
}

const DOMAIN: i64 = 24;

fn side() -> impl Strategy<Value = Side> {
    (0..DOMAIN, 1..8i64).prop_map(|(first, len)| (first, (first + len - 1).min(DOMAIN - 1)))
}

fn condition() -> impl Strategy<Value = Condition> {
    // The fill value is -1 and therefore meets some conditions.
    prop_oneof![
        (-3..60i32).prop_map(|number| field("a").gt(number)),
        (-3..60i32).prop_map(|number| field("a").lt(number)),
        (0..DOMAIN, 0..9i32).prop_map(|(at, number)| field("x").lt(at).and(field("a").gt(number))),
        (0..DOMAIN).prop_map(|at| field("x").lt(at)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matching_cells_are_those_of_all(
        written in prop::collection::vec((side(), side(), 0..50i32), 0..4),
        ranges in prop::collection::vec((any::<bool>(), side()), 0..5),
        boxes in prop::option::of(prop::collection::vec((side(), side()), 0..4)),
        condition in condition(),
        order in prop::sample::select(vec![Order::RowMajor, Order::ColMajor, Order::Unordered]),
        two in any::<bool>(),
    ) {
        let sides: &[&str] = if two { &["y", "x"] } else { &["x"] };
        let of = |y: Side, x: Side| if two { vec![y, x] } else { vec![x] };
        let written: Vec<_> = written.into_iter().map(|(y, x, number)| (of(y, x), number)).collect();
        let array = array(DOMAIN, 5, sides, &written);
        let mut query = array.read().order(order).select([sides, &["a"]].concat()).unwrap();
        for (along_y, (first, last)) in ranges {
            query = query.range(if along_y && two { "y" } else { "x" }, first..=last).unwrap();
        }
        if let Some(boxes) = boxes {
            let boxes = boxes.into_iter().map(|(y, x)| {
                let sides = sides.iter().zip(of(y, x));
                sides.fold(QueryBox::new(), |all, (name, (first, last))| all.range(name, first..=last))
            });
            query = query.boxes(boxes).unwrap();
        }
        let rows = |query: &Query| -> Vec<(Vec<i64>, i32)> {
            let mut rows = Vec::new();
            for batch in query.clone().batches().unwrap() {
                let batch = batch.unwrap();
                let at: Vec<&[i64]> = sides.iter().map(|name| batch.column(name).unwrap().values().unwrap()).collect();
                let numbers: &[i32] = batch.column("a").unwrap().values().unwrap();
                rows.extend((0..batch.len()).map(|cell| (at.iter().map(|at| at[cell]).collect(), numbers[cell])));
            }
            if order == Order::Unordered {
                rows.sort();
            }
            rows
        };
        let filtered = query.clone().filter(condition.clone());
        // First all cells, with fill values for cells that do not match, then only the matching
        // cells.
        let shown = rows(&filtered);
        let found = rows(&filtered.clone().only_matching());
        let all = rows(&query);
        let matching: Vec<_> = all.iter().filter(|row| found.contains(row)).cloned().collect();
        prop_assert_eq!(&found, &matching);
        let blank = |row: &(Vec<i64>, i32)| if found.contains(row) { row.clone() } else { (row.0.clone(), -1) };
        prop_assert_eq!(shown, all.iter().map(blank).collect::<Vec<_>>());
        let counted = filtered.aggregate([Aggregate::count()]).unwrap().value::<u64>("count").unwrap();
        prop_assert_eq!(counted, Some(found.len() as u64));
    }
}
