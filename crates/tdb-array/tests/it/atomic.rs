//! Boxes of a dense array that become visible atomically.

use std::ops::RangeInclusive;
use std::sync::Arc;

use tdb_array::{ArrayError, AtomicWriter, Order, WriteBatch, WriteColumn};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::Storage;
use tdb_types::{CellValNum, Datatype};

use crate::arrays::{self, open, values};

/// Tiles of 4 × 3 cells with a number and a nullable string.
fn create() -> Arc<dyn Storage> {
    let side = |name, extent| Dimension::new(name, -10i32..=99).with_tile(extent);
    let text = Attribute::new("s", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var).nullable(true);
    let schema = SchemaBuilder::dense().dimension(side("y", 4)).dimension(side("x", 3));
    arrays::create(schema.attribute(Attribute::new("a", Datatype::Int32)).attribute(text).build().unwrap())
}

/// Returns cells with ascending numbers.
fn cells(first: i32, count: usize) -> WriteBatch<'static> {
    let numbers: Vec<i32> = (first..).take(count).collect();
    let texts = numbers.iter().map(|number| (number % 3 != 0).then(|| number.to_string()));
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    WriteBatch::new().with("a", WriteColumn::owned(bytes, None, None)).with("s", WriteColumn::optional_strings(texts))
}

/// Returns `a` of all cells in a box, in row-major order.
fn read(storage: &Arc<dyn Storage>, y: RangeInclusive<i32>, x: RangeInclusive<i32>) -> Vec<i32> {
    let query = open(storage).read().order(Order::RowMajor);
    values(query.range("y", y).unwrap().range("x", x).unwrap(), "a")
}

#[test]
fn boxes_appear_at_once() {
    let storage = create();
    let mut writer = open(&storage).write().atomic().unwrap();
    writer.push_box([-10..=-3, 5..=9], cells(0, 40)).unwrap();
    writer.push_box([-2..=1, 5..=9], cells(40, 20)).unwrap();
    assert!(open(&storage).fragments().unwrap().is_empty());
    assert_eq!(writer.fragments(), 2);
    let written = writer.commit().unwrap();
    assert_eq!((written.cells, written.fragments.len()), (60, 2));
    assert!(read(&storage, -10..=1, 5..=9).into_iter().eq(0..60));
    // The timestamps are equal: a reader at any time sees both fragments or neither.
    let array = open(&storage);
    let times: Vec<_> = array.fragments().unwrap().iter().map(|fragment| fragment.name().start()).collect();
    assert_eq!(times[0], times[1]);
}

#[test]
fn the_last_of_overlapping_boxes_wins() {
    let storage = create();
    let mut writer = open(&storage).write().atomic().unwrap();
    for first in 0..8 {
        writer.push_box([0..=1, 0..=1], cells(first * 100, 4)).unwrap();
    }
    writer.commit().unwrap();
    assert_eq!(read(&storage, 0..=1, 0..=1), [700, 701, 702, 703]);
}

#[test]
fn invalid_boxes_are_errors_and_nothing_is_committed() {
    let storage = create();
    let begin = || {
        let mut writer = open(&storage).write().atomic().unwrap();
        writer.push_box([0..=1, 0..=1], cells(0, 4)).unwrap();
        writer
    };
    type Push<'a> = Box<dyn Fn(&mut AtomicWriter) -> Result<(), ArrayError> + 'a>;
    let wrong: [(Push<'_>, &str); 5] = [
        (Box::new(|writer| writer.push(cells(0, 4))), "boxes"),
        (Box::new(|writer| writer.push_box([0..=1], cells(0, 2))), "a box of 1 ranges"),
        (Box::new(|writer| writer.push_box([0..=1, 98..=100], cells(0, 6))), "domain"),
        (Box::new(|writer| writer.push_box([0..=1, 0..=1], cells(0, 5))), "5"),
        (Box::new(|writer| writer.push_box([0..=1, 0..=1], [("a", &[1i32, 2, 3, 4])])), "s"),
    ];
    for (push, words) in wrong {
        let mut writer = begin();
        let error = push(&mut writer).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        // The writer accepts no further boxes.
        assert!(writer.push_box([0..=1, 0..=1], cells(0, 4)).is_err());
        assert!(writer.commit().is_err());
    }
    drop(begin());
    assert!(open(&storage).fragments().unwrap().is_empty());
    assert_eq!(storage.list("__fragments").unwrap(), []);
}

#[test]
fn sparse_arrays_have_no_boxes() {
    let x = Dimension::new("x", 0i32..=99);
    let schema = SchemaBuilder::sparse().dimension(x).build().unwrap();
    let mut writer = open(&arrays::create(schema)).write().atomic().unwrap();
    let error = writer.push_box([0..=1], [("x", &[1i32, 2])]).unwrap_err();
    assert!(error.to_string().contains("not a box"), "{error}");
}
