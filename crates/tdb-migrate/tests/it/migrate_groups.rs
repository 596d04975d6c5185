//! Groups are migrated atomically with all their arrays.

use crate::migrate::difference;
use crate::support::{self, unpack};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{Array, ArrayOptions, CreateOptions, Group, GroupOptions, MemberPlace, TimeRange};
use tdb_job::MaintainError;
use tdb_migrate::Migrate;
use tdb_storage::{LocalStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::FormatVersion;

fn version(number: u32) -> FormatVersion {
    FormatVersion::new(number).unwrap()
}

fn group_at(folder: &Path, key: Option<&EncryptionKey>, time: TimeRange) -> Group {
    GroupOptions::new().between(time).key(key.cloned()).open(folder).unwrap()
}

/// Describes a group at each time: members by kind and name, and metadata.
fn history(folder: &Path, key: Option<&EncryptionKey>, times: &BTreeSet<u64>) -> Vec<String> {
    let at = |time: &u64| {
        let group = group_at(folder, key, TimeRange::until(*time));
        let members: Vec<_> = group.members().iter().map(|member| (member.kind, member.name.clone())).collect();
        format!("{time} {members:?} {:?}", group.metadata().unwrap())
    };
    times.iter().map(at).collect()
}

#[test]
fn groups_of_all_releases() {
    let all: Vec<_> = fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases()).collect();
    assert!(all.len() > 8, "{}", all.len());
    let other = EncryptionKey::new([3; 32]);
    for fixture in all {
        let folder = tempfile::tempdir().unwrap();
        fixture.unpack_into(folder.path());
        let from = folder.path().join("group");
        let key =
            fixture.name().contains("encrypted").then(|| EncryptionKey::new(*b"0123456789abcdef0123456789ABCDEF"));
        let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(&from));
        let times = support::times(&*storage);
        let before = history(&from, key.as_ref(), &times);
        let group = group_at(&from, key.as_ref(), TimeRange::ALL);
        for to in [None, Some(5), Some(12), Some(17), Some(18), Some(22)] {
            for new_key in [None, Some(&other), key.as_ref()] {
                let context = format!("{} to {to:?}", fixture.name());
                let migrate = to.map_or(Migrate::new(), |to| Migrate::new().to(version(to)));
                let plan = match migrate.plan_group(&group, key.as_ref()) {
                    Ok(plan) => plan,
                    // String dimensions and similar obstacles.
                    Err(MaintainError::CannotMigrateMembers { .. }) if to == Some(5) => continue,
                    Err(error) => panic!("{context}: {error}"),
                };
                let new = folder.path().join("new");
                plan.into_folder(&new, new_key).unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!(history(&new, new_key, &times), before, "{context}");
                // Releases of formats 12 to 17 support only complete lists, whose file names have
                // no version.
                let lists = || std::fs::read_dir(new.join("__group")).into_iter().flatten();
                let is_change = |name: String| name.ends_with("_2");
                if matches!(to, Some(12 | 17)) {
                    assert!(!lists().any(|entry| is_change(entry.unwrap().file_name().into_string().unwrap())));
                }
                std::fs::remove_dir_all(&new).unwrap();
            }
        }
    }
}

/// A group with members of all kinds: an array, a nested group with an old array, an external and a
/// missing member. The folder also has an array without membership and a foreign file.
struct Nested {
    folder: tempfile::TempDir,
}

impl Nested {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let it = Self { folder };
        Group::create(it.root()).unwrap();
        Group::create(it.root().join("sub")).unwrap();
        for (name, place) in [
            ("v22-by-2.30.0-sparse-2d", "group/a"),
            ("v4-by-1.7.7-dense", "group/sub/b"),
            ("v22-by-2.30.0-dense-labels", "elsewhere"),
            ("v4-by-1.7.7-sparse", "group/no-member"),
            ("v4-by-1.7.7-sparse", "group/gone"),
        ] {
            unpack(name, &it.at(place));
        }
        std::fs::write(it.root().join("notes.txt"), "of somebody").unwrap();
        let elsewhere = it.folder.path().canonicalize().unwrap().join("elsewhere");
        let whole = it.folder.path().canonicalize().unwrap().join("group/sub/b");
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        Group::open(it.root().join("sub")).unwrap().change().add("b", true, None).commit().unwrap();
        let change = Group::open(it.root()).unwrap().change().add("a", true, Some("first")).add("sub", true, None);
        let change = change.add(text(&elsewhere), false, Some("far")).add("gone", true, None);
        change.add(text(&whole), false, Some("whole")).commit().unwrap();
        std::fs::remove_dir_all(it.root().join("gone")).unwrap();
        it
    }

    fn root(&self) -> PathBuf {
        self.at("group")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Returns all files below a path.
    fn files(&self, path: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
        support::files(&LocalStorage::new(self.at(path)))
    }
}

fn assert_same_cells(a: &Path, b: &Path, key: Option<&EncryptionKey>) {
    let options = ArrayOptions::new().key(key.cloned());
    let (a, b) = (Array::open(a).unwrap(), options.open(b).unwrap());
    assert_eq!(difference(&a, &b), None);
}

#[test]
fn all_contents_of_a_group_are_migrated() {
    let nested = Nested::new();
    let group = Group::open(nested.root()).unwrap();
    let plan = Migrate::new().to(version(21)).plan_group(&group, None).unwrap();
    assert_eq!(plan.arrays().map(|(path, _)| path).collect::<Vec<_>>(), ["a", "sub/b"]);
    assert_eq!(plan.groups().collect::<Vec<_>>(), ["", "sub"]);
    assert_eq!(plan.unchanged().len(), 2, "{:?}", plan.unchanged());
    let before = nested.files("group");
    let key = EncryptionKey::new([9; 32]);
    for key in [None, Some(&key)] {
        let new = nested.at("new");
        let report = plan.into_folder(&new, key).unwrap();
        assert_eq!((report.arrays.len(), report.groups), (2, 2));
        let options = ArrayOptions::new().key(key.cloned());
        for path in ["a", "sub/b"] {
            let array = options.open(new.join(path)).unwrap();
            assert_eq!(array.schema().version(), version(21));
            assert_same_cells(&nested.root().join(path), &new.join(path), key);
        }
        let new_group = group_at(&new, key, TimeRange::ALL);
        let place = |name: &str| new_group.member(name).unwrap().place.clone();
        // Members inside of the old group's folder are inside of the new one.
        assert_eq!(place("whole"), MemberPlace::Inside("sub/b".to_owned()));
        assert!(new_group.member("whole").unwrap().relative && new_group.member("first").unwrap().relative);
        assert!(matches!(place("far"), MemberPlace::Outside(_)));
        assert_eq!(std::fs::read(new.join("notes.txt")).unwrap(), b"of somebody");
        // Arrays without membership are unchanged.
        assert_eq!(nested.files("new/no-member"), nested.files("group/no-member"));
        if key.is_some() {
            assert!(Group::open(&new).is_err() && Group::open(new.join("sub")).is_err());
        }
        std::fs::remove_dir_all(new).unwrap();
    }
    assert!(matches!(plan.into_folder(&nested.at("group/inside"), None), Err(MaintainError::Place { .. })));
    assert!(matches!(plan.into_folder(&nested.at("elsewhere"), None), Err(MaintainError::Place { .. })));
    assert_eq!(nested.files("group"), before);
}

#[test]
fn in_place() {
    let nested = Nested::new();
    let group = Group::open(nested.root()).unwrap();
    let before = nested.files("group");
    let names = || -> BTreeSet<String> {
        let entries = std::fs::read_dir(nested.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let listed = names();
    let plan = Migrate::new().to(version(21)).plan_group(&group, None).unwrap();
    // A job holds the lock of an array in the group.
    std::fs::write(nested.at("group/sub/b/.tdb-maintain.tmp"), "process 1\non elsewhere\n").unwrap();
    assert!(matches!(plan.in_place(&nested.root(), None, false), Err(MaintainError::Busy { .. })));
    std::fs::remove_file(nested.at("group/sub/b/.tdb-maintain.tmp")).unwrap();
    // A file is added.
    std::fs::write(nested.at("group/more.txt"), "").unwrap();
    assert!(matches!(plan.in_place(&nested.root(), None, false), Err(MaintainError::Conflict { .. })));
    std::fs::remove_file(nested.at("group/more.txt")).unwrap();
    assert_eq!((nested.files("group"), names()), (before.clone(), listed.clone()));
    plan.in_place(&nested.root(), None, false).unwrap();
    assert_eq!(nested.files("group.before-migration"), before);
    assert_eq!(names().difference(&listed).collect::<Vec<_>>(), ["group.before-migration"]);
    for path in ["a", "sub/b"] {
        assert_eq!(Array::open(nested.root().join(path)).unwrap().schema().version(), version(21));
        assert_same_cells(&nested.at("group.before-migration").join(path), &nested.root().join(path), None);
    }
    // Absolute members stay absolute.
    assert_eq!(Group::open(nested.root()).unwrap().members(), group.members());
    assert_eq!(nested.files("group/__group"), nested.files("group.before-migration/__group"));
    // Repeats the migration and removes the old group.
    std::fs::remove_dir_all(nested.at("group.before-migration")).unwrap();
    let group = Group::open(nested.root()).unwrap();
    let plan = Migrate::new().plan_group(&group, None).unwrap();
    plan.in_place(&nested.root(), None, true).unwrap();
    // Files without membership also remain in the old folder.
    let left = |path: &str| nested.files("group.before-migration").keys().all(|file| !file.starts_with(path));
    assert!(left("a/") && left("sub/") && left("__group/"));
    assert!(nested.at("group.before-migration/notes.txt").exists() && nested.at("group/notes.txt").exists());
    std::fs::remove_dir_all(nested.at("group.before-migration")).unwrap();
    assert_eq!(names(), listed);
}

/// Obstacles in all arrays are reported before any file is written.
#[test]
fn refusals_name_the_arrays() {
    let nested = Nested::new();
    for name in ["enumerations", "other"] {
        unpack("v22-by-2.30.0-dense-enumerations", &nested.root().join(name));
        Group::open(nested.root()).unwrap().change().add(name, true, None).commit().unwrap();
    }
    let before = nested.files("");
    let group = Group::open(nested.root()).unwrap();
    let error = Migrate::new().to(version(9)).plan_group(&group, None).unwrap_err();
    let MaintainError::CannotMigrateMembers { against, .. } = &error else { panic!("{error}") };
    assert_eq!(against.len(), 2);
    let text = error.to_string();
    assert!(
        text.contains("group/enumerations") && text.contains("group/other") && !text.contains("group/sub"),
        "{text}"
    );
    assert_eq!(nested.files(""), before);
    // The key does not fit.
    assert!(Migrate::new().plan_group(&group, Some(&EncryptionKey::new([1; 32]))).is_err());
}

/// A group from before release 2.8 has implicit members, which are listed for later releases.
#[test]
fn groups_without_a_list() {
    let nested = Nested::new();
    for folder in ["group/__group", "group/sub/__group", "group/__meta", "group/sub/__meta"] {
        std::fs::remove_dir_all(nested.at(folder)).unwrap();
    }
    let old = Group::open(nested.root()).unwrap();
    assert!(old.is_legacy());
    assert_eq!(old.members().len(), 3);
    for (to, is_list) in [(12, true), (22, false)] {
        let new = nested.at("new");
        Migrate::new().to(version(to)).plan_group(&old, None).unwrap().into_folder(&new, None).unwrap();
        for time in [TimeRange::ALL, TimeRange::until(1_400_000_000_000)] {
            let group = group_at(&new, None, time);
            assert!(!group.is_legacy());
            let keys = |group: &Group| group.members().iter().map(|one| one.key().to_owned()).collect::<Vec<_>>();
            assert_eq!(keys(&group), keys(&old));
        }
        let list = std::fs::read_dir(new.join("__group")).unwrap().next().unwrap().unwrap().file_name();
        assert_eq!(list.to_str().unwrap().ends_with("_2"), !is_list);
        assert_eq!(Group::open(new.join("sub")).unwrap().members().len(), 1);
        std::fs::remove_dir_all(new).unwrap();
    }
    // The group stays unchanged for releases without lists.
    let new = nested.at("new");
    std::fs::remove_dir_all(nested.at("group/a")).unwrap();
    let old = Group::open(nested.root()).unwrap();
    Migrate::new().to(version(5)).plan_group(&old, None).unwrap().into_folder(&new, None).unwrap();
    assert!(Group::open(&new).unwrap().is_legacy());
    // A group without its marker file gets a new one.
    CreateOptions::new().create_group(nested.at("empty")).unwrap();
    let empty = Group::open(nested.at("empty")).unwrap();
    std::fs::remove_file(nested.at("empty/__tiledb_group.tdb")).unwrap();
    let plan = Migrate::new().to(version(5)).plan_group(&empty, None).unwrap();
    plan.into_folder(&nested.at("marked"), None).unwrap();
    assert!(nested.at("marked/__tiledb_group.tdb").exists());
}
