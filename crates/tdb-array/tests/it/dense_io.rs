//! Requests, bytes and memory of dense reads. Also covers domains too large to be written
//! completely.

use std::sync::Arc;

use crate::arrays::count;
use crate::support::{Cells, NewFragment, create_array, write_fragment};
use tdb_array::{ArrayOptions, Order};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{CountingStorage, LocalStorage, MemoryStorage, Storage};
use tdb_types::{CellValNum, Datatype, Scalar};
use tempfile::TempDir;

fn square(side: i64, tile: i64, attributes: Vec<Attribute>) -> ArraySchema {
    let axis = |name| Dimension::new(name, 0i64..=side - 1).with_tile(tile);
    let schema = SchemaBuilder::dense().dimension(axis("y")).dimension(axis("x"));
    attributes.into_iter().fold(schema, SchemaBuilder::attribute).build().unwrap()
}

fn filtered(attribute: Attribute, filters: Vec<Filter>) -> Attribute {
    attribute.with_filters(FilterPipeline::new(filters))
}

/// Ascending cells that hardly compress.
fn numbers(count: u64) -> Cells {
    let mixed = |cell: u64| cell.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
    Cells { values: (0..count).flat_map(|cell| mixed(cell).to_le_bytes()).collect(), ..Cells::default() }
}

fn strings(count: u64) -> Cells {
    let mut cells = Cells { offsets: Some(vec![0]), ..Cells::default() };
    for cell in 0..count {
        cells.values.extend(format!("{cell:x}").bytes());
        let end = cells.values.len() as u64;
        cells.offsets.iter_mut().for_each(|offsets| offsets.push(end));
    }
    cells
}

fn write(storage: &dyn Storage, schema: &ArraySchema, side: i64, attributes: Vec<Cells>) {
    create_array(storage, schema);
    let bounds = vec![(Scalar::I64(0).key(), Scalar::I64(side - 1).key()); 2];
    write_fragment(storage, schema, &NewFragment { time: 1, bounds, attributes, chunk: None });
}

fn written(schema: &ArraySchema, side: i64, attributes: Vec<Cells>) -> MemoryStorage {
    let storage = MemoryStorage::new();
    write(&storage, schema, side, attributes);
    storage
}

/// Writes files and counts their reads.
fn in_files(schema: &ArraySchema, side: i64, attributes: Vec<Cells>) -> (TempDir, CountingStorage) {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    write(&storage, schema, side, attributes);
    (folder, CountingStorage::new(Arc::new(storage)))
}

#[test]
fn points_of_large_tiles_read_one_chunk() {
    let schema =
        square(512, 512, vec![filtered(Attribute::new("a", Datatype::UInt64), vec![Filter::Zstd { level: 1 }])]);
    let (_folder, storage) = in_files(&schema, 512, vec![numbers(512 * 512)]);
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(storage.clone())).unwrap();
    let point = |y: i64, x: i64| array.read().range("y", y..=y).unwrap().range("x", x..=x).unwrap();
    assert_eq!(count(point(0, 0)), 1);
    storage.take();
    assert_eq!(count(point(400, 17)), 1);
    let costs = storage.take();
    // The tile has 2 MiB in 32 chunks of 64 KiB.
    assert_eq!((costs.lists, costs.opens), (0, 0));
    assert!(costs.bytes < 100 << 10, "{costs:?}");
    assert_eq!(count(array.read()), 512 * 512);
    let costs = storage.take();
    assert!(costs.reads < 20, "{costs:?}");
}

#[test]
fn adjacent_tiles_are_read_together() {
    let schema = square(300, 10, vec![Attribute::new("a", Datatype::UInt64)]);
    let (_folder, storage) = in_files(&schema, 300, vec![numbers(300 * 300)]);
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(storage.clone())).unwrap();
    assert_eq!(count(array.read().range("y", 0..=0i64).unwrap()), 300);
    storage.take();
    assert_eq!(count(array.read()), 300 * 300);
    let costs = storage.take();
    // 900 tiles of 820 bytes each.
    assert!(costs.reads < 10 && costs.bytes == 900 * 820, "{costs:?}");
}

#[test]
fn string_tiles_with_embedded_offsets_are_unfiltered_once() {
    for filter in [Filter::Rle { level: -1 }, Filter::Dictionary { level: -1 }] {
        let attribute = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
        let schema = square(128, 64, vec![filtered(attribute, vec![filter])]);
        let (_folder, storage) = in_files(&schema, 128, vec![strings(128 * 128)]);
        for (order, threads) in [(Order::RowMajor, 1), (Order::ColMajor, 2), (Order::Global, 2)] {
            let array = ArrayOptions::new().threads(threads).open_on(Arc::new(storage.clone())).unwrap();
            let query = || array.read().order(order).budget(16 << 10);
            // Load the metadata of the fragment first.
            assert!(query().batches().unwrap().count() > 8);
            storage.take();
            assert_eq!(count(query()), 128 * 128);
            let costs = storage.take();
            // Each of the four tiles takes two reads of the offsets' chunk count of zero, and a
            // read of the strings.
            assert!(costs.reads <= 12, "{order} {costs:?}");
        }
    }
}

#[test]
fn hidden_tiles_are_not_read() {
    let schema = square(64, 64, vec![Attribute::new("a", Datatype::UInt64)]);
    let storage = written(&schema, 64, vec![numbers(64 * 64)]);
    let bounds = vec![(Scalar::I64(0).key(), Scalar::I64(63).key()); 2];
    let newer = NewFragment { time: 2, bounds, attributes: vec![numbers(64 * 64)], chunk: None };
    write_fragment(&storage, &schema, &newer);
    let older = "__fragments/__1_1_00000000000000000000000000000001_22";
    storage.remove_file(&format!("{older}/a0.tdb")).unwrap();
    let array = ArrayOptions::new().open_on(Arc::new(storage)).unwrap();
    assert_eq!(count(array.read()), 64 * 64);
    assert_eq!(array.read().plan().unwrap().fragments.len(), 1);
}

#[test]
fn the_largest_domain_is_readable() {
    let axis = |name| {
        let dimension = Dimension::new(name, 0u64..=u64::MAX - 1000);
        dimension.with_tile(1000)
    };
    let schema = SchemaBuilder::dense()
        .dimension(axis("y"))
        .dimension(axis("x"))
        .attribute(Attribute::new("a", Datatype::UInt64))
        .build()
        .unwrap();
    let storage = MemoryStorage::new();
    create_array(&storage, &schema);
    let far = u64::MAX - 5000;
    let bounds = vec![(far, far + 1), (7, 8)];
    write_fragment(&storage, &schema, &NewFragment { time: 1, bounds, attributes: vec![numbers(4)], chunk: None });
    let array = ArrayOptions::new().open_on(Arc::new(storage)).unwrap();
    assert_eq!(array.read().plan().unwrap().tile_count(), 1);

    let near = array.read().range("y", far - 1..=far + 2).unwrap().range("x", 6..=9u64).unwrap();
    let batches: Vec<_> = near.batches().unwrap().map(Result::unwrap).collect();
    let cells: Vec<u64> = batches[0].column("a").unwrap().values::<u64>().unwrap().to_vec();
    let written: Vec<u64> =
        numbers(4).values.chunks(8).map(|cell| u64::from_le_bytes(cell.try_into().unwrap())).collect();
    let none = u64::MAX;
    let expected = [[none; 4], [none, written[0], written[1], none], [none, written[2], written[3], none], [none; 4]];
    assert_eq!(cells, expected.concat());

    // The whole domain has more cells than a `u64` can count, yet it is readable batch by batch.
    for order in [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered] {
        let all = array.read().select(["a", "x", "y"]).unwrap().order(order).budget(10_000);
        for batch in all.batches().unwrap().take(20) {
            let batch = batch.unwrap();
            assert!(!batch.is_empty() && batch.memory() <= 4 * 10_000, "{order}: {}", batch.memory());
        }
    }
}

#[test]
fn many_ranges_of_one_cell() {
    let schema = square(200, 50, vec![Attribute::new("a", Datatype::UInt64)]);
    let (_folder, storage) = in_files(&schema, 200, vec![numbers(200 * 200)]);
    let array = ArrayOptions::new().threads(1).open_on(Arc::new(storage.clone())).unwrap();
    let mut query = array.read();
    for at in (0..200i64).rev().step_by(3) {
        query = query.range("y", at..=at).unwrap().range("x", at..=at).unwrap();
    }
    storage.take();
    assert_eq!(count(query.order(Order::Unordered)), 67 * 67);
    // Each of the 16 tiles once.
    assert!(storage.take().bytes <= 200 * 200 * 8 + 16 * 20 + 4096);
}
