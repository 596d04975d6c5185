//! Requests made by opening an array, and the handling of damaged arrays.

#![allow(clippy::duplicate_mod)] // both writers of arrays have the module of places

use crate::arrays::{count, values};
use crate::sparse_support;
use crate::support;

use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, CreateOptions, ErrorCategory, Order};
use tdb_filters::FilterPipeline;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::allocations::peak_while;
use tdb_testkit::fixtures;
use tdb_types::{CellValNum, Datatype, FormatVersion, Scalar};

const PLAIN: &str = "v22-by-2.30.0-sparse-2d";
const CONSOLIDATED: &str = "v22-by-2.30.0-sparse-consolidated-footers";

pub(crate) fn memory(fixture: &str) -> Arc<MemoryStorage> {
    fixtures::named(fixture).array_storage()
}

/// Loads the fragments.
pub(crate) fn loaded(array: Result<Array, ArrayError>) -> Result<Array, ArrayError> {
    let array = array?;
    array.fragments()?;
    Ok(array)
}

pub(crate) fn open(storage: &Arc<MemoryStorage>) -> Result<Array, ArrayError> {
    loaded(ArrayOptions::new().threads(1).open_on(storage.clone()))
}

fn open_what_is_sound(storage: &Arc<MemoryStorage>) -> Array {
    loaded(ArrayOptions::new().threads(1).skip_damaged(true).open_on(storage.clone())).unwrap()
}

/// Returns the number of lists, opens and reads.
fn requests(array: &Array) -> (u64, u64, u64) {
    let counters = array.counters();
    (counters.lists, counters.opens, counters.reads)
}

fn metadata_of(storage: &MemoryStorage, index: usize) -> String {
    let fragment = storage.list("__fragments").unwrap().swap_remove(index).name;
    format!("__fragments/{fragment}/__fragment_metadata.tdb")
}

fn cells(array: &Array) -> usize {
    count(array.read())
}

#[test]
fn missing_arrays_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Array::open(folder.path().join("nothing")).unwrap_err();
    assert!(matches!(missing, ArrayError::NotFound { .. }), "{missing}");
    let empty = Array::open(folder.path()).unwrap_err();
    assert!(matches!(empty, ArrayError::NotAnArray { .. }), "{empty}");
    assert_eq!(empty.category(), ErrorCategory::Unavailable);
}

#[test]
fn footers_are_read_on_first_use() {
    let array = ArrayOptions::new().threads(1).open_on(memory(CONSOLIDATED)).unwrap();
    assert_eq!((array.directory().fragments.len(), array.damaged().len()), (3, 0));
    // The schema is read. The size of the consolidated file is requested.
    assert_eq!(requests(&array), (3, 2, 1));
    assert_eq!(array.fragments().unwrap().len(), 3);
    assert_eq!(requests(&array), (4, 4, 3));
    assert_eq!(array.fragments().unwrap().len(), 3);
    assert_eq!(requests(&array), (4, 4, 3));
}

#[test]
fn a_listing_per_folder_and_a_read_per_schema_and_footer() {
    // The array's folder, schemas and commits. One schema, two footers.
    assert_eq!(requests(&open(&memory(PLAIN)).unwrap()), (3, 3, 3));
    // Consolidated footers of two of three fragments. The folder is listed, and the file is read
    // instead of two footers. Only commits that are not empty are opened for their size, here one.
    assert_eq!(requests(&open(&memory(CONSOLIDATED)).unwrap()), (4, 4, 3));
    // Footers of fragments outside of the time range are not read.
    let early = ArrayOptions::new().threads(1).at(1_700_000_000_000).open_on(memory(CONSOLIDATED)).unwrap();
    assert_eq!((early.fragments().unwrap().len(), requests(&early)), (1, (3, 3, 2)));
}

#[test]
fn old_layouts_take_no_more() {
    for (version, expected) in [(2, (4, 4, 4)), (4, (4, 4, 4)), (8, (1, 4, 4)), (11, (2, 4, 4)), (23, (3, 4, 4))] {
        let storage = sparse(version, &[0, 100, 200]);
        let array = open(&storage).unwrap();
        assert_eq!((array.fragments().unwrap().len(), requests(&array)), (3, expected), "format {version}");
    }
}

#[test]
fn consolidated_footers_are_those_of_the_fragments() {
    let storage = memory(CONSOLIDATED);
    let array = open(&storage).unwrap();
    let meta = storage.list("__fragment_meta").unwrap().swap_remove(0).name;
    storage.remove_file(&format!("__fragment_meta/{meta}")).unwrap();
    let one_by_one = open(&storage).unwrap();
    for (fragment, own) in array.fragments().unwrap().iter().zip(one_by_one.fragments().unwrap()) {
        assert_eq!(fragment.footer(), own.footer());
        assert_eq!(*fragment.rtree().unwrap(), *own.rtree().unwrap());
        assert_eq!(fragment.bytes().unwrap(), own.bytes().unwrap());
    }
    assert_eq!(array.fragments().unwrap().len(), 3);
}

#[test]
fn vacuumed_footer_files_are_replaced() {
    let storage = memory(CONSOLIDATED);
    let array = ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap();
    let name = storage.list("__fragment_meta").unwrap().swap_remove(0).name;
    storage.remove_file(&format!("__fragment_meta/{name}")).unwrap();
    assert_eq!((array.fragments().unwrap().len(), array.damaged().len()), (3, 0));
}

#[test]
fn truncated_footers_are_not_newer_versions() {
    let storage = memory(PLAIN);
    let path = metadata_of(&storage, 0);
    let sound = storage.read(&path).unwrap();
    for len in (0..sound.len()).step_by(7) {
        storage.insert(&path, sound[..len].to_vec()).unwrap();
        let error = open(&storage).unwrap_err();
        assert_eq!(error.category(), ErrorCategory::Corrupt, "{len} bytes: {error}");
        assert!(error.to_string().contains(&path), "{error}");
    }
    let array = open_what_is_sound(&storage);
    assert_eq!((array.fragments().unwrap().len(), array.damaged().len()), (1, 1));
    assert!(path.starts_with(&array.damaged()[0].path));
    assert!(cells(&array) > 0);
}

#[test]
fn fragments_of_unknown_versions_are_errors_or_skipped() {
    let storage = memory(PLAIN);
    storage.insert("__commits/__5_5_0000000000000000000000000000000a_99.wrt", Vec::new()).unwrap();
    let error = open(&storage).unwrap_err();
    assert_eq!(error.category(), ErrorCategory::Unsupported);
    assert!(error.to_string().contains("0000a_99"), "{error}");
    let array = open_what_is_sound(&storage);
    assert_eq!((array.fragments().unwrap().len(), array.damaged().len()), (2, 1));
}

#[test]
fn commits_outside_of_the_layout_are_errors() {
    for path in
        ["__commits/__5_5_0000000000000000000000000000000a_11.wrt", "__5_5_0000000000000000000000000000000a_12.ok"]
    {
        let storage = memory(PLAIN);
        storage.insert(path, Vec::new()).unwrap();
        // In the array's root, a commit without a fragment has no meaning.
        if let Some(fragment) = path.strip_suffix(".ok") {
            assert_eq!(open(&storage).unwrap().fragments().unwrap().len(), 2);
            storage.insert(&format!("{fragment}/a0.tdb"), Vec::new()).unwrap();
        }
        let error = open(&storage).unwrap_err();
        assert!(matches!(&error, ArrayError::Corrupt { file, .. } if *file == storage.describe(path)), "{error}");
        assert_eq!(open_what_is_sound(&storage).damaged()[0].path, path);
    }
}

#[test]
fn fragments_without_their_schema_are_skipped() {
    let storage = memory("v22-by-2.30.0-dense-evolved");
    let all = open(&storage).unwrap().fragments().unwrap().len();
    let first = storage.list("__schema").unwrap().swap_remove(0).name;
    for damaged in [false, true] {
        if damaged {
            storage.insert(&format!("__schema/{first}"), b"no schema".to_vec()).unwrap();
        } else {
            storage.remove_file(&format!("__schema/{first}")).unwrap();
        }
        let error = open(&storage).unwrap_err();
        assert!(error.to_string().contains(&first), "{error}");
        let array = open_what_is_sound(&storage);
        assert!(array.fragments().unwrap().len() < all);
        let left_out = all - array.fragments().unwrap().len();
        assert_eq!(array.damaged().len(), left_out + usize::from(damaged));
        assert!(cells(&array) > 0);
    }
}

#[test]
fn damaged_commit_lists_are_errors_or_skipped() {
    for kind in ["con", "ign", "vac"] {
        let storage = memory(PLAIN);
        let path = format!("__commits/__5_5_0000000000000000000000000000000a_22.{kind}");
        storage.insert(&path, vec![0xff; 9]).unwrap();
        let error = open(&storage).unwrap_err();
        assert!(error.to_string().contains(&path), "{error}");
        let array = open_what_is_sound(&storage);
        assert_eq!((array.fragments().unwrap().len(), array.damaged().len(), &array.damaged()[0].path), (2, 1, &path));
    }
}

#[test]
fn a_dense_fragment_of_a_sparse_array_is_an_error() {
    let storage = sparse(22, &[0]);
    let place = support::places::FragmentPlace::new(FormatVersion::DEFAULT, 50, 50, 50);
    let dense = line(SchemaBuilder::dense(), 22);
    let values = (0..10i32).flat_map(i32::to_le_bytes).collect();
    let cells = support::Cells { values, ..support::Cells::default() };
    let bounds = vec![(key(0), key(9))];
    support::write_fragment(
        &*storage,
        &dense,
        &support::NewFragment { time: 50, bounds, attributes: vec![cells], chunk: None },
    );
    let error = open(&storage).unwrap_err();
    assert!(error.to_string().contains(&place.name) && error.to_string().contains("dense"), "{error}");
    assert_eq!(error.category(), ErrorCategory::Corrupt);
    assert_eq!(open_what_is_sound(&storage).damaged().len(), 1);
}

/// Releases before 2.3 wrote single cells of dense arrays as sparse fragments.
#[test]
fn sparse_fragments_of_dense_arrays_are_single_cells() {
    for version in [2, 4, 8, 22] {
        let schema = line(SchemaBuilder::dense(), version);
        let storage = Arc::new(MemoryStorage::new());
        support::create_array(&*storage, &schema);
        let dense = |time: u64, first: i32, count: i32| {
            let values = (0..count).flat_map(|cell| (time as i32 * 100 + cell).to_le_bytes()).collect();
            let attributes = vec![support::Cells { values, ..support::Cells::default() }];
            let bounds = vec![(key(first), key(first + count - 1))];
            let fragment = support::NewFragment { time, bounds, attributes, chunk: None };
            support::write_fragment(&*storage, &schema, &fragment);
        };
        dense(1, 0, 30);
        sparse_fragment(&storage, &schema, 2, &[3, 14, 15, 35, 99]);
        dense(3, 14, 1);
        sparse_fragment(&storage, &schema, 4, &[35]);
        let array = open(&storage).unwrap();
        for order in [Order::RowMajor, Order::Global] {
            let query = array.read().select(["a"]).unwrap().range("d", 0..=99).unwrap().order(order);
            let plan = query.plan().unwrap();
            assert_eq!(plan.fragments.len(), 4, "{plan}");
            let found: Vec<i32> = values(query, "a");
            let expected = (0..100).map(|cell| match cell {
                3 => 200,
                14 => 300,
                15 => 202,
                35 => 400,
                99 => 204,
                0..30 => 100 + cell,
                _ => i32::MIN,
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "format {version}");
        }
    }
}

/// Arrays of all formats read as written, including formats 1 and 23, which no release writes.
#[test]
fn sparse_arrays_of_every_format() {
    for version in FormatVersion::all() {
        let storage = sparse(version.number(), &[0, 5, 60]);
        let array = open(&storage).unwrap();
        assert!(array.fragments().unwrap().iter().all(|fragment| fragment.footer().header().version == version));
        let [places, read] = ["d", "a"].map(|name| values::<i32>(array.read().order(Order::RowMajor), name));
        let mut expected = std::collections::BTreeMap::new();
        for (time, first) in [(1, 0), (2, 5), (3, 60)] {
            expected.extend((0..20).map(|cell| (first + cell, time * 100 + cell)));
        }
        assert!(places.into_iter().zip(read).eq(expected), "format {version}");
    }
}

/// Before format 5, space tiles did not affect the order of floating-point coordinates.
#[test]
fn cells_of_old_arrays_with_float_coordinates_come_once() {
    let dimension = |name: &str| {
        let dimension = Dimension::new(name, -10.0f64..=10.0);
        dimension.with_tile(3.0)
    };
    let schema = SchemaBuilder::sparse()
        .version(FormatVersion::new(4).unwrap())
        .capacity(5)
        .dimension(dimension("y"))
        .dimension(dimension("x"))
        .attribute(Attribute::new("a", Datatype::Int32))
        .build()
        .unwrap();
    let storage = sparse_support::write_array(&schema, &[]);
    let grid = || (-9..10i32).flat_map(|y| (-9..10i32).map(move |x| (y, x)));
    for time in 1..4i32 {
        let places: Vec<(i32, i32)> = grid().filter(|(y, x)| (y * 5 + x).rem_euclid(time) == 0).collect();
        let column = |bytes: Vec<u8>| sparse_support::Cells { values: bytes, ..sparse_support::Cells::default() };
        let along = |axis: fn(&(i32, i32)) -> i32| {
            column(places.iter().flat_map(|place| f64::from(axis(place)).to_le_bytes()).collect())
        };
        let dimensions = vec![along(|place| place.0), along(|place| place.1)];
        let attributes = vec![column(places.iter().flat_map(|_| time.to_le_bytes()).collect())];
        let fragment = sparse_support::NewFragment::at(time as u64, places.len(), dimensions, attributes);
        let schema_name = tdb_fragment::LEGACY_SCHEMA_NAME;
        sparse_support::write_fragment(&storage, &schema, schema_name, &fragment, time as usize);
    }
    let newest = |(y, x): (i32, i32)| (1..4).rev().find(|time| (y * 5 + x).rem_euclid(*time) == 0).unwrap();
    let expected: Vec<(i32, i32, i32)> = grid().map(|(y, x)| (y, x, newest((y, x)))).collect();
    for order in [Order::Unordered, Order::Global, Order::RowMajor, Order::ColMajor] {
        for budget in [64 << 20, 300] {
            let mut read = Vec::new();
            for batch in open(&storage).unwrap().read().order(order).budget(budget).batches().unwrap() {
                let batch = batch.unwrap();
                let [y, x] = ["y", "x"].map(|name| batch.column(name).unwrap().values::<f64>().unwrap().to_vec());
                let a = batch.column("a").unwrap().values::<i32>().unwrap();
                read.extend(y.iter().zip(&x).zip(a).map(|((y, x), a)| (*y as i32, *x as i32, *a)));
            }
            read.sort_unstable();
            assert_eq!(read, expected, "{order}, budget {budget}");
        }
    }
}

fn line(schema: SchemaBuilder, version: u32) -> ArraySchema {
    let dimension = Dimension::new("d", 0i32..=99);
    schema
        .version(FormatVersion::new(version).unwrap())
        .capacity(3)
        .dimension(dimension.with_tile(10))
        .attribute(Attribute::new("a", Datatype::Int32).with_cell_val_num(CellValNum::ONE))
        .coords_filters(FilterPipeline::default())
        .build()
        .unwrap()
}

/// Ordered key of a coordinate.
fn key(value: i32) -> u64 {
    tdb_types::ordered_key(Scalar::I32(value).physical(), &value.to_le_bytes())
}

/// A sparse array with a fragment of 20 cells from each of these coordinates.
fn sparse(version: u32, fragments: &[i32]) -> Arc<MemoryStorage> {
    let schema = line(SchemaBuilder::sparse(), version);
    let storage = sparse_support::write_array(&schema, &[]);
    for (index, first) in fragments.iter().enumerate() {
        let places: Vec<i32> = (0..20).map(|cell| (first + cell) % 100).collect();
        sparse_fragment(&storage, &schema, index as u64 + 1, &places);
    }
    storage
}

fn sparse_fragment(storage: &MemoryStorage, schema: &ArraySchema, time: u64, places: &[i32]) {
    let column = |values: Vec<u8>| sparse_support::Cells { values, ..sparse_support::Cells::default() };
    let values = (0..places.len() as i32).flat_map(|cell| (time as i32 * 100 + cell).to_le_bytes()).collect();
    let dimensions = vec![column(places.iter().flat_map(|place| place.to_le_bytes()).collect())];
    let fragment = sparse_support::NewFragment::at(time, places.len(), dimensions, vec![column(values)]);
    let name = tdb_fragment::LEGACY_SCHEMA_NAME;
    let has_folder = schema.version().has(tdb_types::Feature::SchemaFolder);
    let schema_name = if has_folder { sparse_support::SCHEMA } else { name };
    sparse_support::write_fragment(storage, schema, schema_name, &fragment, time as usize);
}

/// Lists with an entry per tile must not take memory unless the data files have enough bytes for
/// that many tiles. Small metadata files may claim any number.
#[test]
fn impossible_tile_counts_are_rejected_unread() {
    const TILES: usize = 100_000;
    let line = Dimension::new("x", 0u32..=99_999);
    let schema = SchemaBuilder::dense().dimension(line.with_tile(1));
    let schema = schema.attribute(Attribute::new("a", Datatype::UInt8)).build().unwrap();
    let storage = Arc::new(MemoryStorage::new());
    let shared: Arc<dyn Storage> = storage.clone();
    CreateOptions::new().create_on(&shared, schema).unwrap();
    open(&storage).unwrap().write().cells([("a", &vec![1u8; TILES])]).unwrap();
    let fragment = storage.list("__fragments").unwrap().swap_remove(0).name;
    let file = format!("__fragments/{fragment}/a0.tdb");
    let bytes = storage.read(&file).unwrap();
    for (len, refused) in [(bytes.len(), false), (8 * TILES - 1, true)] {
        storage.insert(&file, bytes[..len].to_vec()).unwrap();
        let array = open(&storage).unwrap();
        let mut first = None;
        let peak = peak_while(|| first = array.read().range("x", 5u32..=5).unwrap().batches().unwrap().next());
        let read = first.unwrap();
        assert_eq!(read.is_err(), refused);
        assert_eq!(peak < 4 * TILES as u64, refused, "{peak}");
        if let Err(error) = read {
            assert!(error.to_string().contains("100000 tiles"), "{error}");
        }
    }
}
