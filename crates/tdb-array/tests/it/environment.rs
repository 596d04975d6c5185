//! Time and random bytes from the caller.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder, SchemaEvolution,
};
use tdb_array::tdb_storage::{EntryKind, MemoryStorage, Storage};
use tdb_array::tdb_types::Datatype;
use tdb_array::{
    Array, ArrayError, ArrayOptions, Clock, CreateOptions, Environment, ErrorCategory, Group, GroupOptions,
    MetadataValue, Randomness, TimeRange, WriteBatch, WriteIds,
};
use tdb_testkit::files_of;

use crate::arrays::count;

/// A clock that advances by `step` milliseconds per call.
#[derive(Debug)]
struct Steps {
    next: AtomicU64,
    step: u64,
}

fn steps(start: u64, step: u64) -> Steps {
    Steps { next: AtomicU64::new(start), step }
}

impl Clock for Steps {
    fn now(&self) -> io::Result<u64> {
        Ok(self.next.fetch_add(self.step, Ordering::Relaxed))
    }

    fn wait_until(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes derived from a seed.
#[derive(Debug)]
struct Seeded(AtomicU64);

fn seeded(seed: u64) -> Seeded {
    Seeded(AtomicU64::new(seed))
}

impl Randomness for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        for byte in bytes {
            let last = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            *byte = (last ^ last >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9).to_be_bytes()[0];
        }
        Ok(())
    }
}

/// A clock and random source that always fail.
#[derive(Debug)]
struct Broken;

impl Clock for Broken {
    fn now(&self) -> io::Result<u64> {
        Err(io::Error::other("stopped"))
    }
}

impl Randomness for Broken {
    fn fill(&self, _: &mut [u8]) -> io::Result<()> {
        Err(io::Error::other("dry"))
    }
}

fn definition() -> ArrayDefinition {
    let rows = Dimension::new("row", 1i32..=100);
    let values = Attribute::new("value", Datatype::Float32);
    let kinds = Attribute::new("kind", Datatype::UInt8).with_enumeration("kinds");
    let schema = SchemaBuilder::sparse()
        .capacity(1)
        .dimension(rows)
        .attribute(values)
        .attribute(kinds)
        .enumeration(EnumerationRef::unplaced("kinds"));
    let kinds = Enumeration::strings("kinds", "", Datatype::StringAscii, ["a", "b"]).unwrap();
    ArrayDefinition::new(schema.build().unwrap()).unwrap().with_enumeration(kinds).unwrap()
}

fn cells<'a>(rows: &'a [i32], values: &'a [f32], kinds: &'a [u8]) -> WriteBatch<'a> {
    WriteBatch::new().with("row", rows).with("value", values).with("kind", kinds)
}

fn key() -> EncryptionKey {
    EncryptionKey::new([7; 32])
}

struct Places {
    environment: Environment,
    key: Option<EncryptionKey>,
    array: Arc<dyn Storage>,
    group: Arc<dyn Storage>,
}

impl Places {
    fn new(environment: Environment, key: Option<EncryptionKey>) -> Self {
        let memory: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let (array, group) = (memory.sub("group/array").unwrap(), memory.sub("group").unwrap());
        Self { environment, key, array, group }
    }

    fn create(&self) -> Result<(), ArrayError> {
        let options = CreateOptions::new().environment(self.environment.clone()).key(self.key.clone());
        options.create_group_on(&self.group)?;
        options.create_on(&self.array, definition())
    }

    fn open(&self) -> Array {
        self.options().open_on(self.array.clone()).unwrap()
    }

    fn options(&self) -> ArrayOptions {
        ArrayOptions::new().threads(1).environment(self.environment.clone()).key(self.key.clone())
    }

    fn group(&self) -> Group {
        let options = GroupOptions::new().environment(self.environment.clone()).key(self.key.clone());
        options.open_on(self.group.clone()).unwrap()
    }

    /// Performs every kind of write at least once.
    fn write_all(&self) -> BTreeMap<String, Vec<u8>> {
        self.create().unwrap();
        for row in 1..4 {
            self.open().write().cells(cells(&[row, row + 10], &[1.5, 2.5], &[0, 1])).unwrap();
        }
        let mut writer = self.open().write().max_fragment_size(1).global_order().unwrap();
        for row in [50, 60] {
            writer.push(cells(&[row], &[3.5], &[1])).unwrap();
        }
        writer.commit().unwrap();
        self.open().delete_cells(&Condition::field("value").gt(3.0f32), &WriteIds::new()).unwrap();
        self.open().write_metadata().put("title", MetadataValue::text("Rain").unwrap()).commit().unwrap();
        self.group().write_metadata().put("title", MetadataValue::text("Rain").unwrap()).commit().unwrap();
        self.group().change().add("array", true, Some("it")).commit().unwrap();
        let evolution = SchemaEvolution::new().add_attribute(Attribute::new("new", Datatype::Int8));
        self.open().evolve(&evolution, &WriteIds::new()).unwrap();
        assert_eq!(count(self.open().read()), 6);
        let oldest = self.open().directory().fragments[0].name.end();
        let newest = self.open().directory().fragments[1].name.end();
        assert_eq!(self.open().delete_fragments(TimeRange { start: oldest, end: newest }).unwrap(), 2);
        files_of(&*self.group)
    }
}

fn environment(start: u64, seed: u64) -> Environment {
    Environment::system().with_clock(steps(start, 1)).with_randomness(seeded(seed))
}

#[test]
fn two_writers_write_the_same_bytes() {
    for key in [None, Some(key())] {
        let write = |start, seed| Places::new(environment(start, seed), key.clone()).write_all();
        let first = write(1000, 3);
        assert!(first.len() > 20);
        assert_eq!(first, write(1000, 3));
        // Both clock and seed matter.
        assert!(first.keys().ne(write(2000, 3).keys()) && first.keys().ne(write(1000, 4).keys()));
    }
}

/// Every file name contains a time of the clock.
#[test]
fn names_contain_the_time_of_the_clock() {
    for start in [100, 1 << 45, (1 << 48) - 1000] {
        let all = Places::new(environment(start, 1), None).write_all();
        let names = all.keys().flat_map(|path| path.split('/')).filter(|name| name.matches('_').count() > 4);
        let times = names.filter_map(|name| name.split('_').nth(2)?.parse::<u64>().ok());
        let times: Vec<u64> = times.collect();
        assert!(times.len() > 10 && times.iter().all(|time| (start..start + 200).contains(time)), "{start} {times:?}");
    }
}

#[test]
fn arrays_are_opened_at_the_time_of_the_clock() {
    let places = Places::new(environment(1000, 1), None);
    places.write_all();
    let fragments = |now: u64| {
        let environment = Environment::system().with_clock(steps(now, 0));
        let array = ArrayOptions::new().environment(environment.clone()).open_on(places.array.clone()).unwrap();
        let group = GroupOptions::new().environment(environment).open_on(places.group.clone()).unwrap();
        assert_eq!((array.time().end, group.time().end), (now, now));
        array.directory().fragments.len() + group.members().len()
    };
    assert_eq!((fragments(999), fragments(u64::MAX)), (0, 4));
}

#[test]
fn failures_are_typed_errors_and_write_nothing() {
    let is = |error: &ArrayError, clock: bool| {
        assert_eq!(error.category(), ErrorCategory::Unavailable);
        match clock {
            true => assert!(matches!(error, ArrayError::Clock { .. }), "{error}"),
            false => assert!(matches!(error, ArrayError::Randomness { .. }), "{error}"),
        }
    };
    let whole = Places::new(environment(1000, 1), None);
    whole.create().unwrap();
    let no_clock = || environment(1, 1).with_clock(Broken);
    for (environment, clock) in [(no_clock(), true), (environment(1, 1).with_randomness(Broken), false)] {
        let places = Places::new(environment.clone(), None);
        is(&places.create().unwrap_err(), clock);
        assert!(!places.array.exists("__schema").unwrap_or(false));
        let array = whole.options().environment(environment).at(5000).open_on(whole.array.clone()).unwrap();
        let cells = cells(&[3], &[1.5], &[0]);
        is(&array.write().cells(&cells).unwrap_err(), clock);
        is(&array.write().ids(WriteIds::new().at(7)).cells(&cells).unwrap_err(), clock);
        let title = || MetadataValue::text("Rain").unwrap();
        is(&array.write_metadata().put("title", title()).commit().unwrap_err(), clock);
        is(&array.evolve(&SchemaEvolution::new(), &WriteIds::new()).unwrap_err(), clock);
        is(&array.delete_cells(&Condition::field("value").gt(3.0f32), &WriteIds::new()).unwrap_err(), clock);
    }
    assert!(whole.open().directory().fragments.is_empty() && whole.open().metadata().unwrap().is_empty());
    // Opening at a given time needs no clock, and writing with given names needs no random bytes.
    let options = whole.options().environment(no_clock().with_randomness(Broken));
    is(&options.open_on(whole.array.clone()).unwrap_err(), true);
    let array = options.at(5000).open_on(whole.array.clone()).unwrap();
    let names = WriteIds::new().at(3000).seeded(1);
    array.write_metadata().ids(names).put("title", MetadataValue::text("Rain").unwrap()).commit().unwrap();
    let encrypted = Places::new(environment(1, 1).with_randomness(Broken), Some(key()));
    is(&encrypted.create().unwrap_err(), false);
}

/// Another library has changed the schema within the same millisecond, with a name that sorts after
/// ours.
#[test]
fn stuck_clocks_end_the_wait() {
    let places = Places::new(environment(1000, 1), None);
    places.create().unwrap();
    let last = places.array.list("__schema").unwrap().into_iter().rfind(|entry| entry.kind == EntryKind::File);
    let bytes = places.array.read(&format!("__schema/{}", last.unwrap().name)).unwrap();
    places.array.create_new(&format!("__schema/__5000_5000_{}", "f".repeat(32)), &bytes).unwrap();
    let evolve = |environment: Environment| {
        let array = places.options().environment(environment).at(6000).open_on(places.array.clone()).unwrap();
        array.evolve(&SchemaEvolution::new().add_attribute(Attribute::new("new", Datatype::Int8)), &WriteIds::new())
    };
    let with = |clock: Steps| environment(1, 1).with_clock(clock);
    let stands = evolve(with(steps(5000, 0))).unwrap_err();
    assert!(matches!(stands, ArrayError::Clock { .. }), "{stands}");
    let cannot_wait = evolve(environment(1, 1).with_clock(Stuck)).unwrap_err();
    assert!(cannot_wait.to_string().contains("waiting until 5001 is not supported"), "{cannot_wait}");
    let swings = evolve(environment(1, 1).with_clock(Swings(AtomicU64::new(0)))).unwrap_err();
    assert!(swings.to_string().contains("not monotonic"), "{swings}");
    evolve(with(steps(5000, 1))).unwrap();
}

/// A clock that stands still and cannot wait.
#[derive(Debug)]
struct Stuck;

impl Clock for Stuck {
    fn now(&self) -> io::Result<u64> {
        Ok(5000)
    }
}

/// A clock that advances during a wait and is then set back.
#[derive(Debug)]
struct Swings(AtomicU64);

impl Clock for Swings {
    fn now(&self) -> io::Result<u64> {
        Ok(5000 + self.0.swap(0, Ordering::Relaxed))
    }

    fn wait_until(&self, time: u64) -> io::Result<()> {
        self.0.store(time - 5000, Ordering::Relaxed);
        Ok(())
    }
}
