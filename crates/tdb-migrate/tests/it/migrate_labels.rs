//! Arrays of dimension labels are migrated like the array, with history or at a given time.

use std::ops::ControlFlow;
use std::sync::Arc;

use tdb_array::tdb_schema::{Attribute, DimensionLabel, SchemaEvolution};
use tdb_array::{Array, ArrayOptions, CreateOptions, MetadataValue, TimeRange, WriteBatch, WriteIds};
use tdb_diff::{Diff, Difference};
use tdb_job::MaintainError;
use tdb_migrate::{Migrate, Obstacle};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{Datatype, FormatVersion};

type Disk = Arc<dyn Storage>;

/// Timestamp of the fixture.
const BEGAN: u64 = 1_700_000_000_000;
/// Later timestamp of the fixture's schemas.
const MADE: u64 = 1_795_176_056_677;

fn open(storage: &Disk, time: TimeRange) -> Array {
    ArrayOptions::new().between(time).threads(1).open_on(storage.clone()).unwrap()
}

fn label(array: &Array) -> DimensionLabel {
    let mut labels = array.schema().labels().iter();
    labels.find(|label| label.datatype == Datatype::Float64).unwrap().clone()
}

/// Returns the fixture with changes to its numeric label: new values, metadata at two times, and a
/// new attribute.
fn labelled() -> Disk {
    let storage: Disk = fixtures::named("v22-by-2.30.0-dense-labels").array_storage();
    let array = open(&storage, TimeRange::ALL);
    let own = array.array_of_label(&label(&array)).unwrap();
    for (time, text) in [(MADE + 1, "metres"), (MADE + 3, "feet")] {
        let value = MetadataValue::text(text).unwrap();
        own.write_metadata().ids(WriteIds::new().at(time)).put("unit", value).commit().unwrap();
    }
    let values = [-3.0, -1.0, 1.0, 3.0];
    own.write().ids(WriteIds::new().at(MADE + 2)).cells(WriteBatch::new().with("label", &values[..])).unwrap();
    let note = SchemaEvolution::new().add_attribute(Attribute::new("note", Datatype::Int32));
    own.evolve(&note, &WriteIds::new().at(MADE + 4)).unwrap();
    storage
}

fn migrated(migrate: &Migrate, array: &Array) -> Disk {
    let storage: Disk = Arc::new(MemoryStorage::new());
    migrate.plan(array).unwrap().into_storage(&storage, &CreateOptions::new()).unwrap();
    storage
}

/// Returns all differences except the format.
fn differences(a: &Array, b: &Array) -> Vec<Difference> {
    let mut all = Vec::new();
    let told = |difference| {
        all.push(difference);
        ControlFlow::Continue(())
    };
    let counts = Diff::new(a, b).run(told).unwrap();
    assert!(!counts.incomparable);
    all
}

fn unit(array: &Array) -> Option<String> {
    let value = array.metadata().unwrap().entries().get(&b"unit"[..])?.clone();
    Some(String::from_utf8(value.as_bytes().to_vec()).unwrap())
}

#[test]
fn labels_keep_their_history() {
    let storage = labelled();
    let version = FormatVersion::new(20).unwrap();
    let new = migrated(&Migrate::new().to(version), &open(&storage, TimeRange::ALL));
    let mut units = Vec::new();
    for time in [BEGAN, MADE + 1, MADE + 2, MADE + 3, MADE + 4] {
        let (old, new) = (open(&storage, TimeRange::until(time)), open(&new, TimeRange::until(time)));
        for label in old.schema().labels() {
            let (a, b) = (old.array_of_label(label).unwrap(), new.array_of_label(label).unwrap());
            assert_eq!(b.schema().version(), version);
            assert_eq!(a.schema().attributes().len(), b.schema().attributes().len(), "{time}");
            let found = differences(&a, &b);
            assert!(found.is_empty(), "{time} {}: {found:?}", label.name);
        }
        units.push(unit(&new.array_of_label(&label(&new)).unwrap()).unwrap_or_default());
    }
    assert_eq!(units, ["", "metres", "metres", "feet", "feet"]);
    let own = open(&new, TimeRange::ALL);
    assert_eq!(own.array_of_label(&label(&own)).unwrap().schema_paths().len(), 2);
}

#[test]
fn flattened_labels_have_the_state_of_the_time() {
    let storage = labelled();
    for (time, expected) in [(MADE + 2, "metres"), (MADE + 4, "feet")] {
        let array = open(&storage, TimeRange::until(time));
        let new = open(&migrated(&Migrate::new().flatten(), &array), TimeRange::ALL);
        let (a, b) = (array.array_of_label(&label(&array)).unwrap(), new.array_of_label(&label(&new)).unwrap());
        assert_eq!((unit(&b).as_deref(), b.fragments().unwrap().len()), (Some(expected), 1));
        let found = differences(&a, &b);
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Obstacles in labels are reported before any file is written.
#[test]
fn obstacles_in_labels_are_reported() {
    let storage = labelled();
    let array = open(&storage, TimeRange::ALL);
    let own = array.array_of_label(&label(&array)).unwrap();
    let value = MetadataValue::new(Datatype::GeomWkb, vec![1, 2]).unwrap();
    own.write_metadata().put("shape", value).commit().unwrap();
    let migrate = Migrate::new().to(FormatVersion::new(20).unwrap());
    let MaintainError::CannotMigrate { against, .. } = migrate.plan(&array).unwrap_err() else { panic!() };
    let name = label(&array).name;
    let is_it = |one: &Obstacle| matches!(one, Obstacle::Label { label, .. } if *label == name);
    assert!(against.len() == 1 && against.iter().all(is_it), "{against:?}");
    assert!(against[0].to_string().contains("\"shape\" of datatype geom_wkb"), "{}", against[0]);
}

#[test]
fn in_place() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("array");
    let storage = labelled();
    let array = open(&storage, TimeRange::ALL);
    Migrate::new().plan(&array).unwrap().into_folder(&place, &CreateOptions::new()).unwrap();
    let array = Array::open(&place).unwrap();
    let own = array.array_of_label(&label(&array)).unwrap();
    let plan = Migrate::new().to(FormatVersion::new(21).unwrap()).plan(&array).unwrap();
    // Another job holds the lock of the label's array.
    let lock = place.join(&label(&array).uri).join(".tdb-maintain.tmp");
    std::fs::write(&lock, "process 1\non elsewhere\n").unwrap();
    assert!(matches!(plan.in_place(&place, &CreateOptions::new(), false), Err(MaintainError::Busy { .. })));
    std::fs::remove_file(&lock).unwrap();
    plan.in_place(&place, &CreateOptions::new(), false).unwrap();
    let new = Array::open(&place).unwrap();
    assert_eq!(new.schema().version().number(), 21);
    assert_eq!(unit(&own), unit(&new.array_of_label(&label(&new)).unwrap()));
    let left = |name: &str| folder.path().join(name).join(&label(&new).uri).join(".tdb-maintain.tmp").exists();
    assert!(!left("array") && !left("array.before-migration"));
}
