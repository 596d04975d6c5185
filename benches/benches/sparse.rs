//! Reads of sparse arrays from memory with one thread: all cells in each order, a small box,
//! overlapping fragments, Hilbert order, strings.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tdb_array::{Array, ArrayOptions, CreateOptions, Order, WriteBatch, WriteColumn};
use tdb_filters::FilterPipeline;
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::{CellValNum, Datatype, Layout};

/// Number of cells per array.
const CELLS: usize = 2_000_000;
/// Number of coordinates per dimension.
const SIDE: u64 = 100_000;

fn schema(cell_order: Layout, strings: bool) -> ArraySchema {
    let side = |name| Dimension::new(name, 0i64..=SIDE as i64 - 1).with_tile(SIDE as i64 / 10);
    let none = FilterPipeline { filters: Vec::new(), ..FilterPipeline::default_coords() };
    let mut builder = SchemaBuilder::sparse()
        .cell_order(cell_order)
        .capacity(10_000)
        .coords_filters(none.clone())
        .offsets_filters(none)
        .dimension(side("y"))
        .dimension(side("x"))
        .attribute(Attribute::new("a", Datatype::Int32))
        .attribute(Attribute::new("b", Datatype::Float64));
    if strings {
        builder = builder.attribute(Attribute::new("s", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var));
    }
    builder.build().unwrap()
}

/// Returns up to `cells` distinct random points.
fn points(cells: usize, seed: u64) -> Vec<[i64; 2]> {
    let mut random = SplitMix64::new(seed);
    let mut points: Vec<_> = (0..cells).map(|_| [0; 2].map(|_: i64| (random.next() % SIDE) as i64)).collect();
    points.sort_unstable();
    points.dedup();
    points
}

fn array(cell_order: Layout, fragments: usize, strings: bool) -> Array {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let definition = ArrayDefinition::new(schema(cell_order, strings)).unwrap();
    CreateOptions::new().create_on(&storage, &definition).unwrap();
    let open = || ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap();
    for fragment in 0..fragments {
        let points = points(CELLS / fragments, fragment as u64 + 1);
        let [y, x] = [0, 1].map(|side| points.iter().map(|point| point[side]).collect::<Vec<_>>());
        let (a, b): (Vec<_>, Vec<_>) = (0..points.len() as i32).map(|cell| (cell, f64::from(cell))).unzip();
        let mut cells = WriteBatch::new()
            .with("y", WriteColumn::values(&y))
            .with("x", WriteColumn::values(&x))
            .with("a", WriteColumn::values(&a))
            .with("b", WriteColumn::values(&b));
        if strings {
            let texts = (0..points.len()).map(|cell| &"a string of some length"[..cell % 20]);
            cells = cells.with("s", WriteColumn::strings(texts));
        }
        open().write().cells(cells).unwrap();
    }
    open()
}

fn read(array: &Array, order: Order) -> usize {
    let batches = array.read().order(order).batches().unwrap();
    batches.map(|batch| black_box(batch.unwrap()).len()).sum()
}

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sparse");
    group.sample_size(10).throughput(Throughput::Elements(CELLS as u64));
    let orders = [Order::Unordered, Order::Global, Order::RowMajor, Order::ColMajor];
    for (name, cell_order, fragments, strings) in [
        ("one fragment", Layout::RowMajor, 1, false),
        ("eight fragments", Layout::RowMajor, 8, false),
        ("hilbert", Layout::Hilbert, 1, false),
        ("hilbert, eight fragments", Layout::Hilbert, 8, false),
        ("strings", Layout::RowMajor, 1, true),
    ] {
        let array = array(cell_order, fragments, strings);
        for order in orders {
            group.bench_function(BenchmarkId::new(name, order), |bencher| bencher.iter(|| read(&array, order)));
        }
    }
    group.finish();
}

fn boxes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sparse box");
    let array = array(Layout::RowMajor, 1, false);
    for side in [10_i64, 1000, 30_000] {
        for order in [Order::Unordered, Order::RowMajor] {
            let id = BenchmarkId::new(order.to_string(), side);
            group.bench_with_input(id, &side, |bencher, side| {
                bencher.iter(|| {
                    let query = array.read().order(order);
                    let query = query.range("y", 20_500..20_500 + side).unwrap();
                    let query = query.range("x", 41_234..41_234 + side).unwrap();
                    query.batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, whole, boxes);
criterion_main!(benches);
