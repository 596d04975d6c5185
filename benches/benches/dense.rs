//! Reads of dense arrays, compared with a plain `memcpy`: all cells, a slice, a point, many
//! fragments, and the opposite order.

#![allow(clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tdb_array::{Array, ArrayOptions, Order, WriteBatch, WriteColumn};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::{CellValNum, Datatype, Layout, Scalar};
use tempfile::TempDir;

/// Number of cells per side of the arrays.
const SIDE: u64 = 4000;

fn schema(tile: i32, cells: Layout, attribute: Attribute) -> ArraySchema {
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
fn measurements(rows: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(1);
    let values = (0..rows * SIDE).flat_map(|cell| {
        let noise = (random.next() >> 40) as f64 / 65536.0;
        ((cell as f64 / 100.0).sin() * 1000.0 + noise.round()).to_le_bytes()
    });
    values.collect()
}

fn measured(rows: u64) -> WriteColumn<'static> {
    WriteColumn::owned(measurements(rows), None, None)
}

fn strings(rows: u64) -> WriteColumn<'static> {
    WriteColumn::strings((0..rows * SIDE).map(|cell| {
        let mut text = cell.to_string();
        text.truncate((cell % 7) as usize);
        text
    }))
}

/// Creates an array in a temporary folder, in fragments of equal height.
fn array(schema: ArraySchema, fragments: u64, cells: impl Fn(u64) -> WriteColumn<'static>) -> (TempDir, Array) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let attribute = schema.attributes()[0].name().to_owned();
    Array::create(&path, schema).unwrap();
    let open = || ArrayOptions::new().threads(1).open(&path).unwrap();
    let rows = SIDE / fragments;
    for first in (0..fragments).map(|index| index * rows) {
        let write = open().write().range("row", first as i32..(first + rows) as i32).unwrap();
        write.cells(WriteBatch::new().with(attribute.as_str(), cells(rows))).unwrap();
    }
    let array = open();
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
    let values = measurements(SIDE);

    group.throughput(Throughput::Bytes(bytes));
    let mut copy = vec![0; values.len()];
    group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(&mut copy).copy_from_slice(&values)));

    for (name, tile, layout, filters, fragments) in [
        ("unfiltered", 1000, Layout::RowMajor, vec![], 1),
        ("zstd", 1000, Layout::RowMajor, vec![Filter::Zstd { level: 3 }], 1),
        ("small tiles", 50, Layout::RowMajor, vec![], 1),
        ("columns in tiles", 1000, Layout::ColMajor, vec![], 1),
        ("zstd, columns in tiles", 1000, Layout::ColMajor, vec![Filter::Zstd { level: 3 }], 1),
        ("400 fragments", 100, Layout::RowMajor, vec![], 400),
    ] {
        let (_folder, array) = array(schema(tile, layout, floats(filters)), fragments, measured);
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
    let (_folder, array) = array(schema(1000, Layout::RowMajor, attribute), 1, strings);
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
