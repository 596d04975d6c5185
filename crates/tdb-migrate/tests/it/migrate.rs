//! Arrays of all releases in every format: the same cells at every time, or an obstacle.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::support::unpack;
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_schema::{self, Attribute, SchemaEvolution};
use tdb_array::{Array, ArrayOptions, CreateOptions, ErrorCategory, MetadataValue, TimeRange, WriteIds};
use tdb_diff::{Diff, Difference};
use tdb_job::MaintainError;
use tdb_maintain::ConsolidateFragments;
use tdb_migrate::{InPlace, Migrate, Obstacle, is_migration_interrupted, recover_migration};
use tdb_relocate::PlaceProblem;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_testkit::{Fault, FaultyStorage};
use tdb_types::{Datatype, FormatVersion, Layout, TimestampedName};

/// Returns options to open a fixture and to create similar arrays.
fn options(fixture: &Fixture) -> (ArrayOptions, CreateOptions) {
    let key = fixture.expected().key().map(EncryptionKey::new);
    (ArrayOptions::new().key(key.clone()), CreateOptions::new().key(key))
}

/// Returns all timestamps and the milliseconds before.
fn times(array: &Array) -> BTreeSet<u64> {
    let inventory = array.commit_inventory(&array.listing().unwrap()).unwrap();
    let fragments = inventory.fragments.iter().map(|fragment| fragment.entry.name.clone());
    let deletes = inventory.paths.iter().filter_map(|path| TimestampedName::parse(path.rsplit('/').next()?));
    let all = fragments.chain(deletes).flat_map(|name| [name.start(), name.end()]);
    all.flat_map(|time| [time.saturating_sub(1), time]).collect()
}

/// Returns the first difference, except those of the schemas.
pub(crate) fn difference(a: &Array, b: &Array) -> Option<String> {
    let mut first = None;
    let counts = Diff::new(a, b).run(|difference| {
        if !matches!(difference, Difference::Schema { .. }) {
            first = Some(format!("{difference:?}"));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let is_compared = |incomparable: bool| incomparable.then(|| "incomparable".to_owned());
    counts.map_or_else(|error| Some(error.to_string()), |counts| first.or(is_compared(counts.incomparable)))
}

#[derive(Debug, Default)]
struct Counts {
    migrated: u32,
    refused: u32,
    times: u32,
    reasons: BTreeMap<String, u32>,
}

/// Migrates fixtures to every format, and compares the copies at all times. Returns the numbers of
/// migrations and of times.
fn migrate_all(fixtures: Vec<Fixture>) -> [u32; 2] {
    let (mut counts, mut problems) = (Counts::default(), Vec::new());
    for fixture in fixtures {
        let (open, create) = options(&fixture);
        let Ok(array) = open.clone().open_on(fixture.array_storage()) else { continue };
        for version in FormatVersion::all() {
            let context = format!("{} to {version}", fixture.name());
            let migration = match Migrate::new().to(version).plan(&array) {
                Ok(migration) => migration,
                Err(MaintainError::CannotMigrate { against, .. }) => {
                    counts.refused += 1;
                    for obstacle in against {
                        let kind = format!("{obstacle:?}").split([' ', '(']).next().unwrap().to_owned();
                        let detail = if matches!(obstacle, Obstacle::Schema(_)) { obstacle.to_string() } else { kind };
                        *counts.reasons.entry(detail).or_default() += 1;
                    }
                    continue;
                }
                Err(error) => {
                    problems.push(format!("{context}: {error}"));
                    continue;
                }
            };
            let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
            if let Err(error) = migration.into_storage(&storage, &create) {
                problems.push(format!("{context}: {error}"));
                continue;
            }
            counts.migrated += 1;
            for time in times(&array) {
                let at = |storage: Arc<dyn Storage>| open.clone().between(TimeRange::until(time)).open_on(storage);
                let (Ok(old), Ok(new)) = (at(fixture.array_storage()), at(storage.clone())) else {
                    problems.push(format!("{context} at {time}: only one array can be opened"));
                    continue;
                };
                counts.times += 1;
                if let Some(what) = difference(&old, &new) {
                    problems.push(format!("{context} at {time}: {what}"));
                }
            }
        }
    }
    eprintln!("{counts:#?}");
    let mut by_fixture: BTreeMap<String, u32> = BTreeMap::new();
    for problem in &problems {
        *by_fixture.entry(problem.split(" to ").next().unwrap().to_owned()).or_default() += 1;
    }
    let mut seen = BTreeSet::new();
    problems.retain(|problem| seen.insert(problem.split(" to ").next().unwrap().to_owned()));
    let shown: Vec<String> = problems.iter().take(60).map(|problem| problem.chars().take(400).collect()).collect();
    assert!(problems.is_empty(), "{by_fixture:?}\n{}", shown.join("\n"));
    [counts.migrated, counts.times]
}

#[test]
fn every_array_in_every_format() {
    let [migrated, times] = migrate_all(fixtures::all());
    assert!(migrated > 1500 && times > 5000, "{migrated} {times}");
}

/// Migrates a third of the arrays of older releases. In a single test, they would take a minute.
fn migrate_a_third(first: usize) {
    let [migrated, times] = migrate_all(fixtures::of_older_releases().into_iter().skip(first).step_by(3).collect());
    assert!(migrated > 2000 && times > 5000, "{migrated} {times}");
}

#[test]
fn first_third_of_older_arrays_in_every_format() {
    migrate_a_third(0);
}

#[test]
fn second_third_of_older_arrays_in_every_format() {
    migrate_a_third(1);
}

#[test]
fn last_third_of_older_arrays_in_every_format() {
    migrate_a_third(2);
}

/// Returns the named fixture, in memory.
fn fixture(name: &str) -> Arc<dyn Storage> {
    fixtures::named(name).array_storage()
}

#[test]
fn other_tiles_orders_and_filters() {
    let changes: [fn(Migrate) -> Migrate; 4] = [
        |migrate| migrate.tile_order(Layout::ColMajor).cell_order(Layout::ColMajor),
        |migrate| migrate.capacity(2).filters("__offsets", "gzip(3)".parse().unwrap()),
        |migrate| migrate.filters("__coords", "bitshuffle | zstd(2)".parse().unwrap()),
        |migrate| migrate.cell_order(Layout::Hilbert),
    ];
    let mut done = 0;
    for name in [
        "v22-by-2.30.0-sparse-2d",
        "v22-by-2.30.0-dense-2d-row-row",
        "v4-by-1.7.7-sparse",
        "v22-by-2.30.0-sparse-deletes",
    ] {
        for (number, change) in changes.iter().enumerate() {
            for flatten in [false, true] {
                let array = ArrayOptions::new().open_on(fixture(name)).unwrap();
                let migrate = change(Migrate::new().to(FormatVersion::DEFAULT));
                let migrate = if flatten { migrate.flatten() } else { migrate };
                let migration = match migrate.plan(&array) {
                    Ok(migration) => migration,
                    Err(MaintainError::CannotMigrate { .. }) if array.schema().is_dense() && number == 3 => continue,
                    Err(error) => panic!("{name} {number}: {error}"),
                };
                let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
                migration.into_storage(&storage, &CreateOptions::new()).unwrap();
                let new = ArrayOptions::new().open_on(storage).unwrap();
                assert_eq!(difference(&array, &new), None, "{name} {number} {flatten}");
                assert_eq!(
                    Some(new.schema()),
                    migration.definition().map(|definition| Arc::new(definition.schema().clone())).as_ref()
                );
                done += 1;
            }
        }
    }
    assert_eq!(done, 30);
}

#[test]
fn all_reasons_are_told_at_once() {
    let array = ArrayOptions::new().open_on(fixture("v22-by-2.30.0-sparse-deletes")).unwrap();
    let wrong =
        Migrate::new().to(FormatVersion::new(4).unwrap()).capacity(3).tile_extent("none", tdb_types::Scalar::U8(1));
    let MaintainError::CannotMigrate { against, .. } = wrong.plan(&array).unwrap_err() else { panic!() };
    assert!(against.iter().any(|one| matches!(one, Obstacle::Deletes(_))), "{against:?}");
    assert!(against.iter().any(|one| matches!(one, Obstacle::NoSuchField { .. })), "{against:?}");
}

/// The format must support all past metadata, or only the current metadata without history.
#[test]
fn metadata_that_came_later() {
    let put = |names: &WriteIds, storage: &Arc<dyn Storage>, value: Option<MetadataValue>| {
        let writer = ArrayOptions::new().open_on(storage.clone()).unwrap().write_metadata().ids(names.clone());
        match value {
            Some(value) => writer.put("k", value).commit().unwrap(),
            None => writer.delete("k").commit().unwrap(),
        }
    };
    let refused = |storage: &Arc<dyn Storage>, version: u32, flatten: bool| {
        let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
        let migrate = Migrate::new().to(FormatVersion::new(version).unwrap());
        match if flatten { migrate.flatten() } else { migrate }.plan(&array) {
            Ok(_) => Vec::new(),
            Err(MaintainError::CannotMigrate { against, .. }) => against,
            Err(error) => panic!("{error}"),
        }
    };
    let storage = fixture("v22-by-2.30.0-sparse-2d");
    let later = Obstacle::Feature { what: "metadata \"k\" of datatype geom_wkb".to_owned(), since: 21 };
    let value = MetadataValue::new(Datatype::GeomWkb, vec![1, 2, 3]).unwrap();
    put(&WriteIds::new().at(1_750_000_000_000), &storage, Some(value));
    assert_eq!(refused(&storage, 21, false), []);
    for flatten in [false, true] {
        assert!(refused(&storage, 20, flatten).contains(&later), "{:?}", refused(&storage, 20, flatten));
    }
    // A deleted key remains part of the history.
    put(&WriteIds::new().at(1_750_000_000_001), &storage, None);
    assert_eq!(refused(&storage, 20, false), [later]);
    assert_eq!(refused(&storage, 20, true), []);
    let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
    assert_eq!(refused(&storage, 3, true).contains(&Obstacle::Metadata), !array.metadata().unwrap().is_empty());
    assert!(refused(&storage, 3, false).contains(&Obstacle::Metadata));
}

/// The caller chooses the encryption key of the new array.
#[test]
fn other_keys() {
    let key = |byte: u8| EncryptionKey::new([byte; 32]);
    let made = |array: &Array, key: Option<EncryptionKey>, flatten: bool| -> Arc<dyn Storage> {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let options = CreateOptions::new().key(key);
        let migrate = if flatten { Migrate::new().flatten() } else { Migrate::new() };
        migrate.plan(array).unwrap().into_storage(&storage, &options).unwrap();
        storage
    };
    let open = |storage: &Arc<dyn Storage>, key: Option<EncryptionKey>| {
        let options = ArrayOptions::new().key(key);
        options.open_on(storage.clone())
    };
    for flatten in [false, true] {
        let plain = open(&fixture("v22-by-2.30.0-sparse-2d"), None).unwrap();
        let encrypted = made(&plain, Some(key(1)), flatten);
        assert!(open(&encrypted, None).is_err() && open(&encrypted, Some(key(2))).is_err());
        let encrypted = open(&encrypted, Some(key(1))).unwrap();
        assert_eq!(difference(&plain, &encrypted), None);
        let other = made(&encrypted, Some(key(2)), flatten);
        assert!(open(&other, Some(key(1))).is_err());
        let other = open(&other, Some(key(2))).unwrap();
        assert_eq!(difference(&plain, &other), None);
        let again = open(&made(&other, None, flatten), None).unwrap();
        assert_eq!(difference(&plain, &again), None);
    }
}

/// Readers of earlier times see the rest of partly deleted originals. A copy cannot represent this
/// state.
#[test]
fn partly_deleted_originals_are_an_obstacle() {
    let storage = fixture("v22-by-2.30.0-dense-2d-row-row");
    let open = || ArrayOptions::new().open_on(storage.clone()).unwrap();
    ConsolidateFragments::new().amplification(1e9).plan(&open()).unwrap().run().unwrap();
    let (replaced, _) = open().superseded_fragments().unwrap();
    assert!(replaced.len() > 1);
    assert!(Migrate::new().plan(&open()).is_ok());
    let gone = replaced.iter().max_by_key(|fragment| fragment.name().start()).unwrap();
    storage.remove_file(&format!("__commits/{}.wrt", gone.name())).unwrap();
    storage.remove_folder(gone.folder()).unwrap();
    let MaintainError::CannotMigrate { against, .. } = Migrate::new().plan(&open()).unwrap_err() else { panic!() };
    assert!(matches!(&against[..], [Obstacle::PartlyGone(path)] if path.ends_with(".vac")), "{against:?}");
    assert!(Migrate::new().flatten().plan(&open()).is_ok());
}

/// Releases of format 2 divide by the size of datetimes, which they do not support.
#[test]
fn dates_came_with_format_3() {
    let dimension = tdb_schema::Dimension::new("x", 0i32..=1);
    let schema = tdb_schema::SchemaBuilder::sparse().dimension(dimension);
    let schema = schema.attribute(Attribute::new("a", Datatype::DatetimeDay)).build().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, schema).unwrap();
    let array = ArrayOptions::new().open_on(storage).unwrap();
    let to = |version: u32| Migrate::new().to(FormatVersion::new(version).unwrap()).plan(&array);
    let MaintainError::CannotMigrate { against, .. } = to(2).unwrap_err() else { panic!() };
    assert_eq!(against, [Obstacle::Feature { what: "attribute \"a\" of datatype datetime_day".to_owned(), since: 3 }]);
    assert!(to(3).is_ok());
}

#[test]
fn in_place_and_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("array");
    let beside = |name: &str| folder.path().join(name);
    let (new, old, journal) =
        (beside(".array.tdb-migrating"), beside("array.before-migration"), beside(".array.tdb-migration"));
    unpack("v4-by-1.7.7-sparse", &place);
    let array = Array::open(&place).unwrap();
    let plan = Migrate::new().to(FormatVersion::DEFAULT).plan(&array).unwrap();
    assert_eq!(recover_migration(&place).unwrap(), InPlace::Nothing);
    // Another job holds the lock.
    std::fs::write(place.join(".tdb-maintain.tmp"), "process 1\non elsewhere\n").unwrap();
    assert!(matches!(plan.in_place(&place, &CreateOptions::new(), false), Err(MaintainError::Busy { .. })));
    std::fs::remove_file(place.join(".tdb-maintain.tmp")).unwrap();
    plan.in_place(&place, &CreateOptions::new(), false).unwrap();
    let (before, after) = (Array::open(&old).unwrap(), Array::open(&place).unwrap());
    assert_eq!((before.schema().version().number(), after.schema().version()), (4, FormatVersion::DEFAULT));
    assert_eq!(difference(&before, &after), None);
    assert!(!new.exists() && !journal.exists() && !old.join(".tdb-maintain.tmp").exists());
    assert!(plan.into_folder(&place, &CreateOptions::new()).is_err());
    // Tests the state after each step of the two renames.
    let text = "tdb journal of a migration 1\n";
    let version = || Array::open(&place).unwrap().schema().version().number();
    std::fs::rename(&place, &new).unwrap();
    std::fs::write(&journal, text).unwrap();
    assert_eq!((recover_migration(&place).unwrap(), version()), (InPlace::Finished, 22));
    std::fs::write(&journal, text).unwrap();
    assert_eq!((recover_migration(&place).unwrap(), version()), (InPlace::Finished, 22));
    std::fs::rename(&place, &new).unwrap();
    std::fs::rename(&old, &place).unwrap();
    std::fs::write(&journal, text).unwrap();
    assert_eq!((recover_migration(&place).unwrap(), version()), (InPlace::Restored, 4));
    assert!(!new.exists() && !journal.exists());
}

/// Between the two renames, the folder is missing and links to it are dangling.
#[cfg(unix)]
#[test]
fn interrupted_behind_links() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("data")).unwrap();
    std::fs::create_dir_all(at("links/more")).unwrap();
    symlink("../data", at("links/folder")).unwrap();
    symlink("../folder/array", at("links/more/relative")).unwrap();
    symlink(at("links/more/relative"), at("absolute")).unwrap();
    symlink("circle", at("circle")).unwrap();
    let (place, new) = (at("data/array"), at("data/.array.tdb-migrating"));
    unpack("v4-by-1.7.7-sparse", &place);
    for link in ["links/more/relative", "absolute", "links/folder/array", "links/more/../folder/array"] {
        assert!(!is_migration_interrupted(&at(link)), "{link}");
        let plan = Migrate::new().plan(&Array::open(at(link)).unwrap()).unwrap();
        plan.in_place(&at(link), &CreateOptions::new(), false).unwrap();
        std::fs::rename(&place, &new).unwrap();
        std::fs::write(at("data/.array.tdb-migration"), "tdb journal of a migration 1\n").unwrap();
        assert!(is_migration_interrupted(&at(link)), "{link}");
        assert_eq!(recover_migration(&at(link)).unwrap(), InPlace::Finished, "{link}");
        assert!(Array::open(at(link)).is_ok() && !is_migration_interrupted(&at(link)));
        std::fs::remove_dir_all(at("data/array.before-migration")).unwrap();
    }
    assert!(recover_migration(&at("circle")).is_err() && !is_migration_interrupted(&at("circle")));
    assert!(!is_migration_interrupted(&at("nothing")));
}

/// No write is lost during planning and writing.
#[test]
fn written_to_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("array");
    unpack("v22-by-2.30.0-sparse-2d", &place);
    let changes: [&dyn Fn(&Array); 3] = [
        &|array| {
            let value = tdb_array::MetadataValue::text("new").unwrap();
            array.write_metadata().put("k", value).commit().unwrap();
        },
        &|array| {
            let attribute = Attribute::new("later", Datatype::Int32);
            array.evolve(&SchemaEvolution::new().add_attribute(attribute), &WriteIds::new()).unwrap();
        },
        &|_| std::fs::write(place.join("notes.txt"), "somebody's").unwrap(),
    ];
    for change in changes {
        let array = Array::open(&place).unwrap();
        let plan = Migrate::new().to(FormatVersion::new(21).unwrap()).plan(&array).unwrap();
        change(&array);
        let error = plan.in_place(&place, &CreateOptions::new(), true).unwrap_err();
        assert!(matches!(error, MaintainError::Conflict { .. }), "{error}");
        assert!(!folder.path().join(".array.tdb-migrating").exists());
    }
    assert!(Array::open(&place).unwrap().schema().field("later").is_some());
}

/// Files behind links are not touched, and no array is written into an array.
#[cfg(unix)]
#[test]
fn in_the_way() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let beside = |name: &str| folder.path().join(name);
    unpack("v22-by-2.30.0-sparse-2d", &beside("array"));
    std::fs::create_dir(beside("own")).unwrap();
    std::fs::write(beside("own/notes.txt"), "somebody's").unwrap();
    let plan = Migrate::new().to(FormatVersion::new(21).unwrap()).plan(&Array::open(beside("array")).unwrap()).unwrap();
    let options = CreateOptions::new();
    for (link, place) in [(".array.tdb-migrating", "array"), (".out.tdb-migrating", "out")] {
        symlink("own", beside(link)).unwrap();
        let error = match place {
            "array" => plan.in_place(&beside(place), &options, false),
            _ => plan.into_folder(&beside(place), &options),
        };
        let error = error.unwrap_err();
        assert!(matches!(error, MaintainError::Place { why: PlaceProblem::Link, .. }), "{error}");
        std::fs::remove_file(beside(link)).unwrap();
    }
    for inside in ["array/out", "array/__fragments/out"] {
        let error = plan.into_folder(&beside(inside), &options).unwrap_err();
        assert!(matches!(error, MaintainError::Place { why: PlaceProblem::InArray, .. }), "{error}");
    }
    // A living process is between the two renames.
    let (old, new) = (beside("array.before-migration"), beside(".array.tdb-migrating"));
    plan.in_place(&beside("array"), &options, false).unwrap();
    std::fs::rename(beside("array"), &new).unwrap();
    std::fs::write(beside(".array.tdb-migration"), "tdb journal of a migration 1\n").unwrap();
    std::fs::write(old.join(".tdb-maintain.tmp"), "process 1\non elsewhere\n").unwrap();
    assert!(matches!(recover_migration(&beside("array")), Err(MaintainError::Busy { .. })));
    std::fs::remove_file(old.join(".tdb-maintain.tmp")).unwrap();
    assert_eq!(recover_migration(&beside("array")).unwrap(), InPlace::Finished);
    assert_eq!(std::fs::read_to_string(beside("own/notes.txt")).unwrap(), "somebody's");
}

/// Every failed operation is reported, and the old array is unchanged.
#[test]
fn faults() {
    for (name, version) in [("v22-by-2.30.0-sparse-2d", 4), ("v4-by-1.7.7-dense", 22)] {
        let array = ArrayOptions::new().open_on(fixture(name)).unwrap();
        let plan = Migrate::new().to(FormatVersion::new(version).unwrap()).plan(&array).unwrap();
        let sound = FaultyStorage::sound(Arc::new(MemoryStorage::new()));
        plan.into_storage(&(Arc::new(sound.clone()) as _), &CreateOptions::new()).unwrap();
        assert!(sound.changes() > 15, "{name}: {}", sound.changes());
        for fault in [Fault::Fails, Fault::Stops] {
            for n in 0..sound.changes() {
                let faulty = FaultyStorage::new(Arc::new(MemoryStorage::new()), fault, n);
                let error = plan.into_storage(&(Arc::new(faulty) as _), &CreateOptions::new()).unwrap_err();
                assert!(matches!(error.category(), ErrorCategory::Unavailable), "{name} {n}: {error}");
            }
        }
    }
}
