//! Files that copies, moves and removals keep: quarantined files, foreign files, and locked arrays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{files, unpack};
use tdb_array::{Array, CreateOptions, Group};
use tdb_job::MaintainError;
use tdb_migrate::Migrate;
use tdb_relocate::{CopyTo, MoveTo, PlaceProblem, RemovalPlan, Remove};
use tdb_storage::{LocalStorage, Storage};
use tdb_testkit::MeanwhileStorage;
use tdb_types::FormatVersion;
use tdb_verify::Doctor;

/// Creates a folder. It is deleted with the first value.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    (folder, root)
}

/// Creates an array at a path.
fn array(root: &Path, place: &str) {
    unpack("v22-by-2.30.0-sparse-2d", &root.join(place));
}

/// Returns all files of a folder.
fn all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    files(&LocalStorage::new(folder))
}

fn why<T: std::fmt::Debug>(result: Result<T, MaintainError>) -> PlaceProblem {
    match result.unwrap_err() {
        MaintainError::Place { why, .. } => why,
        other => panic!("{other}"),
    }
}

/// Quarantines a temporary file and an uncommitted fragment.
fn quarantine(folder: &Path) -> Vec<String> {
    let fragment = "__fragments/__1_1_0123456789abcdef0123456789abcdef_22";
    std::fs::write(folder.join(".tdb-4711-0.tmp"), "half of a file").unwrap();
    std::fs::create_dir_all(folder.join(fragment)).unwrap();
    std::fs::write(folder.join(fragment).join("a0.tdb"), "cells").unwrap();
    let array = Array::open(folder).unwrap();
    let found = Doctor::new().plan(&array).unwrap().found().to_vec();
    assert_eq!(Doctor::new().plan(&array).unwrap().run().unwrap().done.len(), 2, "{found:?}");
    // Temporary files in quarantine are not in use.
    std::fs::write(folder.join(".tdb-quarantine/1/2-__1_1_0123456789abcdef0123456789abcdef_22/.tdb-1-1.tmp"), "kept")
        .unwrap();
    vec![fragment.to_owned(), ".tdb-4711-0.tmp".to_owned()]
}

/// A migration with removal of the old array checks foreign and quarantined files like a removal.
#[test]
fn migrations_remove_no_more_than_removals() {
    let (_folder, root) = place();
    array(&root, "a");
    quarantine(&root.join("a"));
    let before = all(&root.join("a"));
    let in_place = |to: u32| {
        let opened = Array::open(root.join("a")).unwrap();
        let plan = Migrate::new().to(FormatVersion::new(to).unwrap()).plan(&opened).unwrap();
        plan.in_place(&root.join("a"), &CreateOptions::new(), true)
    };
    assert!(matches!(why(in_place(21)), PlaceProblem::Quarantined));
    assert_eq!(all(&root.join("a")), before);
    // Foreign files stay.
    std::fs::remove_dir_all(root.join("a/.tdb-quarantine")).unwrap();
    std::fs::write(root.join("a/notes.txt"), "mine").unwrap();
    in_place(21).unwrap();
    let old = root.join("a.before-migration");
    assert_eq!(all(&old), BTreeMap::from([("notes.txt".to_owned(), b"mine".to_vec())]));
    std::fs::remove_dir_all(&old).unwrap();
    // An interrupted removal is resumed.
    array(&root, "b");
    std::fs::rename(root.join("b"), &old).unwrap();
    std::fs::rename(old.join("__schema"), old.join(".tdb-removed.tmp")).unwrap();
    in_place(22).unwrap();
    assert!(!old.exists());
    assert_eq!(Array::open(root.join("a")).unwrap().schema().version().number(), 22);
}

/// Quarantined files move with the array.
#[test]
fn quarantined_files_move_with_the_array() {
    for by_copying in [false, true] {
        let (_folder, root) = place();
        Group::create(root.join("g")).unwrap();
        array(&root, "g/a");
        Group::open(root.join("g")).unwrap().change().add("a", true, None).commit().unwrap();
        let mut quarantine = quarantine(&root.join("g/a"));
        let before = all(&root.join("g/a/.tdb-quarantine"));
        assert_eq!(before.len(), 4);
        let moved = MoveTo::new().by_copying(by_copying).folder(root.join("g"), root.join("h")).unwrap();
        assert_eq!(moved.copied.map(|copied| copied.left_out).unwrap_or_default(), [""; 0]);
        assert!(!root.join("g").exists());
        assert_eq!(all(&root.join("h/a/.tdb-quarantine")), before, "by copying {by_copying}");
        let mut back = Doctor::new().undo(&Array::open(root.join("h/a")).unwrap()).unwrap().restored;
        quarantine.sort();
        back.sort();
        assert_eq!(back, quarantine);
    }
}

/// Quarantined files may be the only copy, and their removal needs a request.
#[test]
fn quarantined_files_are_removed_only_on_request() {
    let (_folder, root) = place();
    array(&root, "a");
    quarantine(&root.join("a"));
    let before = all(&root.join("a"));
    assert_eq!(why(Remove::new().plan_folder(root.join("a"))), PlaceProblem::Quarantined);
    assert_eq!(all(&root.join("a")), before);
    // The same applies to a member of a group and to a label's array.
    Group::create(root.join("g")).unwrap();
    std::fs::rename(root.join("a"), root.join("g/a")).unwrap();
    Group::open(root.join("g")).unwrap().change().add("a", true, None).commit().unwrap();
    assert_eq!(why(Remove::new().recursive(true).plan_folder(root.join("g"))), PlaceProblem::Quarantined);
    array(&root, "b");
    std::fs::create_dir_all(root.join("b/__labels/l/.tdb-quarantine/1")).unwrap();
    std::fs::write(root.join("b/__labels/l/.tdb-quarantine/1/1-x"), "mine").unwrap();
    assert_eq!(why(Remove::new().plan_folder(root.join("b"))), PlaceProblem::Quarantined);
    Remove::new().with_quarantine(true).plan_folder(root.join("b")).unwrap().run().unwrap();
    Remove::new().with_quarantine(true).recursive(true).plan_folder(root.join("g")).unwrap().run().unwrap();
    assert!(!root.join("g").exists() && !root.join("b").exists());
}

/// Unlisted entries would be deleted with their folder: names that are not UTF-8, dangling links.
#[cfg(target_os = "linux")]
#[test]
fn unlisted_entries_are_not_removed() {
    use std::os::unix::ffi::OsStrExt;
    let (_folder, root) = place();
    let strange = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    for (number, place) in ["", "__fragments", "__meta", "__labels/l", "g"].into_iter().enumerate() {
        for is_link in [false, true] {
            let name = format!("{number}{is_link}");
            let of_group = place == "g";
            if of_group {
                Group::create(root.join(&name)).unwrap();
            } else {
                array(&root, &name);
            }
            let holds = if of_group { root.join(&name) } else { root.join(&name).join(place) };
            std::fs::create_dir_all(&holds).unwrap();
            let foreign = if is_link { holds.join("dangling") } else { holds.join(strange) };
            if is_link {
                std::os::unix::fs::symlink("/nothing/is/there", &foreign).unwrap();
            } else {
                std::fs::write(&foreign, "mine").unwrap();
            }
            let before = all(&root.join(&name));
            assert_eq!(why(Remove::new().plan_folder(root.join(&name))), PlaceProblem::Foreign, "{name} {place}");
            let moving = MoveTo::new().by_copying(true).folder(root.join(&name), root.join("moved"));
            assert_eq!(why(moving), PlaceProblem::Foreign, "{name} {place}");
            assert!(foreign.symlink_metadata().is_ok() && !root.join("moved").exists());
            assert_eq!(all(&root.join(&name)), before);
            // A copy leaves the entry out and reports the path.
            let copied = CopyTo::new().folder(root.join(&name), root.join("copy")).unwrap();
            assert_eq!(copied.left_out.len(), 1, "{copied:?}");
            std::fs::remove_dir_all(root.join("copy")).unwrap();
            // A rename moves everything.
            MoveTo::new().folder(root.join(&name), root.join("moved")).unwrap();
            let below = foreign.strip_prefix(root.join(&name)).unwrap();
            assert!(root.join("moved").join(below).symlink_metadata().is_ok());
            std::fs::remove_dir_all(root.join("moved")).unwrap();
        }
    }
}

/// Parent folders may have such a name, too. Then the folder has no URI.
#[cfg(target_os = "linux")]
#[test]
fn unlisted_entries_without_a_uri_are_not_removed() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let around = folder.path().canonicalize().unwrap().join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&around).unwrap();
    array(&around, "a");
    let foreign = around.join("a/__fragments").join(std::ffi::OsStr::from_bytes(b"\xfe"));
    std::fs::write(&foreign, "mine").unwrap();
    assert_eq!(why(Remove::new().plan_folder(around.join("a"))), PlaceProblem::Foreign);
    assert_eq!(why(MoveTo::new().by_copying(true).folder(around.join("a"), around.join("b"))), PlaceProblem::Foreign);
    std::fs::remove_file(foreign).unwrap();
    MoveTo::new().by_copying(true).folder(around.join("a"), around.join("b")).unwrap();
    Remove::new().plan_folder(around.join("b")).unwrap().run().unwrap();
    assert!(!around.join("a").exists() && !around.join("b").exists());
}

/// The staging folder of a copy must not be a link.
#[cfg(unix)]
#[test]
fn copies_do_not_write_behind_links() {
    let (_folder, root) = place();
    array(&root, "a");
    std::fs::create_dir_all(root.join("mine/content")).unwrap();
    std::fs::write(root.join("mine/content/notes.txt"), "mine").unwrap();
    for target in ["mine", "nothing"] {
        let link = root.join(".tdb-copy-b.tmp");
        std::os::unix::fs::symlink(root.join(target), &link).unwrap();
        for moving in [false, true] {
            let to = root.join("b");
            let result = match moving {
                true => MoveTo::new().by_copying(true).folder(root.join("a"), to).map(drop),
                false => CopyTo::new().folder(root.join("a"), to).map(drop),
            };
            assert_eq!(why(result), PlaceProblem::LinkedTemporary, "{target}");
        }
        assert!(link.symlink_metadata().is_ok() && Array::open(root.join("a")).is_ok());
        std::fs::remove_file(link).unwrap();
    }
    assert_eq!(all(&root.join("mine")).len(), 1);
    assert!(!root.join("nothing").exists() && !root.join("b").exists());
}

/// A source that disappears during the copy leaves no empty copy.
#[test]
fn a_vanished_source_leaves_no_copy() {
    let (_folder, root) = place();
    for after in 0..12 {
        array(&root, "a");
        let (source, gone) = (Arc::new(LocalStorage::new(root.join("a"))), root.join("a"));
        let from = MeanwhileStorage::at(source, after, move |_| std::fs::remove_dir_all(gone).unwrap());
        let from: Arc<dyn Storage> = Arc::new(from);
        let parent: Arc<dyn Storage> = Arc::new(LocalStorage::new(&root));
        let result = CopyTo::new().run(&from, &parent, "b");
        assert!(!root.join("a").exists(), "the source still exists");
        assert!(result.is_err(), "after {after}: {result:?}");
        assert!(!root.join("b").exists() && !root.join(".tdb-copy-b.tmp").exists());
    }
}

/// A move checks the removal of the source before copying.
#[cfg(unix)]
#[test]
fn moves_check_the_removal_of_the_source_first() {
    let (_folder, root) = place();
    array(&root, "a");
    std::fs::rename(root.join("a/__fragments"), root.join("away")).unwrap();
    std::os::unix::fs::symlink(root.join("away"), root.join("a/__fragments")).unwrap();
    let before = all(&root);
    let seen = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let hears = Arc::clone(&seen);
    let observer = move |_, _| {
        hears.store(true, std::sync::atomic::Ordering::Relaxed);
        true
    };
    let moving = MoveTo::new().by_copying(true).observer(observer).folder(root.join("a"), root.join("b"));
    assert_eq!(why(moving), PlaceProblem::Link);
    assert!(!seen.load(std::sync::atomic::Ordering::Relaxed), "nothing was copied");
    assert_eq!(all(&root), before);
    // A rename moves the link.
    MoveTo::new().folder(root.join("a"), root.join("b")).unwrap();
    assert!(Array::open(root.join("b")).is_ok());
}

/// The lock of an array inside of a group prevents moves and removals of the group.
#[test]
fn locked_members_block_their_group() {
    let (_folder, root) = place();
    Group::create(root.join("g")).unwrap();
    Group::create(root.join("g/inner")).unwrap();
    for place in ["g/a", "g/inner/b", "g/no-member"] {
        array(&root, place);
    }
    let whole = root.join("g/a").to_str().unwrap().to_owned();
    Group::open(root.join("g/inner")).unwrap().change().add("b", true, None).commit().unwrap();
    Group::open(root.join("g")).unwrap().change().add(whole, false, None).add("inner", true, None).commit().unwrap();
    let lock = ".tdb-maintain.tmp";
    for held in ["g/a", "g/inner", "g/inner/b", "g/no-member"] {
        std::fs::write(root.join(held).join(lock), "process 1\non elsewhere\n").unwrap();
        let before = all(&root);
        let is_busy = |result: Result<(), MaintainError>| {
            let error = result.unwrap_err();
            assert!(matches!(&error, MaintainError::Busy { path, .. } if path.contains(held)), "{held}: {error}");
            assert_eq!(all(&root), before, "{held}");
        };
        is_busy(MoveTo::new().folder(root.join("g"), root.join("h")).map(drop));
        is_busy(MoveTo::new().by_copying(true).folder(root.join("g"), root.join("h")).map(drop));
        // An array without membership is not removed, so its lock does not matter.
        if held != "g/no-member" {
            is_busy(Remove::new().recursive(true).plan_folder(root.join("g")).and_then(RemovalPlan::run).map(drop));
        }
        std::fs::remove_file(root.join(held).join(lock)).unwrap();
    }
    for (by_copying, from, to) in [(false, "g", "h"), (true, "h", "i")] {
        MoveTo::new().by_copying(by_copying).folder(root.join(from), root.join(to)).unwrap();
        let left: Vec<String> = all(&root).into_keys().filter(|path| path.contains(".tdb-")).collect();
        assert_eq!(left, [""; 0], "by copying {by_copying}");
        assert!(Array::open(root.join(to).join("inner/b")).is_ok());
    }
    assert!(root.join("h/no-member").exists(), "an array without membership was removed");
    Remove::new().recursive(true).plan_folder(root.join("i")).unwrap().run().unwrap();
    assert!(!root.join("i/a").exists() && root.join("i/no-member").exists());
}

/// An unreadable group is moved and reported, because its members are unknown.
#[test]
fn unreadable_groups_are_reported() {
    for by_copying in [false, true] {
        let (_folder, root) = place();
        Group::create(root.join("g")).unwrap();
        Group::create(root.join("g/inner")).unwrap();
        std::fs::write(root.join("g/inner/__group/__1_1_0123456789abcdef0123456789abcdef_2"), "damaged").unwrap();
        assert_eq!(CopyTo::new().folder(root.join("g"), root.join("c")).unwrap().unread, ["inner"]);
        let moved = MoveTo::new().by_copying(by_copying).folder(root.join("g"), root.join("h")).unwrap();
        assert_eq!(moved.unread, ["inner"]);
        assert!(root.join("h/inner/__group/__1_1_0123456789abcdef0123456789abcdef_2").exists());
    }
}

/// Journals outside of arrays have no meaning.
#[test]
fn journals_outside_of_arrays_block_nothing() {
    for by_copying in [false, true] {
        let (_folder, root) = place();
        Group::create(root.join("g")).unwrap();
        std::fs::write(root.join("g/.tdb-journal-1.tmp"), "mine").unwrap();
        MoveTo::new().by_copying(by_copying).folder(root.join("g"), root.join("h")).unwrap();
        assert!(Group::open(root.join("h")).is_ok());
    }
}
