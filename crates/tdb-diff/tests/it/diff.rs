//! Tests of the reported differences.

use std::ops::ControlFlow;
use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, CreateOptions, MetadataValue, WriteBatch, WriteColumn, WriteIds};
use tdb_diff::{Diff, DiffCounts, Difference};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::Datatype;

fn differences(a: &Array, b: &Array) -> (DiffCounts, Vec<Difference>) {
    let mut all = Vec::new();
    let counts = Diff::new(a, b).run(|difference| {
        all.push(difference);
        ControlFlow::Continue(())
    });
    (counts.unwrap(), all)
}

#[test]
fn every_fixture_is_itself() {
    let mut compared = 0;
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        let options = match fixture.expected().key() {
            Some(key) => ArrayOptions::new().key(tdb_filters::EncryptionKey::new(key)),
            None => ArrayOptions::new(),
        };
        let open = || options.open_on(fixture.array_storage() as Arc<dyn Storage>).unwrap();
        let (counts, all) = differences(&open(), &open());
        assert!(counts.is_same() && all.is_empty(), "{}: {all:?}", fixture.name());
        compared += counts.equal_cells;
    }
    assert!(compared > 100_000, "{compared}");
}

/// Creates a sparse array with one dimension and two attributes, and a fragment per write.
fn sparse(capacity: u64, duplicates: bool, writes: &[&[(i32, i32, Option<&str>)]]) -> Array {
    let builder = SchemaBuilder::sparse().dimension(Dimension::new("x", 0i32..=999).with_tile(10));
    let name = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(tdb_types::CellValNum::Var).nullable(false);
    let builder = builder.attribute(Attribute::new("a", Datatype::Int32)).attribute(name).capacity(capacity);
    let builder = builder.allows_duplicates(duplicates);
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let definition = ArrayDefinition::new(builder.build().unwrap()).unwrap();
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    for (time, cells) in writes.iter().enumerate() {
        let x: Vec<i32> = cells.iter().map(|cell| cell.0).collect();
        let a: Vec<i32> = cells.iter().map(|cell| cell.1).collect();
        let s = WriteColumn::optional_strings(cells.iter().map(|cell| cell.2));
        let array = ArrayOptions::new().open_on(Arc::clone(&storage)).unwrap();
        let cells = WriteBatch::new().with("x", &x).with("a", &a).with("s", s);
        array.write().ids(WriteIds::new().at(time as u64 + 1)).cells(cells).unwrap();
    }
    ArrayOptions::new().open_on(storage).unwrap()
}

/// Formats the differences.
fn told(a: &Array, b: &Array) -> Vec<String> {
    let cell = |batch: &tdb_array::Batch| {
        let x: &[i32] = batch.column("x").unwrap().values().unwrap();
        let s = batch.column("s").unwrap().cell(0).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        format!(
            "{} {} {}",
            x[0],
            batch.column("a").unwrap().values::<i32>().unwrap()[0],
            s.unwrap_or("null".to_owned())
        )
    };
    let text = |difference: Difference| match difference {
        Difference::Schema { key, a, b } => format!("{key}: {a:?} {b:?}"),
        Difference::Cell { a: Some(a), b: Some(b), fields } => format!("{} | {} in {fields:?}", cell(&a), cell(&b)),
        Difference::Cell { a: Some(a), .. } => format!("{} |", cell(&a)),
        Difference::Cell { b: Some(b), .. } => format!("| {}", cell(&b)),
        other => format!("{other:?}"),
    };
    differences(a, b).1.into_iter().map(text).collect()
}

#[test]
fn cells_are_compared_however_they_are_stored() {
    let all: Vec<(i32, i32, Option<&str>)> = (0..500).map(|x| (x, x * 2, (x % 3 > 0).then_some("text"))).collect();
    let (even, odd): (Vec<_>, Vec<_>) = all.iter().copied().partition(|cell| cell.0 % 2 == 0);
    let (a, b) = (sparse(100, false, &[&all]), sparse(7, false, &[&odd, &even]));
    assert_eq!(told(&a, &b), Vec::<String>::new());
    let (counts, _) = differences(&a, &b);
    assert_eq!((counts.equal_cells, counts.differences()), (500, 0));
    let physical = Diff::new(&a, &b).physical().without_cells().run(|_| ControlFlow::Continue(())).unwrap();
    assert_eq!((physical.schema, physical.fragments), (1, 3));
}

#[test]
fn cells_that_differ() {
    let a = sparse(3, false, &[&[(1, 1, None), (2, 2, Some("b")), (3, 3, Some("c")), (5, 5, Some(""))]]);
    let b = sparse(3, false, &[&[(2, 2, Some("B")), (3, 4, None), (4, 4, None), (5, 5, Some("")), (9, 9, None)]]);
    let expected =
        ["1 1 null |", r#"2 2 b | 2 2 B in ["s"]"#, r#"3 3 c | 3 4 null in ["a", "s"]"#, "| 4 4 null", "| 9 9 null"];
    assert_eq!(told(&a, &b), expected);
    let counts = Diff::new(&a, &b).run(|_| ControlFlow::Break(())).unwrap();
    assert!(counts.stopped && counts.differences() == 1);
}

#[test]
fn duplicates_are_matched_by_value() {
    let a = sparse(3, true, &[&[(1, 1, None), (1, 2, None), (2, 7, None)], &[(1, 1, None)]]);
    let b = sparse(9, true, &[&[(1, 2, None), (1, 1, None), (1, 3, None), (2, 7, None)]]);
    assert_eq!(told(&a, &b), ["1 1 null |", "| 1 3 null"]);
}

#[test]
fn schemas_and_metadata() {
    let (a, b) = (sparse(3, false, &[]), sparse(3, true, &[]));
    assert_eq!(told(&a, &b), [r#"allows_duplicates: None Some("true")"#]);
    let value = MetadataValue::text("one").unwrap();
    a.write_metadata().put("k", value.clone()).commit().unwrap();
    let a = ArrayOptions::new().open_on(Arc::clone(a.storage())).unwrap();
    let (counts, all) = differences(&a, &b);
    assert_eq!((counts.schema, counts.metadata), (1, 1));
    assert!(matches!(&all[1], Difference::Metadata { key, a: Some(a), b: None } if key == b"k" && *a == value));
    let dense = fixtures::named("v22-by-2.30.0-dense-2d-row-row");
    let dense = ArrayOptions::new().open_on(dense.array_storage() as Arc<dyn Storage>).unwrap();
    let (counts, _) = differences(&a, &dense);
    assert!(counts.incomparable && !counts.is_same());
}

#[test]
fn dense_cells_far_apart_are_compared_without_those_between() {
    let write = |ends: [i32; 2]| {
        let x = Dimension::new("x", 0i64..=i64::MAX - 100);
        let schema = SchemaBuilder::dense().dimension(x.with_tile(10));
        let schema = schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        CreateOptions::new().create_on(&storage, schema).unwrap();
        for (at, value) in [0, 1 << 60].into_iter().zip(ends) {
            let array = ArrayOptions::new().open_on(Arc::clone(&storage)).unwrap();
            let range = array.write().range("x", at..=at + 4i64).unwrap();
            range.cells([("a", WriteColumn::values(&[1, 2, 3, 4, value]))]).unwrap();
        }
        ArrayOptions::new().open_on(storage).unwrap()
    };
    let (a, b) = (write([5, 6]), write([5, 7]));
    let (counts, all) = differences(&a, &b);
    assert_eq!((counts.equal_cells, counts.differing_cells, all.len()), (9, 1, 1));
}
