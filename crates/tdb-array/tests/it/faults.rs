//! Every kind of change, interrupted at each of its operations. Afterwards the array or group is in
//! the old or the new state, and orphaned files are found and removed.

use std::sync::Arc;

use tdb_array::{
    Array, ArrayError, ArrayOptions, CreateOptions, Group, GroupOptions, MetadataValue, Order, Result, TimeRange,
    WriteColumn, WriteIds,
};
use tdb_condition::Condition;
use tdb_schema::{
    ArrayDefinition, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef, SchemaBuilder, SchemaEvolution,
};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::{Fault, FaultyStorage, files_of};
use tdb_types::{DataOrder, Datatype, FormatVersion};

use crate::arrays::count;

/// Formats with distinct file layouts.
const VERSIONS: [u32; 5] = [4, 9, 11, 16, 22];

fn definition(version: u32) -> ArrayDefinition {
    let version = FormatVersion::new(version).unwrap();
    let rows = Dimension::new("row", 1i32..=100);
    let schema = SchemaBuilder::sparse().version(version).dimension(rows);
    let schema = schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    ArrayDefinition::new(schema).unwrap()
}

/// A dense array with an enumeration and a label.
fn rich() -> ArrayDefinition {
    let rows = Dimension::new("row", 1i32..=100);
    let schema = SchemaBuilder::dense()
        .dimension(rows)
        .enumeration(EnumerationRef::unplaced("e"))
        .attribute(Attribute::new("a", Datatype::UInt8).with_enumeration("e"))
        .label(DimensionLabel::new(0, "l", DataOrder::Increasing, Datatype::Float64))
        .build()
        .unwrap();
    let values = Enumeration::strings("e", "", Datatype::StringAscii, ["x", "y"]).unwrap();
    ArrayDefinition::new(schema).unwrap().with_enumeration(values).unwrap()
}

fn names(seed: u64) -> WriteIds {
    WriteIds::new().at(seed * 10).seeded(seed)
}

pub(crate) fn create(storage: &Arc<dyn Storage>, definition: &ArrayDefinition) -> Result<()> {
    CreateOptions::new().ids(names(1)).create_on(storage, definition)
}

pub(crate) fn open(storage: &Arc<dyn Storage>) -> Result<Array> {
    ArrayOptions::new().between(TimeRange::ALL).threads(1).open_on(storage.clone())
}

/// Returns everything that a reader sees of an array.
pub(crate) fn state(disk: &MemoryStorage) -> String {
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let Ok(array) = open(&storage) else { return "no array".to_owned() };
    let fragments: Vec<_> = array.fragments().unwrap().iter().map(|fragment| fragment.name().to_string()).collect();
    let (definition, cells) = (array.definition().unwrap(), count(array.read()));
    format!("{definition:?} {:?} {fragments:?} {:?} {cells}", array.metadata().unwrap(), array.directory().deletes)
}

/// Interrupts a change of an array at each of its operations, in every way.
fn check(what: &str, prepare: impl Fn(&Arc<dyn Storage>), change: impl Fn(&Arc<dyn Storage>) -> Result<()>) {
    interrupt(what, state, false, prepare, change);
}

/// Interrupts `change` at each of its operations, in every way. `state` is everything that a reader
/// sees. A failed write leaves the old state, and without a crash the old files.
pub(crate) fn interrupt(
    what: &str,
    state: impl Fn(&MemoryStorage) -> String,
    is_write: bool,
    prepare: impl Fn(&Arc<dyn Storage>),
    change: impl Fn(&Arc<dyn Storage>) -> Result<()>,
) {
    let disk = MemoryStorage::new();
    let plain: Arc<dyn Storage> = Arc::new(disk.clone());
    prepare(&plain);
    let (before, files) = (state(&disk), files_of(&disk));
    let sound = FaultyStorage::sound(plain);
    change(&(Arc::new(sound.clone()) as _)).unwrap();
    let after = state(&disk);
    assert_ne!(before, after, "{what}");
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() {
            let disk = MemoryStorage::new();
            let plain: Arc<dyn Storage> = Arc::new(disk.clone());
            prepare(&plain);
            let faulty: Arc<dyn Storage> = Arc::new(FaultyStorage::new(plain.clone(), fault, n));
            let result = change(&faulty);
            let now = state(&disk);
            assert!(now == before || now == after, "{what}, {fault:?} at {n}: {now}\nbefore {before}\nafter {after}");
            assert!(result.is_err() || now == after, "{what}, {fault:?} at {n}: no error, but no change");
            if is_write && result.is_err() {
                assert_eq!(now, before, "{what}, {fault:?} at {n}");
                assert!(fault != Fault::Fails || files_of(&disk) == files, "{what} at {n}: orphaned files remain");
            }
            // Orphaned files are found. Their removal does not change the array. The change can
            // then be made.
            if let Ok(array) = open(&plain) {
                let leftovers = array.leftovers().unwrap();
                array.remove_leftovers(&leftovers).unwrap();
                assert_eq!(state(&disk), now);
                assert_eq!(open(&plain).unwrap().leftovers().unwrap(), []);
            }
            if state(&disk) == before {
                change(&plain).unwrap_or_else(|error| panic!("{what}, {fault:?} at {n}, second attempt: {error}"));
                assert_eq!(state(&disk), after);
            }
        }
    }
    // A completed change survives a loss of power.
    let disk = MemoryStorage::new();
    let plain: Arc<dyn Storage> = Arc::new(disk.clone());
    prepare(&plain);
    let faulty = FaultyStorage::new(plain, Fault::LosesPower, sound.changes());
    change(&(Arc::new(faulty.clone()) as _)).unwrap();
    faulty.create_folder("more").unwrap_err();
    assert_eq!(state(&disk), after, "{what}, after a loss of power");
}

#[test]
fn creation() {
    for version in VERSIONS {
        check(&format!("creation in {version}"), |_| {}, |storage| create(storage, &definition(version)));
    }
    check("creation with all", |_| {}, |storage| create(storage, &rich()));
}

#[test]
fn metadata() {
    for version in VERSIONS {
        let prepare = |storage: &Arc<dyn Storage>| create(storage, &definition(version)).unwrap();
        check(&format!("metadata in {version}"), prepare, |storage| {
            let value = MetadataValue::text("Rain").unwrap();
            open(storage)?.write_metadata().ids(names(2)).put("title", value).delete("none").commit()
        });
    }
}

#[test]
fn evolution() {
    let evolution = SchemaEvolution::new()
        .add_attribute(Attribute::new("b", Datatype::Float32))
        .extend_enumeration("e", ["z"])
        .add_enumeration(Enumeration::strings("f", "", Datatype::StringUtf8, ["ü"]).unwrap());
    check(
        "evolution",
        |storage| create(storage, &rich()).unwrap(),
        |storage| open(storage)?.evolve(&evolution, &names(2)),
    );
    for version in VERSIONS {
        let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Float32));
        let prepare = |storage: &Arc<dyn Storage>| create(storage, &definition(version)).unwrap();
        check(&format!("evolution in {version}"), prepare, |storage| open(storage)?.evolve(&evolution, &names(2)));
    }
}

/// Writes two cells at the time `seed`.
fn write(storage: &Arc<dyn Storage>, seed: u64) -> Result<()> {
    let (rows, values) = ([1i32, 2], [i32::try_from(seed).unwrap(); 2]);
    let cells = [("row", WriteColumn::values(&rows)), ("a", WriteColumn::values(&values))];
    open(storage)?.write().ids(names(seed)).cells(cells).map(|_| ())
}

#[test]
fn cells() {
    for version in [11, 16, 22] {
        let prepare = |storage: &Arc<dyn Storage>| {
            create(storage, &definition(version)).unwrap();
            write(storage, 2).unwrap();
        };
        check(&format!("cells in {version}"), prepare, |storage| write(storage, 3));
    }
}

#[test]
fn deletes_of_fragments() {
    for version in [16, 22] {
        let prepare = |storage: &Arc<dyn Storage>| {
            create(storage, &definition(version)).unwrap();
            (2..6).for_each(|seed| write(storage, seed).unwrap());
        };
        let time = TimeRange { start: 25, end: 45 };
        check(&format!("fragments in {version}"), prepare, |storage| open(storage)?.delete_fragments(time).map(|_| ()));
    }
}

#[test]
fn deletes() {
    let condition = Condition::field("a").lt(3i32);
    let prepare = |storage: &Arc<dyn Storage>| create(storage, &definition(22)).unwrap();
    check("cells", prepare, |storage| open(storage)?.delete_cells(&condition, &names(3)));
}

/// Returns everything that a reader sees of a group.
fn group_state(disk: &MemoryStorage) -> String {
    match GroupOptions::new().between(TimeRange::ALL).open_on(Arc::new(disk.clone())) {
        Ok(group) => format!("{:?} {:?}", group.members(), group.metadata().unwrap()),
        Err(_) => "no group".to_owned(),
    }
}

#[test]
fn groups() {
    let open = |storage: &Arc<dyn Storage>| -> Result<Group> {
        GroupOptions::new().between(TimeRange::ALL).open_on(storage.clone())
    };
    type Change<'a> = (&'a str, Box<dyn Fn(&Arc<dyn Storage>) -> Result<()> + 'a>);
    let value = || MetadataValue::text("Rain").unwrap();
    let changes: [Change<'_>; 4] = [
        ("creation", Box::new(|storage| CreateOptions::new().create_group_on(storage))),
        ("metadata", Box::new(|storage| open(storage)?.write_metadata().ids(names(2)).put("k", value()).commit())),
        ("addition", Box::new(|storage| open(storage)?.change().ids(names(3)).add("inner", true, Some("i")).commit())),
        ("removal", Box::new(|storage| open(storage)?.change().ids(names(4)).remove("i").commit())),
    ];
    for (done, (what, change)) in changes.iter().enumerate() {
        let prepare = |storage: &Arc<dyn Storage>| {
            CreateOptions::new().create_group_on(&storage.sub("inner").unwrap()).unwrap();
            changes[..done].iter().for_each(|(_, change)| change(storage).unwrap());
        };
        interrupt(what, group_state, false, prepare, change);
    }
}

/// Several concurrent creations of the same array. Each successful creation results in an array,
/// and no cells are lost.
#[test]
fn creations_at_once_lose_nothing() {
    for round in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("array");
        let make = |maker: i32| match Array::create(&place, definition(22)) {
            Ok(()) => {
                let array = ArrayOptions::new().threads(1).open(&place).unwrap();
                array.write().cells([("row", &[maker]), ("a", &[maker])]).unwrap();
                Some(maker)
            }
            Err(error) => {
                assert!(matches!(error, ArrayError::AlreadyThere { .. }), "{round}: {error}");
                None
            }
        };
        let makers: Vec<i32> = std::thread::scope(|scope| {
            let makers: Vec<_> = (1..4).map(|maker| scope.spawn(move || make(maker))).collect();
            makers.into_iter().filter_map(|maker| maker.join().unwrap()).collect()
        });
        assert!(!makers.is_empty());
        let array = ArrayOptions::new().threads(1).open(&place).unwrap();
        let batch = array.read().order(Order::RowMajor).batches().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.column("a").unwrap().values::<i32>().unwrap(), makers, "{round}");
    }
}
