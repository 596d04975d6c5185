//! Arrays and groups of all releases are copied, moved and removed atomically.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Case, files, group_history};
use tdb_array::{Array, Group, MemberPlace, TimeRange};
use tdb_job::MaintainError;
use tdb_relocate::{CopyTo, MoveTo, PlaceProblem, RemovalPlan, Remove};
use tdb_storage::{MemoryStorage, Storage, is_temporary};
use tdb_testkit::{Fault, FaultyStorage, fixtures};

type Files = BTreeMap<String, Vec<u8>>;
type Disk = Arc<dyn Storage>;

/// Returns a storage with files below `array`.
fn on(files: &Files) -> Disk {
    let storage = MemoryStorage::new();
    for (path, bytes) in files {
        storage.insert(&format!("array/{path}"), bytes.clone()).unwrap();
    }
    Arc::new(storage)
}

#[test]
fn arrays_of_all_releases_are_copied() {
    let all: Vec<_> = fixtures::all().into_iter().chain(fixtures::of_older_releases()).collect();
    let (next, rewritten) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(fixture) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut case = Case::of(fixture);
                    let before = case.files();
                    let disk: Disk = Arc::new(MemoryStorage::new());
                    let copied = CopyTo::new().run(&case.storage, &disk, "copy").unwrap();
                    let copy = disk.sub("copy").unwrap();
                    assert_eq!(files(&*copy), before, "{}", case.name);
                    assert_eq!((copied.files, copied.left_out.len()), (before.len() as u64, 0), "{}", case.name);
                    // Files with URIs are rewritten, and readers find the same cells.
                    let seen = case.seen(TimeRange::ALL);
                    let disk: Disk = Arc::new(Elsewhere(Arc::new(MemoryStorage::new())));
                    let copied = CopyTo::new().run(&case.storage, &disk, "copy").unwrap();
                    rewritten.fetch_add(copied.rewritten.len(), Ordering::Relaxed);
                    case.storage = disk.sub("copy").unwrap();
                    assert_eq!(case.seen(TimeRange::ALL), seen, "{}", case.name);
                }
            });
        }
    });
    println!("{} arrays, {} files rewritten", all.len(), rewritten.load(Ordering::Relaxed));
    assert!(all.len() > 500);
}

/// A storage with other URIs than the fixtures.
#[derive(Clone, Debug)]
struct Elsewhere(Disk);

impl Storage for Elsewhere {
    tdb_storage::forward_storage!(|this| this.0 => list, open, open_sized, profile, fetch_one, fetch, kind, describe, sub);
    tdb_storage::forward_storage!(|this| this.0 => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder, rename);

    fn uri(&self, path: &str) -> Option<String> {
        Some(format!("file:///elsewhere/{path}"))
    }
}

#[test]
fn groups_of_all_releases_are_copied() {
    let all: Vec<_> = fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases()).collect();
    assert!(all.len() > 5);
    for fixture in all {
        let folder = tempfile::tempdir().unwrap();
        fixture.unpack_into(folder.path());
        let from = folder.path().join("group");
        CopyTo::new().folder(&from, folder.path().join("copy")).unwrap();
        if fixture.name().contains("encrypted") {
            continue;
        }
        let storage = |name: &str| -> Disk { Arc::new(tdb_storage::LocalStorage::new(folder.path().join(name))) };
        assert_eq!(group_history(&storage("group"), None), group_history(&storage("copy"), None), "{}", fixture.name());
    }
}

/// Checks that the copy is complete, if it exists.
fn check_copy(disk: &Disk, before: &Files, what: &str) {
    if disk.exists("copy").unwrap() {
        assert_eq!(files(&*disk.sub("copy").unwrap()), *before, "{what}");
    }
}

#[test]
fn copies_that_break() {
    for fixture in ["v22-by-2.30.0-sparse-2d", "v4-by-1.7.7-sparse-appended", "v9-by-2.3.3-sparse-joined-footers"] {
        let fixture = fixtures::named(fixture);
        let before = Case::of(&fixture).files();
        let job = |disk: &Disk| CopyTo::new().take_over(true).run(&disk.sub("array")?, disk, "copy");
        let sound = FaultyStorage::sound(on(&before));
        job(&(Arc::new(sound.clone()) as _)).unwrap();
        for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
            for n in 0..sound.changes() {
                let disk = on(&before);
                let result = job(&(Arc::new(FaultyStorage::new(disk.clone(), fault, n)) as _));
                let what = format!("{} {fault:?} at {n}", fixture.name());
                assert!(result.is_err() || disk.exists("copy").unwrap(), "{what}");
                check_copy(&disk, &before, &what);
                if !disk.exists("copy").unwrap() {
                    job(&disk).unwrap_or_else(|error| panic!("{what}, once more: {error}"));
                    check_copy(&disk, &before, &what);
                    let names: Vec<String> = disk.list("").unwrap().into_iter().map(|entry| entry.name).collect();
                    let names: Vec<&String> = names.iter().filter(|name| !name.contains("half")).collect();
                    assert_eq!(names, ["array", "copy"], "{what}");
                }
                assert_eq!(files(&*disk.sub("array").unwrap()), before, "{what}");
            }
        }
    }
}

/// An array is complete or hidden during a removal.
#[test]
fn removals_that_break() {
    for fixture in ["v22-by-2.30.0-sparse-2d", "v4-by-1.7.7-sparse-appended", "v9-by-2.3.3-sparse-joined-footers"] {
        let fixture = fixtures::named(fixture);
        let before = Case::of(&fixture).files();
        let job = |disk: &Disk| Remove::new().take_over(true).plan(disk, "array").and_then(RemovalPlan::run);
        let sound = FaultyStorage::sound(on(&before));
        job(&(Arc::new(sound.clone()) as _)).unwrap();
        let seen = Case::on(on(&before).sub("array").unwrap()).seen(TimeRange::ALL);
        for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
            for n in 0..sound.changes() {
                let disk = on(&before);
                let what = format!("{} {fault:?} at {n}", fixture.name());
                let result = job(&(Arc::new(FaultyStorage::new(disk.clone(), fault, n)) as _));
                assert!(result.is_err() || n + 2 >= sound.changes(), "{what}");
                let case = Case::on(disk.sub("array").unwrap());
                if case.at(TimeRange::ALL).is_ok() {
                    assert_eq!(case.seen(TimeRange::ALL), seen, "{what}");
                }
                let left = if disk.exists("array").unwrap() { disk.list("array").unwrap() } else { Vec::new() };
                if left.iter().any(|entry| !is_temporary(&entry.name) || entry.name == ".tdb-removed.tmp") {
                    job(&disk).unwrap_or_else(|error| panic!("{what}, once more: {error}"));
                    assert!(!disk.exists("array").unwrap(), "{what}");
                }
            }
        }
    }
}

#[test]
fn invalid_requests_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(folder.path());
    let plain = folder.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    let why = |result: Result<(), MaintainError>| match result.unwrap_err() {
        MaintainError::Place { why, .. } => why,
        other => panic!("{other}"),
    };
    let copy = |from: &Path, to: &Path| why(CopyTo::new().folder(from, to).map(drop));
    let move_to = |from: &Path, to: &Path| why(MoveTo::new().folder(from, to).map(drop));
    assert_eq!(copy(&plain, &folder.path().join("x")), PlaceProblem::Neither);
    assert_eq!(copy(&array, &plain), PlaceProblem::Occupied);
    assert_eq!(copy(&array, &array.join("x")), PlaceProblem::InSource);
    assert_eq!(move_to(&array, &array.join("__fragments/x")), PlaceProblem::InSource);
    assert_eq!(move_to(&plain, &folder.path().join("x")), PlaceProblem::Neither);
    assert_eq!(move_to(&array, &plain), PlaceProblem::Occupied);
    let group = folder.path().join("group");
    Group::create(&group).unwrap();
    assert_eq!(copy(&group, &array.join("x")), PlaceProblem::InArray);
    assert_eq!(why(Remove::new().plan_folder(&plain).map(drop)), PlaceProblem::Neither);
    assert_eq!(why(Remove::new().plan_folder(array.join("__fragments")).map(drop)), PlaceProblem::Neither);
    let busy = ".tdb-maintain.tmp";
    std::fs::write(array.join(busy), "process 1\non elsewhere\n").unwrap();
    let target = folder.path().join("x");
    assert!(matches!(MoveTo::new().folder(&array, &target).unwrap_err(), MaintainError::Busy { .. }));
    assert!(matches!(
        Remove::new().plan_folder(&array).and_then(RemovalPlan::run).unwrap_err(),
        MaintainError::Busy { .. }
    ));
    std::fs::create_dir(folder.path().join(".tdb-copy-x.tmp")).unwrap();
    std::fs::write(folder.path().join(".tdb-copy-x.tmp").join(busy), "process 1\non elsewhere\n").unwrap();
    assert!(matches!(CopyTo::new().folder(&array, &target).unwrap_err(), MaintainError::Busy { .. }));
    let copied = CopyTo::new().take_over(true).folder(&array, &target).unwrap();
    assert_eq!(copied.left_out, [busy]);
    assert!(Array::open(&target).is_ok() && !folder.path().join(".tdb-copy-x.tmp").exists());
}

/// Creates a group with relative, absolute, nested and external members.
fn groups(root: &Path) {
    let group = root.join("g");
    Group::create(&group).unwrap();
    Group::create(group.join("inner")).unwrap();
    for place in ["g/a", "g/inner/b", "elsewhere"] {
        let staging = tempfile::tempdir_in(root).unwrap();
        fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(staging.path());
        std::fs::rename(staging.path().join("array"), root.join(place)).unwrap();
    }
    let whole = |place: &str| root.join(place).to_str().unwrap().to_owned();
    let change = Group::open(group.join("inner")).unwrap().change();
    change.add(whole("g/inner/b"), false, Some("b")).add(whole("g/a"), false, Some("sibling")).commit().unwrap();
    let change = Group::open(&group).unwrap().change();
    let change = change.add(whole("g/a"), false, None).add("inner", true, Some("inner"));
    change.add(whole("elsewhere"), false, Some("other")).commit().unwrap();
    std::fs::write(group.join("notes.txt"), "mine").unwrap();
}

fn places(group: &Path) -> Vec<(String, MemberPlace)> {
    Group::open(group).unwrap().members().iter().map(|member| (member.key().to_owned(), member.place.clone())).collect()
}

#[test]
fn members_of_copies_are_in_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    groups(&root);
    let copied = CopyTo::new().folder(root.join("g"), root.join("h")).unwrap();
    assert_eq!(copied.shared.len(), 1, "{copied:?}");
    assert_eq!(copied.rewritten.len(), 2);
    std::fs::remove_dir_all(root.join("g")).unwrap();
    let inside = |path: &str| MemberPlace::Inside(path.to_owned());
    let outside = |path: &str| MemberPlace::Outside(root.join(path).to_str().unwrap().to_owned());
    let expected = [("a", inside("a")), ("inner", inside("inner")), ("other", outside("elsewhere"))];
    let expected: Vec<_> = expected.into_iter().map(|(key, place)| (key.to_owned(), place)).collect();
    assert_eq!(places(&root.join("h")), expected);
    let expected = [("b".to_owned(), inside("b")), ("sibling".to_owned(), outside("h/a"))];
    assert_eq!(places(&root.join("h/inner")), expected);
    assert!(Array::open(root.join("h/inner/b")).is_ok() && root.join("h/notes.txt").exists());
}

/// Returns `true` if the groups of `groups` find all members at `name`.
fn reaches_all(root: &Path, name: &str) -> bool {
    if Group::open(root.join(name)).is_err() || Group::open(root.join(name).join("inner")).is_err() {
        return false;
    }
    let (inside, outside) = (
        |path: &str| MemberPlace::Inside(path.to_owned()),
        |path: String| MemberPlace::Outside(root.join(path).to_str().unwrap().to_owned()),
    );
    let (whole, inner) = (places(&root.join(name)), places(&root.join(name).join("inner")));
    let is_whole =
        whole.iter().map(|(_, place)| place).eq(&[inside("a"), inside("inner"), outside("elsewhere".into())]);
    let is_inner = inner.iter().map(|(_, place)| place).eq(&[inside("b"), outside(format!("{name}/a"))]);
    let opens = |path: &str| Array::open(root.join(name).join(path)).is_ok();
    is_whole && is_inner && opens("a") && opens("inner/b")
}

#[test]
fn moved_at_once_and_by_copying() {
    for by_copying in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        groups(&root);
        let moved = MoveTo::new().by_copying(by_copying).folder(root.join("g"), root.join("h")).unwrap();
        assert_eq!(moved.copied.is_some(), by_copying);
        assert_eq!(moved.made_relative.len(), 2, "{moved:?}");
        assert!(Array::open(root.join("h/inner/b")).is_ok() && Array::open(root.join("h/a")).is_ok());
        assert!(places(&root.join("h")).contains(&("a".to_owned(), MemberPlace::Inside("a".to_owned()))));
        assert_eq!(moved.repointed, if by_copying { vec![] } else { vec!["sibling"] });
        assert!(reaches_all(&root, "h"), "{:?}", places(&root.join("h/inner")));
        // Unknown files stay.
        assert_eq!(moved.left, if by_copying { vec!["notes.txt".to_owned()] } else { Vec::new() });
        assert_eq!(root.join("g").exists(), by_copying);
        assert!(root.join("h/notes.txt").exists());
        // Moves a member out of its group.
        let moved = MoveTo::new().by_copying(by_copying).folder(root.join("h/a"), root.join("h/z")).unwrap();
        assert_eq!(moved.held_by, [root.join("h").display().to_string()]);
        assert!(Array::open(root.join("h/z")).is_ok() && Array::open(root.join("h/a")).is_err());
    }
}

#[test]
fn removed_with_and_without_members() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    groups(&root);
    let plan = Remove::new().recursive(true).plan_folder(root.join("g")).unwrap();
    let paths: Vec<&str> = plan.removed().objects.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!((paths, &plan.removed().left), (vec!["a", "inner/b", "inner", ""], &vec!["notes.txt".to_owned()]));
    Group::create(root.join("g/late")).unwrap();
    Group::open(root.join("g")).unwrap().change().add("late", true, None).commit().unwrap();
    let error = plan.run().unwrap_err();
    assert!(matches!(&error, MaintainError::Conflict { path, .. } if path.ends_with("g/late")), "{error}");
    assert!(Array::open(root.join("g/a")).is_ok(), "a member outside of the plan was removed");
    let inner = Remove::new().plan_folder(root.join("g/inner")).unwrap().run().unwrap();
    assert_eq!((inner.left, inner.held_by.len()), (vec!["b".to_owned()], 1));
    assert!(Array::open(root.join("g/inner/b")).is_ok(), "members stay without `recursive`");
    let removed = Remove::new().recursive(true).plan_folder(root.join("g")).unwrap().run().unwrap();
    assert!(removed.left.contains(&"notes.txt".to_owned()), "{removed:?}");
    assert!(!root.join("g/a").exists() && Array::open(root.join("elsewhere")).is_ok());
    assert!(Group::open(root.join("g")).is_err() && root.join("g/notes.txt").exists());
}

/// After any failure, the complete array is at its old or new path. The next run completes the
/// move.
#[test]
fn interrupted_moves_are_completed() {
    let mut broken = 0;
    for fixture in ["v22-by-2.30.0-sparse-2d", "v4-by-1.7.7-sparse-appended", "v9-by-2.3.3-sparse-joined-footers"] {
        let fixture = fixtures::named(fixture);
        let before = Case::of(&fixture).files();
        let seen = Case::on(on(&before).sub("array").unwrap()).seen(TimeRange::ALL);
        for by_copying in [false, true] {
            let job = |disk: &Disk| MoveTo::new().take_over(true).by_copying(by_copying).run(disk, "array", "new");
            let sound = FaultyStorage::sound(on(&before));
            job(&(Arc::new(sound.clone()) as _)).unwrap();
            let faults = [Fault::Fails, Fault::Stops, Fault::LosesPower];
            for (fault, n) in faults.into_iter().flat_map(|fault| (0..sound.changes()).map(move |n| (fault, n))) {
                let disk = on(&before);
                let what = format!("{} by copying {by_copying}, {fault:?} at {n}", fixture.name());
                let result = job(&(Arc::new(FaultyStorage::new(disk.clone(), fault, n)) as _));
                broken += u32::from(result.is_err());
                let is_whole = |name: &str| {
                    disk.exists(name).unwrap() && {
                        let mut there = files(&*disk.sub(name).unwrap());
                        there.retain(|path, _| !is_temporary(path.rsplit('/').next().unwrap()));
                        there == before
                    }
                };
                assert!(is_whole("array") || is_whole("new"), "{what}");
                // A visible array has all its cells.
                let case = Case::on(disk.sub("array").unwrap());
                assert!(case.at(TimeRange::ALL).is_err() || case.seen(TimeRange::ALL) == seen, "{what}");
                if disk.exists("array").unwrap() {
                    job(&disk).unwrap_or_else(|error| panic!("{what}, once more: {error}"));
                }
                assert!(is_whole("new") && !disk.exists("array").unwrap(), "{what}");
                let left = disk.list("new").unwrap().into_iter().chain(disk.list("").unwrap());
                let left: Vec<_> = left.map(|entry| entry.name).filter(|name| name.contains("moving")).collect();
                assert!(left.is_empty(), "{what}: {left:?}");
            }
        }
    }
    assert!(broken > 300, "{broken}");
}

/// Moves of groups, whose members are updated. Uses local folders, which allow members to be read.
#[test]
fn interrupted_moves_of_groups_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    std::fs::create_dir(&root).unwrap();
    groups(&root);
    // Fewer files make hundreds of runs faster.
    for (array, folder) in
        ["g/a", "g/inner/b", "elsewhere"].into_iter().flat_map(|array| [(array, "__fragments"), (array, "__commits")])
    {
        std::fs::remove_dir_all(root.join(array).join(folder)).unwrap();
    }
    let before = files(&tdb_storage::LocalStorage::new(&root));
    let fresh = || -> Disk {
        std::fs::remove_dir_all(&root).unwrap();
        for (path, bytes) in &before {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), bytes).unwrap();
        }
        Arc::new(tdb_storage::LocalStorage::new(&root))
    };
    let mut unsettled = 0;
    for by_copying in [false, true] {
        let job = |disk: &Disk| MoveTo::new().take_over(true).by_copying(by_copying).run(disk, "g", "h");
        let sound = FaultyStorage::sound(fresh());
        job(&(Arc::new(sound.clone()) as _)).unwrap();
        let faults = [Fault::Fails, Fault::Stops, Fault::LosesPower];
        let all = faults.into_iter().zip(0u64..);
        for (fault, n, turn) in
            all.flat_map(|(fault, number)| (0..sound.changes()).map(move |n| (fault, n, (n + number) % 3)))
        {
            // Each operation of a copy fails in one of three ways. Each operation of a rename fails
            // in all three ways.
            if by_copying && turn != 0 {
                continue;
            }
            let disk = fresh();
            let what = format!("by copying {by_copying}, {fault:?} at {n}");
            let result = job(&(Arc::new(FaultyStorage::new(disk.clone(), fault, n)) as _));
            let opens = |path: &str| Array::open(root.join(path)).is_ok();
            let are_there = |name: &str| ["a", "inner/b"].iter().all(|array| opens(&format!("{name}/{array}")));
            assert!(are_there("g") || are_there("h"), "{what}");
            unsettled += u32::from(!reaches_all(&root, "g") && !reaches_all(&root, "h"));
            if result.is_err() {
                job(&disk).map(drop).or_else(gone).unwrap_or_else(|error| panic!("{what}, once more: {error}"));
            }
            assert!(reaches_all(&root, "h") && std::fs::exists(root.join("h/notes.txt")).unwrap(), "{what}");
            assert!(Group::open(root.join("g")).is_err() && opens("elsewhere"), "{what}");
            assert!(!root.join("h/.tdb-moving.tmp").exists(), "{what}");
        }
    }
    // Incomplete moves are renamed folders with old member URIs.
    assert!((1..20).contains(&unsettled), "{unsettled}");
}

/// Accepts the errors of a repeated job without work.
fn gone(error: MaintainError) -> Result<(), MaintainError> {
    match error {
        MaintainError::Storage(error) if error.is_not_found() => Ok(()),
        MaintainError::Place { why: PlaceProblem::Neither, .. } => Ok(()),
        other => Err(other),
    }
}

/// Later writes to the old path are not lost.
#[test]
fn writes_to_the_old_path_survive_a_move() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let disk = on(&Case::of(&fixture).files());
    let job = |disk: &Disk| MoveTo::new().take_over(true).by_copying(true).run(disk, "array", "new");
    let sound = FaultyStorage::sound(on(&Case::of(&fixture).files()));
    job(&(Arc::new(sound.clone()) as _)).unwrap();
    // The last moment at which both folders are complete.
    let n = (0..sound.changes()).rev().find(|n| {
        let disk = on(&Case::of(&fixture).files());
        let _ = job(&(Arc::new(FaultyStorage::new(disk.clone(), Fault::Stops, *n)) as _));
        disk.exists("array").unwrap() && Case::on(disk.sub("array").unwrap()).at(TimeRange::ALL).is_ok()
    });
    job(&(Arc::new(FaultyStorage::new(disk.clone(), Fault::Stops, n.unwrap())) as _)).unwrap_err();
    assert!(disk.exists("new/__schema").unwrap());
    let names = tdb_array::WriteIds::new();
    let array = Case::on(disk.sub("array").unwrap()).array();
    let value = tdb_array::MetadataValue::text("written since").unwrap();
    array.write_metadata().ids(names).put("k", value).commit().unwrap();
    let error = job(&disk).unwrap_err();
    assert!(matches!(error, MaintainError::Place { why: PlaceProblem::Unverified, .. }), "{error}");
    assert!(Case::on(disk.sub("array").unwrap()).array().metadata().unwrap().get("k").is_some());
}

/// Foreign files in an array are not deleted.
#[test]
fn foreign_files_are_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(folder.path());
    let array = folder.path().join("array");
    for foreign in ["__fragments/notes.txt", "__meta/backup", "__commits/__1_1_0123456789abcdef0123456789abcdef_22.old"]
    {
        let before = files(&tdb_storage::LocalStorage::new(&array));
        let path = array.join(foreign);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine").unwrap();
        let error = Remove::new().plan_folder(&array).unwrap_err();
        assert!(matches!(error, MaintainError::Place { why: PlaceProblem::Foreign, .. }), "{error}");
        assert!(error.to_string().contains(foreign), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(files(&tdb_storage::LocalStorage::new(&array)), before);
    }
    Remove::new().plan_folder(&array).unwrap().run().unwrap();
    assert!(!array.exists());
}

/// Files outside of the array stay, even behind links.
#[cfg(unix)]
#[test]
fn nothing_behind_links_is_removed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let array = |place: &str| {
        let staging = tempfile::tempdir_in(&root).unwrap();
        fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(staging.path());
        std::fs::rename(staging.path().join("array"), root.join(place)).unwrap();
    };
    let all = |place: &str| files(&tdb_storage::LocalStorage::new(root.join(place)));
    array("outside");
    let outside = all("outside");
    let is_refused = |result: Result<(), MaintainError>| match result.unwrap_err() {
        MaintainError::Place { path, why } => assert_eq!(why, PlaceProblem::Link, "{path}"),
        other => panic!("{other}"),
    };
    symlink(root.join("outside"), root.join("link")).unwrap();
    is_refused(Remove::new().plan_folder(root.join("link")).map(drop));
    assert_eq!(all("outside"), outside);
    // The removal does not start if one folder is a link.
    array("half");
    std::fs::rename(root.join("half/__fragments"), root.join("away")).unwrap();
    symlink(root.join("away"), root.join("half/__fragments")).unwrap();
    let half = all("half");
    is_refused(Remove::new().plan_folder(root.join("half")).map(drop));
    assert_eq!(all("half"), half);
    // A member that is a link, and a member behind another link.
    for by_moving in [false, true] {
        Group::create(root.join("g")).unwrap();
        symlink(root.join("outside"), root.join("g/m")).unwrap();
        let change = Group::open(root.join("g")).unwrap().change().add("m", true, None);
        change.commit().unwrap();
        if by_moving {
            MoveTo::new().by_copying(true).folder(root.join("g"), root.join("h")).unwrap();
            assert_eq!(all("h/m"), outside);
        } else {
            let remove = Remove::new().recursive(true);
            let plan = remove.plan_folder(root.join("g")).unwrap();
            let planned = plan.removed();
            assert_eq!((planned.objects.len(), &planned.links[..], planned.left.len()), (1, &["m".to_owned()][..], 0));
            assert_eq!(plan.run().unwrap().left, [""; 0]);
        }
        assert!(!root.join("g").exists());
        assert_eq!(all("outside"), outside);
    }
    std::fs::create_dir(root.join("around")).unwrap();
    array("around/inner");
    let around = all("around");
    Group::create(root.join("g")).unwrap();
    symlink(root.join("around"), root.join("g/x")).unwrap();
    Group::open(root.join("g")).unwrap().change().add("x/inner", true, None).commit().unwrap();
    let removed = Remove::new().recursive(true).plan_folder(root.join("g")).unwrap().run().unwrap();
    assert_eq!((removed.left, removed.links.len()), (vec!["x".to_owned()], 0));
    assert_eq!(all("around"), around);
}
