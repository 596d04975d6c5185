//! Reads of sparse arrays from memory with one thread: all cells in each order, a small box,
//! overlapping fragments, Hilbert order, strings.

#[path = "../../crates/tdb-array/tests/it/sparse_support/mod.rs"]
mod sparse_support;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sparse_support::{Cells, NewFragment, write_array};
use tdb_array::{Array, ArrayOptions, Order};
use tdb_filters::FilterPipeline;
use tdb_schema::global_order::GlobalOrder;
use tdb_schema::hilbert::CoordinateColumn;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_types::{CellValNum, Datatype, Layout, ordered_keys};

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

/// A generator of reproducible pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 20
    }
}

/// A fragment of `cells` cells with random coordinates.
fn fragment(schema: &ArraySchema, cells: usize, time: u64) -> NewFragment {
    let mut random = Random(time);
    let coordinates: [Vec<i64>; 2] =
        std::array::from_fn(|_| (0..cells).map(|_| (random.next() % SIDE) as i64).collect());
    let keys: Vec<Vec<u64>> = coordinates
        .iter()
        .map(|coordinates| {
            let mut keys = Vec::new();
            ordered_keys(tdb_types::PhysicalType::I64, bytemuck(coordinates).as_slice(), &mut keys);
            keys
        })
        .collect();
    let order = GlobalOrder::new(schema).unwrap();
    let mut words = Vec::new();
    order.leading_word(0, &[CoordinateColumn::Keys(&keys[0]), CoordinateColumn::Keys(&keys[1])], &mut words);
    let first = order.cell_dimensions()[0];
    let mut places: Vec<usize> = (0..cells).collect();
    places.sort_unstable_by_key(|cell| (words[*cell], keys[first][*cell], keys[1 - first][*cell]));
    places.dedup_by_key(|cell| (keys[0][*cell], keys[1][*cell]));
    let column = |coordinates: &[i64]| {
        let sorted: Vec<i64> = places.iter().map(|cell| coordinates[*cell]).collect();
        Cells { values: bytemuck(&sorted), ..Cells::default() }
    };
    let cells = places.len();
    let mut strings = Cells { offsets: Some(Vec::new()), ..Cells::default() };
    for cell in 0..cells {
        strings.push(&b"a string of some length"[..cell % 20]);
    }
    let mut attributes = vec![
        Cells { values: (0..cells as u32).flat_map(u32::to_le_bytes).collect(), ..Cells::default() },
        Cells { values: (0..cells as u64).flat_map(u64::to_le_bytes).collect(), ..Cells::default() },
    ];
    if schema.attr_count() > 2 {
        attributes.push(strings);
    }
    NewFragment {
        start: time,
        end: time,
        len: cells,
        dimensions: coordinates.iter().map(|coordinates| column(coordinates)).collect(),
        attributes,
        times: None,
        deletions: None,
    }
}

fn bytemuck(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn array(cell_order: Layout, fragments: usize, strings: bool) -> Array {
    let schema = schema(cell_order, strings);
    let fragments: Vec<_> =
        (0..fragments).map(|index| fragment(&schema, CELLS / fragments, index as u64 + 1)).collect();
    let storage: Arc<MemoryStorage> = write_array(&schema, &fragments);
    ArrayOptions::new().threads(1).open_on(storage).unwrap()
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
