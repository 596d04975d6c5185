//! Reads of dense arrays, compared with a plain `memcpy`: all cells, a slice, a point, many
//! fragments, and the opposite order.

#![allow(clippy::unwrap_used)]

#[path = "../../crates/tdb-array/tests/it/support/mod.rs"]
mod support;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use support::{Cells, NewFragment, create_array, write_fragment};
use tdb_array::{Array, ArrayOptions, Order};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::LocalStorage;
use tdb_types::{CellValNum, Datatype, Layout, Scalar};
use tempfile::TempDir;

/// Number of cells per side of the arrays.
const SIDE: u64 = 4000;

fn schema(tile: i32, cells: Layout, attribute: Attribute) -> tdb_schema::ArraySchema {
    let side = |name| Dimension::new(name, 0i32..=SIDE as i32 - 1);
    let extent = Scalar::I32(tile);
    SchemaBuilder::dense()
        .cell_order(cells)
        .dimension(side("row").with_tile(extent))
        .dimension(side("column").with_tile(extent))
        .attribute(attribute)
        .build()
        .unwrap()
}

fn floats(filters: Vec<Filter>) -> Attribute {
    Attribute::new("a", Datatype::Float64).with_filters(FilterPipeline::new(filters))
}

/// Returns values with a compression ratio of about two, like measurements.
fn measurements(rows: u64) -> Cells {
    let mut state = 1u64;
    let values = (0..rows * SIDE).flat_map(|cell| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (state >> 40) as f64 / 65536.0;
        ((cell as f64 / 100.0).sin() * 1000.0 + noise.round()).to_le_bytes()
    });
    Cells { values: values.collect(), ..Cells::default() }
}

fn strings() -> Cells {
    let mut cells = Cells { offsets: Some(vec![0]), ..Cells::default() };
    let offsets = cells.offsets.as_mut().unwrap();
    for cell in 0..SIDE * SIDE {
        cells
            .values
            .extend_from_slice(&cell.to_string().as_bytes()[..(cell % 7).min(cell.to_string().len() as u64) as usize]);
        offsets.push(cells.values.len() as u64);
    }
    cells
}

/// Creates an array in a temporary folder, in fragments of equal height.
fn array(schema: &tdb_schema::ArraySchema, fragments: u64, cells: impl Fn(u64) -> Cells) -> (TempDir, Array) {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    create_array(&storage, schema);
    let rows = SIDE / fragments;
    for index in 0..fragments {
        let key = |value: u64| Scalar::I32(value as i32).key();
        let bounds = vec![(key(index * rows), key(index * rows + rows - 1)), (key(0), key(SIDE - 1))];
        let fragment = NewFragment { time: index + 1, bounds, attributes: vec![cells(rows)], chunk: None };
        write_fragment(&storage, schema, &fragment);
    }
    let array = ArrayOptions::new().threads(1).open(folder.path()).unwrap();
    (folder, array)
}

fn read(array: &Array, rows: std::ops::Range<u64>, columns: std::ops::Range<u64>, order: Order) -> usize {
    let query = array.read().range("row", rows).unwrap().range("column", columns).unwrap().order(order);
    query.batches().unwrap().map(|batch| black_box(batch.unwrap()).memory()).sum()
}

fn dense(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dense");
    group.sample_size(10);
    let bytes = SIDE * SIDE * 8;
    let measured = measurements(SIDE);

    group.throughput(Throughput::Bytes(bytes));
    let mut copy = vec![0; measured.values.len()];
    group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(&mut copy).copy_from_slice(&measured.values)));

    for (name, tile, layout, filters, fragments) in [
        ("unfiltered", 1000, Layout::RowMajor, vec![], 1),
        ("zstd", 1000, Layout::RowMajor, vec![Filter::Zstd { level: 3 }], 1),
        ("small tiles", 50, Layout::RowMajor, vec![], 1),
        ("columns in tiles", 1000, Layout::ColMajor, vec![], 1),
        ("zstd, columns in tiles", 1000, Layout::ColMajor, vec![Filter::Zstd { level: 3 }], 1),
        ("400 fragments", 100, Layout::RowMajor, vec![], 400),
    ] {
        let (_folder, array) = array(&schema(tile, layout, floats(filters)), fragments, measurements);
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(format!("{name}: all"), |bencher| {
            bencher.iter(|| assert_eq!(read(&array, 0..SIDE, 0..SIDE, Order::RowMajor) as u64, bytes));
        });
        if fragments > 1 {
            continue;
        }
        group.bench_function(format!("{name}: all, global order"), |bencher| {
            bencher.iter(|| assert_eq!(read(&array, 0..SIDE, 0..SIDE, Order::Global) as u64, bytes));
        });
        group.throughput(Throughput::Elements(64 * 64));
        group.bench_function(format!("{name}: 64 x 64"), |bencher| {
            bencher.iter(|| read(&array, 1970..2034, 1970..2034, Order::RowMajor));
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{name}: point"), |bencher| {
            bencher.iter(|| read(&array, 2500..2501, 2500..2501, Order::RowMajor));
        });
    }

    let attribute = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let (_folder, array) = array(&schema(1000, Layout::RowMajor, attribute), 1, |_| strings());
    let bytes = read(&array, 0..SIDE, 0..SIDE, Order::RowMajor);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("strings: all", |bencher| {
        bencher.iter(|| read(&array, 0..SIDE, 0..SIDE, Order::RowMajor));
    });
    group.bench_function("strings: point", |bencher| {
        bencher.iter(|| read(&array, 2500..2501, 2500..2501, Order::RowMajor));
    });
    group.finish();
}

criterion_group!(benches, dense);
criterion_main!(benches);
