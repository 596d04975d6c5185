//! Peak memory of a consolidation: the budget and a constant, for any number of fragments.

use std::path::Path;

use crate::memory_support::{Size, dense, sparse};
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayOptions, Order, WriteBatch, WriteIds};
use tdb_maintain::ConsolidateFragments;
use tdb_testkit::allocations::peak_while;
use tdb_types::{Datatype, Layout};

/// Constant for sparse arrays, in bytes.
const CONSTANT: u64 = 24 << 20;
/// Constant for dense arrays. A query reads them and has an additional constant.
const DENSE_CONSTANT: u64 = 96 << 20;
const BUDGET: u64 = 16 << 20;
/// Number of cells in the smallest array, 24 bytes each. The largest has a hundred times as many.
const CELLS: i64 = 30_000;
/// Number of cells in the array that is read repeatedly. All of its tiles exceed the limit.
const UNORDERED_CELLS: i64 = 1_200_000;

/// Writes cells in row-major order under a column-major schema. Each tile spans nearly the whole
/// array.
fn unordered(path: &Path, Size { cells, fragments }: Size) {
    let side = |name: &str| Dimension::new(name, 0i64..=99_999);
    let schema = |order| {
        let schema = SchemaBuilder::sparse().dimension(side("y")).dimension(side("x")).cell_order(order);
        let schema = schema.capacity(10_000).attribute(Attribute::new("a", Datatype::Int64));
        ArrayDefinition::new(schema.build().unwrap()).unwrap()
    };
    Array::create(path, schema(Layout::RowMajor)).unwrap();
    for fragment in 0..fragments {
        let (mut y, mut x) = (Vec::new(), Vec::new());
        for cell in 0..cells / fragments {
            y.push(cell / 1000 * fragments + fragment);
            x.push(cell % 1000 * 97);
        }
        let a: Vec<i64> = y.iter().zip(&x).map(|(y, x)| y * 7919 + x).collect();
        let cells = WriteBatch::new().with("y", &y).with("x", &x).with("a", &a);
        let names = WriteIds::new().at(u64::try_from(1000 + fragment).unwrap());
        Array::open(path).unwrap().write().ids(names).cells(cells).unwrap();
    }
    let other = tempfile::tempdir().unwrap();
    let other = other.path().join("other");
    Array::create(&other, schema(Layout::ColMajor)).unwrap();
    let schema_of = |path: &Path| {
        let mut files = std::fs::read_dir(path.join("__schema")).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.is_file()).unwrap()
    };
    std::fs::copy(schema_of(&other), schema_of(path)).unwrap();
}

/// Checks the number and order of the cells.
fn check_unordered(path: &Path) {
    let array = Array::open(path).unwrap();
    assert_eq!(array.fragments().unwrap().len(), 1);
    let (mut before, mut cells) = (None, 0);
    for batch in array.read().order(Order::ColMajor).batches().unwrap() {
        let batch = batch.unwrap();
        let [y, x, a] = ["y", "x", "a"].map(|name| batch.column(name).unwrap().values::<i64>().unwrap().to_vec());
        for ((y, x), a) in y.into_iter().zip(x).zip(a) {
            assert_eq!(a, y * 7919 + x);
            assert!(before < Some((x, y)), "{before:?} {x} {y}");
            before = Some((x, y));
            cells += 1;
        }
    }
    assert_eq!(cells, UNORDERED_CELLS);
}

fn check(what: &str, make: impl Fn(&Path, Size), size: Size, constant: u64) -> tempfile::TempDir {
    let Size { cells: all, fragments } = size;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    make(&path, size);
    let consolidate = ConsolidateFragments::new().budget(usize::try_from(BUDGET).unwrap()).amplification(2.0);
    let array = ArrayOptions::new().threads(1).open(&path).unwrap();
    let mut cells = 0;
    let peak = peak_while(|| {
        cells = consolidate.plan(&array).unwrap().run().unwrap().steps[0].cells;
    });
    println!("{what}, {all} cells in {fragments} fragments: {} KiB at the peak", peak >> 10);
    assert_eq!(cells, u64::try_from(all / fragments * fragments).unwrap());
    assert!(peak < BUDGET + constant, "{what}, {size:?}: {peak}");
    // Earlier arrays leave some megabytes of reusable memory.
    assert!(peak > 1 << 16, "nothing was measured: {peak}");
    folder
}

// Allocations are counted on one thread.
#[test]
fn peak_memory_stays_within_the_budget() {
    let sizes = [1, 10, 100].map(|times| Size { cells: CELLS * times, fragments: 3 });
    for size in sizes.into_iter().chain([Size { cells: 100 * CELLS, fragments: 100 }]) {
        check("sparse", sparse, size, CONSTANT);
        check("dense", dense, size, DENSE_CONSTANT);
    }
    for fragments in [2, 20] {
        let folder = check("unordered", unordered, Size { cells: UNORDERED_CELLS, fragments }, CONSTANT);
        check_unordered(&folder.path().join("array"));
    }
}
