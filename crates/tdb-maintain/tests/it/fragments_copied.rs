//! Copied tiles: the new fragment has the same statistics as with rewritten tiles, and every point
//! in time reads as before.

use std::sync::Arc;

use crate::fragments_support::{Random, cells_at, create, dense, open, storage_of, write_dense, write_dense_box};
use tdb_array::tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder, SchemaEvolution};
use tdb_array::{Array, TileCounts, WriteBatch, WriteColumn, WriteIds};
use tdb_filters::{Filter, FilterPipeline};
use tdb_job::MaintainError;
use tdb_maintain::ConsolidateFragments;
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{CellValNum, Datatype, FormatVersion, Layout};
use tdb_verify::Verify;

const CAPACITY: u32 = 4;
const ZSTD: Filter = Filter::Zstd { level: 3 };

fn number() -> Attribute {
    Attribute::new("a", Datatype::Int32).with_filters(FilterPipeline::new(vec![Filter::Byteshuffle, ZSTD]))
}

/// Returns the schema of an array with one dimension, filters that work on whole strings, and a
/// checksum.
fn line(version: u32) -> ArraySchema {
    let x = Dimension::new("x", 0u32..=9999).with_tile(100);
    let text = Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let text = text.with_filters(FilterPipeline::new(vec![Filter::Rle { level: -1 }]));
    let real = Attribute::new("n", Datatype::Float64).nullable(true);
    let real = real.with_filters(FilterPipeline::new(vec![ZSTD, Filter::Md5]));
    let schema = SchemaBuilder::sparse().version(FormatVersion::new(version).unwrap()).capacity(u64::from(CAPACITY));
    schema.dimension(x).attribute(number()).attribute(text).attribute(real).build().unwrap()
}

/// Writes `count` cells from `start` on.
fn append(storage: &Arc<dyn Storage>, random: &mut Random, (start, count): (u32, u32), time: u64) {
    let array = open(storage);
    let x: Vec<u8> = (start..start + count).flat_map(u32::to_le_bytes).collect();
    let mut cells = WriteBatch::new().with("x", WriteColumn::owned(x, None, None));
    for attribute in array.schema().attributes() {
        let column = match attribute.name() {
            "s" => {
                let text = |random: &mut Random| "abcabc"[..usize::try_from(random.below(4)).unwrap()].to_owned();
                WriteColumn::strings((0..count).map(|_| text(random)).collect::<Vec<_>>())
            }
            "n" => {
                let value = |random: &mut Random| (random.below(3) > 0).then(|| f64::from(random.number(7)));
                WriteColumn::options((0..count).map(|_| value(random)).collect::<Vec<_>>())
            }
            _ => WriteColumn::owned((0..count).flat_map(|_| random.number(9).to_le_bytes()).collect(), None, None),
        };
        cells = cells.with(attribute.name().to_owned(), column);
    }
    let names = WriteIds::new().seeded(random.below(1 << 20)).at(time);
    array.write().ids(names).cells(cells).unwrap();
}

/// Consolidates all fragments. Checks the cells at all times from `from` on, and all statistics.
fn join(storage: &Arc<dyn Storage>, from: u64) -> TileCounts {
    let fragments = open(storage).fragments().unwrap().to_vec();
    let times: Vec<u64> = fragments.iter().map(|fragment| fragment.name().end()).chain([1, u64::MAX]).collect();
    let read = || -> Vec<Vec<String>> {
        times.iter().filter(|time| **time >= from).map(|time| cells_at(storage, *time)).collect()
    };
    let before = read();
    let consolidate = ConsolidateFragments::new().ids(WriteIds::new().seeded(fragments.len() as u64 + 9_000));
    let report = consolidate.amplification(f64::INFINITY).plan(&open(storage)).unwrap().run().unwrap();
    assert_eq!(read(), before);
    let verified = Verify::new().threads(1).storage(storage.clone()).unwrap();
    assert!(verified.is_sound(), "{:?}", verified.findings);
    report.steps[0].tiles
}

fn array_of(schema: ArraySchema) -> (MemoryStorage, Arc<dyn Storage>) {
    let disk = MemoryStorage::new();
    let storage = storage_of(&disk);
    create(&storage, schema);
    (disk, storage)
}

fn counts(tiles: TileCounts) -> (u64, u64) {
    (tiles.copied, tiles.written)
}

#[test]
fn full_tiles_of_sparse_fragments_that_do_not_overlap() {
    for version in [22, 17, 16, 12, 11, 9] {
        let (_disk, storage) = array_of(line(version));
        let mut random = Random(version.into());
        for place in 0..5 {
            let count = if place == 4 { 2 * CAPACITY + 1 } else { 2 * CAPACITY };
            append(&storage, &mut random, (place * 2 * CAPACITY, count), 20 + u64::from(place));
        }
        let from = if version < 15 { 24 } else { 0 };
        // Eleven tiles of four fields. From format 15 on, timestamps are new tiles.
        let times = if version < 15 { 0 } else { 11 };
        assert_eq!(counts(join(&storage, from)), (44, 44 + times), "{version}");
        // The consolidated fragment ends within a tile, and all cells have timestamps now.
        append(&storage, &mut random, (60, CAPACITY), 30);
        let from = if version < 15 { 30 } else { 0 };
        let copied = if version < 15 { 40 } else { 50 };
        assert_eq!(counts(join(&storage, from)), (copied, 48 + if version < 15 { 0 } else { 12 }), "{version}");
    }
}

#[test]
fn sparse_fragments_that_may_overlap() {
    let mut all = (0, 0);
    for seed in 0..60 {
        let version = [22, 20, 15, 14, 9][(seed % 5) as usize];
        let (_disk, storage) = array_of(line(version));
        let mut random = Random(seed);
        let mut last = 20;
        for step in 0..3 + random.below(4) {
            let place = u32::try_from(random.below(12)).unwrap() * CAPACITY;
            let count = match random.below(4) {
                0 => 1 + u32::try_from(random.below(9)).unwrap(),
                tiles => CAPACITY * u32::try_from(tiles).unwrap(),
            };
            last = 20 + step / 2;
            append(&storage, &mut random, (place, count), last);
        }
        let (copied, written) = counts(join(&storage, if version < 15 { last } else { 0 }));
        all = (all.0 + copied, all.1 + written);
    }
    assert!(all.0 > 300 && all.0 < all.1, "{all:?}");
}

#[test]
fn dense_fragments() {
    let orders = [Layout::RowMajor, Layout::ColMajor];
    let mut all = (0, 0);
    for version in [22, 20, 16, 11, 9, 7] {
        for (cells, tiles) in orders.into_iter().flat_map(|cells| orders.map(|tiles| (cells, tiles))) {
            for seed in 0..6 {
                let (_disk, storage) = array_of(dense(version, cells, tiles));
                let mut random = Random(seed);
                let names = WriteIds::new().seeded(seed);
                let steps = 2 + random.below(4);
                // Writes the whole domain first, so most tiles have cells of a single fragment.
                write_dense_box(&storage, &mut random, &names.clone().at(20), [-5..=5, 1..=10]);
                (1..steps).for_each(|step| write_dense(&storage, &mut random, &names.clone().at(20 + step)));
                let (copied, written) = counts(join(&storage, 20 + steps - 1));
                all = (all.0 + copied, all.1 + written);
            }
        }
    }
    assert!(all.0 > 100 && all.0 < all.1, "{all:?}");
}

/// The reference library includes cells outside of the domain when it consolidates such tiles.
#[test]
fn edge_tiles_are_recomputed() {
    let x = Dimension::new("x", 0i32..=26).with_tile(11);
    let schema = SchemaBuilder::dense().dimension(x).attribute(number()).build().unwrap();
    let (_disk, storage) = array_of(schema);
    let names = WriteIds::new().seeded(7);
    for (range, time) in [(0..=26, 20), (3..=3, 21)] {
        let values: Vec<i32> = range.clone().collect();
        let write = open(&storage).write().ids(names.clone().at(time)).range("x", range).unwrap();
        write.cells(WriteBatch::new().with("a", WriteColumn::values(&values))).unwrap();
    }
    // Copies the middle one of three tiles. The first tile has cells of two fragments.
    assert_eq!(counts(join(&storage, 21)), (1, 3));
}

#[test]
fn fields_with_other_filters_are_filtered_again() {
    let (_disk, storage) = array_of(line(22));
    let mut random = Random(1);
    append(&storage, &mut random, (0, CAPACITY), 20);
    let names = WriteIds::new().seeded(7);
    open(&storage).evolve(&SchemaEvolution::new().drop_attribute("a"), &names.clone().at(21)).unwrap();
    let again = Attribute::new("a", Datatype::Int32).with_filters(FilterPipeline::new(vec![ZSTD]));
    open(&storage).evolve(&SchemaEvolution::new().add_attribute(again), &names.at(22)).unwrap();
    append(&storage, &mut random, (100, CAPACITY), 23);
    // Two tiles of three unchanged fields and one of the attribute are copied. Timestamps are new.
    assert_eq!(counts(join(&storage, 22)), (7, 10));
}

#[test]
fn tiles_of_other_formats_are_filtered_again() {
    let (_disk, storage) = array_of(line(9));
    let mut random = Random(1);
    append(&storage, &mut random, (0, CAPACITY), 20);
    // The array has the current format from here on.
    let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Int32));
    open(&storage).evolve(&evolution, &WriteIds::new().seeded(7).at(21)).unwrap();
    append(&storage, &mut random, (100, CAPACITY), 23);
    assert_eq!(counts(join(&storage, 22)), (5, 12));
}

#[test]
fn chunks_that_do_not_fit_the_cells_are_found() {
    let (disk, storage) = array_of(line(22));
    let mut random = Random(1);
    append(&storage, &mut random, (0, CAPACITY), 20);
    append(&storage, &mut random, (100, CAPACITY), 21);
    let fragment: Array = open(&storage);
    let file = format!("{}/a0.tdb", fragment.fragments().unwrap()[1].folder());
    let mut bytes = disk.read(&file).unwrap();
    // The unfiltered size of the first chunk.
    bytes[8] ^= 4;
    disk.insert(&file, bytes).unwrap();
    let error = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap_err();
    let MaintainError::Array(error) = error else { panic!("{error}") };
    assert!(error.to_string().contains("a0.tdb"), "{error}");
    assert_eq!(open(&storage).fragments().unwrap().len(), 2);
}
