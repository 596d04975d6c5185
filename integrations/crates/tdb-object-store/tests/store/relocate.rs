//! Copies, moves, migrations and removals of arrays and groups, between stores and the local file
//! system.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, CreateOptions, Group, GroupOptions};
use tdb_job::MaintainError;
use tdb_migrate::Migrate;
use tdb_object_store::StoreOptions;
use tdb_relocate::{CopyTo, MoveTo, PlaceProblem, RemovalPlan, Remove, place_in};
use tdb_storage::{LocalStorage, Storage};
use tdb_testkit::fixtures;
use tdb_verify::Manifest;

use crate::stores::each;

fn manifest(storage: &Arc<dyn Storage>) -> String {
    Manifest::of(&**storage, 1, &tdb_array::Monitor::new()).unwrap().to_string()
}

fn cells(array: &Array) -> usize {
    array.read().batches().unwrap().map(|batch| batch.unwrap().len()).sum()
}

#[test]
fn arrays_move_to_stores_and_back() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let local = fixture.array_dir().to_owned();
    let from: Arc<dyn Storage> = Arc::new(LocalStorage::new(&local));
    let expected = cells(&Array::open(&local).unwrap());
    each(&StoreOptions::default(), |parent| {
        let copied = CopyTo::new().run(&from, &parent, "a").unwrap();
        assert!(copied.files > 0 && copied.left_out.is_empty(), "{copied:?}");
        let on_store = parent.sub("a").unwrap();
        assert_eq!(manifest(&on_store), manifest(&from));
        assert!(matches!(
            CopyTo::new().run(&from, &parent, "a"),
            Err(MaintainError::Place { why: PlaceProblem::Occupied, .. })
        ));
        // Within a store, and to the local file system.
        CopyTo::new().run(&on_store, &parent, "b").unwrap();
        let moved = MoveTo::new().between((&parent, "b"), (&parent, "c")).unwrap();
        assert!(moved.copied.is_some() && moved.left.is_empty(), "{moved:?}");
        assert_eq!(parent.kind("b").unwrap(), None);
        let folder = tempfile::tempdir().unwrap();
        let (place, name) = place_in(&folder.path().join("d")).unwrap();
        MoveTo::new().between((&parent, "c"), (&place, &name)).unwrap();
        assert_eq!(manifest(&place.sub("d").unwrap()), manifest(&from));
        assert_eq!(parent.kind("c").unwrap(), None);

        let array = ArrayOptions::new().open_on(on_store).unwrap();
        let report = Migrate::new().flatten().plan(&array).unwrap().into_place(&parent, "e", &CreateOptions::new());
        assert_eq!(report.unwrap().fragments, 1);
        assert_eq!(cells(&ArrayOptions::new().open_on(parent.sub("e").unwrap()).unwrap()), expected);

        let plan = Remove::new().plan(&parent, "a").unwrap();
        assert_eq!((plan.removed().objects.len(), plan.removed().left.len()), (1, 0));
        Remove::new().plan(&parent, "a").unwrap().run().unwrap();
        Remove::new().plan(&parent, "e").unwrap().run().unwrap();
        for name in ["a", "e", ".tdb-copy-a.tmp", ".tdb-copy-b.tmp", ".tdb-copy-c.tmp", ".tdb-copy-e.tmp"] {
            assert_eq!(parent.kind(name).unwrap(), None, "{name}");
        }
        // Their folders are no longer listed either.
        assert!(!parent.list("").is_ok_and(|left| !left.is_empty()), "{:?}", parent.list(""));
        assert!(matches!(Remove::new().plan(&parent, "").and_then(RemovalPlan::run), Err(MaintainError::Place { .. })));
    });
}

#[test]
fn interrupted_copies_are_replaced() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let local = fixture.array_dir().to_owned();
    let from: Arc<dyn Storage> = Arc::new(LocalStorage::new(&local));
    each(&StoreOptions::default(), |parent| {
        // As if interrupted during the final renames, with a file of someone else added since.
        let place = parent.sub("a").unwrap();
        place.create_new(".tdb-unfinished.tmp", b"__commits\n__fragments\n../b\n__schema").unwrap();
        place.create_new("__commits/old", b"1").unwrap();
        place.create_new("notes.txt", b"2").unwrap();
        assert!(ArrayOptions::new().open_on(place.clone()).is_err());
        let occupied = CopyTo::new().run(&from, &parent, "a");
        assert!(matches!(occupied, Err(MaintainError::Place { why: PlaceProblem::Occupied, .. })), "{occupied:?}");
        assert_eq!(place.read("notes.txt").unwrap(), b"2");
        assert_eq!(place.kind("__commits/old").unwrap(), None);
        // Leftovers of an interrupted copy do not block a new copy.
        place.remove_file("notes.txt").unwrap();
        place.create_new(".tdb-unfinished.tmp", b"__commits").unwrap();
        place.create_new("__commits/old", b"1").unwrap();
        CopyTo::new().run(&from, &parent, "a").unwrap();
        assert_eq!(place.kind("__commits/old").unwrap(), None);
        // An interruption between two files of the schema folder leaves an array that opens.
        place.create_new(".tdb-unfinished.tmp", b"__commits\n__fragments\n__schema").unwrap();
        parent.create_new(".tdb-copy-a.tmp/content/__schema/other", b"1").unwrap();
        place.create_new("__commits/old", b"1").unwrap();
        CopyTo::new().run(&from, &parent, "a").unwrap();
        assert_eq!(place.kind("__commits/old").unwrap(), None);
        assert_eq!(manifest(&place), manifest(&from));
        assert_eq!(cells(&ArrayOptions::new().open_on(place).unwrap()), cells(&Array::open(&local).unwrap()));
    });
}

#[test]
fn groups_are_copied_with_their_members() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g");
    Group::create(&path).unwrap();
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_owned();
    CopyTo::new().folder(&array, path.join("member")).unwrap();
    let uri = format!("file://{}", path.join("member").canonicalize().unwrap().display());
    Group::open(&path).unwrap().change().add(uri, false, Some("m")).commit().unwrap();
    let from: Arc<dyn Storage> = Arc::new(LocalStorage::new(&path));
    each(&StoreOptions::default(), |parent| {
        CopyTo::new().run(&from, &parent, "g").unwrap();
        let copy = parent.sub("g").unwrap();
        let group = GroupOptions::new().open_on(copy.clone()).unwrap();
        let member = &group.members()[0];
        // A member with an absolute local path becomes relative to the copy.
        assert!(member.relative && member.uri == "member", "{member:?}");
        assert!(cells(&ArrayOptions::new().open_on(copy.sub("member").unwrap()).unwrap()) > 0);
        let removed = Remove::new().recursive(true).plan(&parent, "g").unwrap().run().unwrap();
        assert_eq!(removed.objects.len(), 2);
        assert_eq!(parent.kind("g").unwrap(), None);
    });
}

#[test]
fn new_group_takes_existing_arrays_as_members() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let from: Arc<dyn Storage> = Arc::new(LocalStorage::new(fixture.array_dir()));
    each(&StoreOptions::default(), |parent| {
        let storage = parent.sub("g").unwrap();
        CreateOptions::new().create_group_on(&storage).unwrap();
        CopyTo::new().run(&from, &storage, "a").unwrap();
        let open = || GroupOptions::new().open_on(storage.clone()).unwrap();
        open().change().add("a", true, Some("a")).commit().unwrap();
        assert!(open().change().add("a", true, Some("a")).commit().is_err());
        open().change().remove("a").commit().unwrap();
        assert!(open().members().is_empty());
        open().change().add("a", true, Some("other")).commit().unwrap();
        assert_eq!(open().members().len(), 1);
        // Detecting the type and the members takes one listing per folder.
        let group = open();
        let mut lists = vec![group.counters().lists];
        let nodes: Vec<_> = group.tree().nodes().collect();
        lists.push(group.counters().lists);
        ArrayOptions::new().open_on(nodes[1].storage.clone().unwrap()).unwrap();
        lists.push(group.counters().lists);
        // The group with details, then the member, then the member's schemas and commits.
        assert_eq!(lists, [2, 3, 5]);
    });
}
