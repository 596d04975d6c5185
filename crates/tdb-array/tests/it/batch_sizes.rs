//! Batches of the size that the caller chooses.

use std::sync::Arc;

use crate::arrays::count;
use crate::two_arrays::{array_on, create};
use tdb_array::tdb_condition::field;
use tdb_array::{Array, ArrayOptions, Batch, Order, Query, WriteBatch};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{CountingStorage, Storage};
use tdb_testkit::{files_of, fixtures};
use tdb_types::Datatype;

/// Name and cells of each column.
type Cells = Vec<(String, Vec<Option<Vec<u8>>>)>;

fn add(batch: &Batch, cells: &mut Cells) {
    if cells.is_empty() {
        cells.extend(batch.columns().iter().map(|column| (column.name().to_owned(), Vec::new())));
    }
    assert_eq!(batch.columns().len(), cells.len());
    for (column, (name, cells)) in batch.columns().iter().zip(cells) {
        assert_eq!(column.name(), name);
        assert_eq!(column.len(), batch.len());
        cells.extend((0..column.len()).map(|cell| column.cell(cell).map(<[u8]>::to_vec)));
        // Bits after the last cell are 0, as in Arrow.
        let bits = column.validity().unwrap_or_default();
        assert_eq!(bits.len(), if column.validity().is_some() { column.len().div_ceil(8) } else { 0 });
        let set: usize = bits.iter().map(|byte| byte.count_ones() as usize).sum();
        assert!(column.validity().is_none() || set == column.len() - column.null_count());
    }
}

/// Returns the cells, and the number of cells and bytes of each batch.
fn read(query: Query) -> (Cells, Vec<(usize, usize)>) {
    let (mut cells, mut sizes) = (Cells::new(), Vec::new());
    for batch in query.batches().unwrap() {
        let batch = batch.unwrap();
        add(&batch, &mut cells);
        sizes.push((batch.len(), batch.memory()));
    }
    (cells, sizes)
}

/// Checks that batches of any size have the requested size and the same cells.
fn check(query: &Query, what: &str) {
    let (expected, sizes) = read(query.clone());
    let all: usize = sizes.iter().map(|(cells, _)| cells).sum();
    for number in [1, 3, 8, 100, 1 << 20] {
        // In a single read, and in pieces that must be recombined.
        for budget in [1 << 20, 600] {
            let (cells, sizes) = read(query.clone().batch_cells(number).budget(budget));
            assert_eq!(cells, expected, "{what}: {number} cells, {budget} bytes");
            if budget > 600 {
                let full = sizes.len().saturating_sub(1);
                assert!(sizes[..full].iter().all(|(cells, _)| *cells == number), "{what}: {number}: {sizes:?}");
                assert_eq!(sizes.len(), all.div_ceil(number), "{what}: {number}: {sizes:?}");
            }
            assert!(sizes.iter().all(|(cells, _)| (1..=number).contains(cells)), "{what}: {number}: {sizes:?}");
        }
        let (cells, sizes) = read(query.clone().batch_cells(number));
        assert_eq!(cells, expected, "{what}: {number} cells");
        assert_eq!(sizes.len(), all.div_ceil(number), "{what}: {number}: {sizes:?}");
    }
    for bytes in [1, 100, 777, 5000, 1 << 30] {
        for budget in [None, Some(300), Some(1 << 20)] {
            let query = query.clone().batch_bytes(bytes);
            let query = if let Some(budget) = budget { query.budget(budget) } else { query };
            let (cells, sizes) = read(query.clone());
            assert_eq!(cells, expected, "{what}: {bytes} bytes");
            let fits = |(cells, memory): &(usize, usize)| *cells == 1 || *memory <= bytes;
            assert!(sizes.iter().all(fits), "{what}: {bytes} bytes: {sizes:?}");
            let (cells, sizes) = read(query.batch_cells(5));
            assert_eq!(cells, expected, "{what}: {bytes} bytes, 5 cells");
            assert!(
                sizes.iter().all(fits) && sizes.iter().all(|(cells, _)| (1..=5).contains(cells)),
                "{what}: {sizes:?}"
            );
        }
    }
}

fn open(name: &str) -> Array {
    ArrayOptions::new().threads(2).open_on(fixtures::named(name).array_storage()).unwrap()
}

#[test]
fn sparse_and_dense() {
    for name in [
        "sparse-2d",
        "sparse-many-tiles",
        "sparse-overlapping",
        "sparse-dups",
        "sparse-every-datatype-var-nullable",
        "dense-2d-row-row",
        "dense-overlapping",
        "dense-var-partial",
        "dense-every-datatype-var",
        "dense-every-datatype-nullable",
    ] {
        let array = open(&format!("v22-by-2.30.0-{name}"));
        for order in [Order::RowMajor, Order::ColMajor, Order::Global] {
            check(&array.read().order(order), &format!("{name}, {order}"));
        }
    }
}

#[test]
fn labels() {
    let array = open("v22-by-2.30.0-dense-labels");
    check(&array.read().select(["name", "a", "height"]).unwrap(), "labels");
}

/// The reader returns all cells before an error, then the error.
#[test]
fn cells_before_an_error() {
    let x = Dimension::new("x", 0i64..=9999);
    let attribute =
        Attribute::new("a", Datatype::Int64).with_filters(FilterPipeline::new(vec![Filter::Zstd { level: 1 }]));
    let schema = SchemaBuilder::sparse().dimension(x).attribute(attribute).capacity(10).build().unwrap();
    let storage = create(&schema);
    let x: Vec<i64> = (0..100).collect();
    let cells = WriteBatch::new().with("x", &x).with("a", &x);
    array_on(&storage, 1).write().cells(cells).unwrap();
    let (path, mut bytes) = files_of(&*storage).into_iter().find(|(path, _)| path.ends_with("a0.tdb")).unwrap();
    let end = bytes.len();
    bytes[end / 2..].fill(0xff);
    storage.remove_file(&path).unwrap();
    storage.create_new(&path, &bytes).unwrap();
    let array = array_on(&storage, 1);
    let lens = |query: Query| -> Vec<usize> {
        let mut batches = query.batches().unwrap();
        let lens = batches.by_ref().map_while(Result::ok).map(|batch| batch.len()).collect();
        assert!(batches.next().is_none());
        lens
    };
    let mut held_back = 0;
    for budget in [100, 200, 300, 400, 500, 600] {
        let query = || array.read().order(Order::Global).budget(budget);
        let before: usize = lens(query()).iter().sum();
        let chunks = lens(query().batch_cells(7));
        assert_eq!(chunks.iter().sum::<usize>(), before, "{budget} bytes: {chunks:?}");
        held_back += before % 7;
    }
    assert!(held_back > 0);
}

#[test]
fn conditions() {
    for (name, number) in [("sparse-2d", 10), ("dense-2d-row-row", 7)] {
        let array = open(&format!("v22-by-2.30.0-{name}"));
        let query = array.read().filter(field("a").gt(number));
        check(&query, name);
        check(&query.only_matching(), name);
    }
}

/// A caller that stops after a small batch of a sparse array causes few reads, even with a large
/// memory limit.
#[test]
fn small_batches_cause_few_reads() {
    const CELLS: i64 = 200_000;
    let x = Dimension::new("x", 0i64..=1 << 40);
    let schema = SchemaBuilder::sparse().dimension(x.with_tile(1i64 << 30));
    let schema = schema.attribute(Attribute::new("a", Datatype::Int64)).capacity(1000).build().unwrap();
    let storage = create(&schema);
    let x: Vec<i64> = (0..CELLS).collect();
    let cells = WriteBatch::new().with("x", &x).with("a", &x);
    array_on(&storage, 1).write().cells(cells).unwrap();
    let counting = Arc::new(CountingStorage::new(storage));
    let array = ArrayOptions::new().threads(1).open_on(counting.clone()).unwrap();
    for order in [Order::Unordered, Order::RowMajor, Order::Global] {
        let query = array.read().order(order).budget(32 << 20);
        let (bytes, before) = (1 << 16, counting.counters().bytes);
        let mut batches = query.clone().batch_bytes(bytes).batches().unwrap();
        let first = batches.next().unwrap().unwrap();
        assert!((1000..=bytes / 16).contains(&first.len()), "{order}: {} cells", first.len());
        assert!(first.columns()[0].values::<i64>().unwrap().iter().copied().eq(0..first.len() as i64), "{order}");
        drop(batches);
        let read = counting.counters().bytes - before;
        assert!(read < CELLS as u64 * 16 / 10, "{order}: {read} bytes");
        // Together, the small batches hold all cells.
        assert_eq!(count(query.clone().batch_bytes(bytes)), count(query));
    }
}
