//! Writes the fixtures and the results of the native reader to a folder, for the tests of the
//! package: `cargo run --example expected FOLDER`.
//!
//! - `NAME/array`, `NAME/group`: the files of a fixture
//! - `expected.json`: the digests of the columns of each array, and the requests of the read
//! - `damaged.json`: damaged fixtures with the outcome of the native reader
//! - `NAME/array` of `speed-…`: larger arrays, with the time of the native reader in `speed.json`

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tdb_array::tdb_filters::{EncryptionKey, FilterPipeline};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_storage::{ReadProfile, Storage};
use tdb_array::tdb_types::Datatype;
use tdb_array::{Array, ArrayError, ArrayOptions, Batch, Column, Order, WriteBatch, WriteColumn};
use tdb_corruption::{Cases, Subject};
use tdb_testkit::{LatentStorage, fixtures};

/// The profile of the package.
const PROFILE: ReadProfile = ReadProfile::new(128 << 10, 8 << 20, 256);

/// The number of damaged fixtures, and the seed of the damage.
const DAMAGED: usize = 1200;
const SEED: u64 = 20;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let folder = std::env::args().nth(1).ok_or("usage: expected FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    write_fixtures(folder)?;
    write_damaged(folder)?;
    write_speed(folder)
}

fn write_json(folder: &Path, name: &str, value: &Value) -> Outcome {
    Ok(fs::write(folder.join(name), value.to_string())?)
}

fn write_fixtures(folder: &Path) -> Outcome {
    let mut all = Map::new();
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        fixture.unpack_into(&folder.join(fixture.name()));
        let key = fixture.expected().key();
        let storage: Arc<dyn Storage> = fixture.array_storage();
        let remote = LatentStorage::with_profile(Arc::clone(&storage), Duration::ZERO, u64::MAX, PROFILE);
        let mut entry = Map::new();
        entry.insert("key".to_owned(), json!(key.map(|key| hex(&key))));
        let opened = open(Arc::new(remote), key);
        let mut before = 0;
        // Listings of a manifest take no request.
        let mut requests = || {
            let counters = opened.as_ref().map(|array| array.counters()).unwrap_or_default();
            let after = counters.requests - counters.lists;
            after - std::mem::replace(&mut before, after)
        };
        entry.insert("requestsOfOpening".to_owned(), json!(requests()));
        for (name, order) in [("row-major", Order::RowMajor), ("global", Order::Global)] {
            let outcome = match &opened {
                Ok(array) => digests(array, order),
                Err(error) => Err(category(error)),
            };
            let requests = requests();
            let columns = match outcome {
                Ok(columns) => columns,
                Err(category) => json!({ "error": category }),
            };
            entry.insert(name.to_owned(), json!({ "columns": columns, "requests": requests }));
        }
        all.insert(fixture.name().to_owned(), Value::Object(entry));
    }
    for fixture in fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases()) {
        fixture.unpack_into(&folder.join(fixture.name()));
        let expected = fixture.expected_group();
        let members: Vec<_> =
            expected.members.iter().map(|member| json!([member.name, member.kind, member.uri])).collect();
        let keys: Vec<_> = expected.metadata.iter().map(|metadata| json!(metadata.key)).collect();
        let key = expected.key().map(|key| hex(&key));
        all.insert(fixture.name().to_owned(), json!({ "key": key, "members": members, "metadata": keys }));
    }
    write_json(folder, "expected.json", &Value::Object(all))
}

fn write_damaged(folder: &Path) -> Outcome {
    let subjects: Vec<Subject> = tdb_corruption::all().into_iter().filter(|subject| !subject.is_group()).collect();
    let cases = Cases::new(&subjects, SEED).take(DAMAGED).map(|(subject, damage)| {
        let outcome = subject.while_damaged(&damage, || {
            open(subject.storage(), subject.key())
                .map_err(|error| category(&error))
                .and_then(|array| digests(&array, Order::RowMajor))
        });
        let files: Vec<_> = damage.files.iter().map(|(path, bytes)| json!([path, bytes.as_deref().map(hex)])).collect();
        let removed = damage.is_folder.then_some(&damage.path);
        json!({
            "name": subject.name(),
            "what": damage.to_string(),
            "files": files,
            "removed": removed,
            "columns": outcome.as_ref().ok(),
            "error": outcome.as_ref().err(),
        })
    });
    let cases = cases.collect();
    write_json(folder, "damaged.json", &cases)
}

fn open(storage: Arc<dyn Storage>, key: Option<[u8; 32]>) -> Result<Array, ArrayError> {
    ArrayOptions::new().threads(1).key(key.map(EncryptionKey::new)).with_footers().open_on(storage)
}

fn category(error: &ArrayError) -> String {
    format!("{:?}", error.category()).to_lowercase()
}

/// Returns the digest of each column.
fn digests(array: &Array, order: Order) -> Result<Value, String> {
    let read = || {
        let batches = array.read().order(order).batches()?.collect::<Result<Vec<_>, _>>()?;
        Ok(Batch::joined(batches))
    };
    let batch = read().map_err(|error: ArrayError| category(&error))?;
    let columns = batch.iter().flat_map(Batch::columns).map(|column| (column.name().to_owned(), json!(digest(column))));
    Ok(Value::Object(columns.collect()))
}

/// Returns the digest of values, offsets, and validity with a byte per cell.
fn digest(column: &Column) -> String {
    let mut hash = Sha256::new();
    hash.update(column.bytes());
    for offset in column.offsets().into_iter().flatten() {
        hash.update(offset.to_le_bytes());
    }
    if column.validity().is_some() {
        let valid: Vec<u8> = (0..column.len()).map(|cell| u8::from(column.is_valid(cell))).collect();
        hash.update(valid);
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes larger arrays with different filters, and measures the native reader on one thread.
fn write_speed(folder: &Path) -> Outcome {
    let mut times = Map::new();
    let filters = [
        ("zstd", "double_delta | zstd(3)"),
        ("bitshuffle-zstd", "bitshuffle | zstd(5)"),
        ("lz4", "byteshuffle | lz4(5)"),
        ("gzip", "gzip(6)"),
        ("bit-width", "bit_width_reduction(256)"),
        ("none", "no filters"),
    ];
    for (name, filters) in filters {
        let name = format!("speed-dense-{name}");
        let path = folder.join(&name).join("array");
        let filters: FilterPipeline = filters.parse()?;
        if !path.exists() {
            let side = |name| Dimension::new(name, 0u32..=1999).with_tile(250u32);
            let attribute = |name, datatype| Attribute::new(name, datatype).with_filters(filters.clone());
            let schema = SchemaBuilder::dense().dimension(side("y")).dimension(side("x"));
            let schema = schema.attribute(attribute("a", Datatype::Int32)).attribute(attribute("b", Datatype::UInt32));
            Array::create(&path, schema.build()?)?;
            let a: Vec<i32> = (0..4_000_000).map(|cell: i32| cell / 7 + (cell.wrapping_mul(48271) >> 24)).collect();
            let b: Vec<u32> =
                (0..4_000_000_u32).map(|cell| cell % 2000 + (cell.wrapping_mul(2_654_435_761) >> 26)).collect();
            let cells = WriteBatch::new().with("a", WriteColumn::values(&a)).with("b", WriteColumn::values(&b));
            Array::open(&path)?.write().cells(cells)?;
        }
        times.insert(name, json!(fastest(&path)?));
    }
    let path = folder.join("speed-sparse/array");
    if !path.exists() {
        let side = |name| Dimension::new(name, 0u32..=9999).with_tile(1000u32);
        let schema = SchemaBuilder::sparse().dimension(side("y")).dimension(side("x")).capacity(10_000);
        let schema = schema.attribute(Attribute::new("a", Datatype::Float64).with_filters("zstd(3)".parse()?));
        Array::create(&path, schema.build()?)?;
        let place = |cell: u64| (cell * 7_368_787) % 100_000_000;
        let y: Vec<u32> = (0..1_000_000).map(|cell| (place(cell) / 10_000) as u32).collect();
        let x: Vec<u32> = (0..1_000_000).map(|cell| (place(cell) % 10_000) as u32).collect();
        let a: Vec<f64> = (0..1_000_000).map(|cell| f64::from(cell) / 16.0).collect();
        let cells = WriteBatch::new().with("y", WriteColumn::values(&y)).with("x", WriteColumn::values(&x));
        Array::open(&path)?.write().cells(cells.with("a", WriteColumn::values(&a)))?;
    }
    times.insert("speed-sparse".to_owned(), json!(fastest(&path)?));
    write_json(folder, "speed.json", &Value::Object(times))
}

/// Returns the shortest time of five reads, in milliseconds.
fn fastest(path: &Path) -> Outcome<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let array = ArrayOptions::new().threads(1).open(path)?;
        let batches =
            array.read().order(Order::RowMajor).budget(128 << 20).batches()?.collect::<Result<Vec<_>, _>>()?;
        let batch = Batch::joined(batches).ok_or("no cells")?;
        assert!(!batch.is_empty());
        best = best.min(start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(best)
}
