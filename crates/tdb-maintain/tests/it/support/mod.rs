//! Helpers for tests of maintenance: arrays and groups of fixtures, and everything that readers
//! see.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // test helpers, not all used by every test

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{Array, ArrayError, ArrayOptions, Group, GroupOptions, TimeRange};
use tdb_storage::{MemoryStorage, Result, Storage, forward_storage};
pub use tdb_testkit::files_of as files;
use tdb_testkit::fixtures::Fixture;
use tdb_types::TimestampedName;

/// A storage with URIs, like a local folder, for old formats.
#[derive(Clone, Debug)]
pub struct Placed(pub Arc<dyn Storage>);

impl Storage for Placed {
    forward_storage!(|this| this.0 => list, open, open_sized, profile, fetch_one, fetch, kind, describe, create_folder);
    forward_storage!(|this| this.0 => create_new, create_file, sync_folder, remove_file, remove_folder);

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self(self.0.sub(folder)?)))
    }

    fn uri(&self, path: &str) -> Option<String> {
        Some(format!("file:///arrays/array/{path}"))
    }
}

pub type Files = BTreeMap<String, Vec<u8>>;

/// Returns a storage with these files.
pub fn on(files: &Files) -> Arc<dyn Storage> {
    let storage = MemoryStorage::new();
    for (path, bytes) in files {
        storage.insert(path, bytes.clone()).unwrap();
    }
    Arc::new(Placed(Arc::new(storage)))
}

/// Unpacks a fixture's array to a path.
pub fn unpack(fixture: &str, path: &Path) {
    let staging = tempfile::tempdir_in(path.parent().unwrap()).unwrap();
    tdb_testkit::fixtures::named(fixture).unpack_into(staging.path());
    std::fs::rename(staging.path().join("array"), path).unwrap();
}

/// Opens all times of an array.
pub fn open(storage: &Arc<dyn Storage>) -> Array {
    try_open(storage).unwrap()
}

pub fn try_open(storage: &Arc<dyn Storage>) -> Result<Array, ArrayError> {
    ArrayOptions::new().between(TimeRange::ALL).threads(1).open_on(storage.clone())
}

/// Copies a fragment under another name.
pub fn copy_fragment(storage: &dyn Storage, folder: &str, time: u64, version: u32) {
    let name = format!("__{time}_{time}_{time:032x}_{version}");
    storage.create_folder(&format!("__fragments/{name}")).unwrap();
    for entry in storage.list(folder).unwrap() {
        let bytes = storage.read(&format!("{folder}/{}", entry.name)).unwrap();
        storage.create_new(&format!("__fragments/{name}/{}", entry.name), &bytes).unwrap();
    }
    storage.create_new(&format!("__commits/{name}.wrt"), b"").unwrap();
}

/// A copy of a fixture's array or group.
pub struct Case {
    pub name: String,
    pub storage: Arc<dyn Storage>,
    key: Option<EncryptionKey>,
}

impl Case {
    pub fn of(fixture: &Fixture) -> Self {
        let key = fixture.expected().key().map(EncryptionKey::new);
        Self { name: fixture.name().to_owned(), storage: Arc::new(Placed(fixture.array_storage())), key }
    }

    pub fn named(name: &str) -> Self {
        Self::of(&tdb_testkit::fixtures::named(name))
    }

    pub fn on(storage: Arc<dyn Storage>) -> Self {
        Self { name: String::new(), storage, key: None }
    }

    /// Returns the case on another storage, which holds its remaining files.
    pub fn with_storage(&self, storage: Arc<dyn Storage>) -> Self {
        Self { name: self.name.clone(), storage, key: self.key.clone() }
    }

    pub fn key(&self) -> Option<&EncryptionKey> {
        self.key.as_ref()
    }

    fn options(&self, time: TimeRange) -> ArrayOptions {
        ArrayOptions::new().threads(1).between(time).key(self.key.clone())
    }

    pub fn array(&self) -> Array {
        self.at(TimeRange::ALL).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub fn at(&self, time: TimeRange) -> Result<Array, ArrayError> {
        self.options(time).open_on(self.storage.clone())
    }

    /// Describes everything that a reader of a time range sees.
    pub fn seen(&self, time: TimeRange) -> String {
        let array = match self.at(time) {
            Ok(array) => array,
            Err(error) => return error.to_string(),
        };
        let mut text = format!("{} {:?}", array.schema_path(), array.directory().deletes);
        let cells = || -> tdb_array::Result<String> {
            let mut text = String::new();
            for fragment in array.fragments()? {
                write!(text, " {} {:?}", fragment.name(), fragment.non_empty_domain()).unwrap();
            }
            write!(text, " {:?}", array.metadata()?).unwrap();
            for batch in array.read().batches()? {
                write!(text, " {:?}", batch?).unwrap();
            }
            Ok(text)
        };
        match cells() {
            Ok(cells) => text.push_str(&cells),
            Err(error) => text.push_str(&error.to_string()),
        }
        text
    }

    /// Describes the array up to each relevant time and from each relevant time on.
    pub fn history(&self) -> BTreeMap<(u64, u64), String> {
        let mut all = BTreeMap::new();
        for time in times(&*self.storage) {
            for range in [TimeRange::until(time), TimeRange { start: time, end: u64::MAX }] {
                all.insert((range.start, range.end), self.seen(range));
            }
        }
        all
    }

    pub fn files(&self) -> Files {
        files(&*self.storage)
    }
}

/// Describes a group up to each relevant time and from each relevant time on.
pub fn group_history(storage: &Arc<dyn Storage>, key: Option<&EncryptionKey>) -> BTreeMap<(u64, u64), String> {
    let mut all = BTreeMap::new();
    for time in times(&**storage) {
        for range in [TimeRange::until(time), TimeRange { start: time, end: u64::MAX }] {
            let group = GroupOptions::new().between(range).key(key.cloned()).open_on(storage.clone()).unwrap();
            all.insert((range.start, range.end), format!("{:?} {:?}", group.members(), group.metadata().unwrap()));
        }
    }
    all
}

pub fn open_group(storage: &Arc<dyn Storage>) -> Group {
    GroupOptions::new().between(TimeRange::ALL).open_on(storage.clone()).unwrap()
}

/// Returns the differences of two histories, except at times that a vacuum has reported as lost.
pub fn differences(
    before: &BTreeMap<(u64, u64), String>,
    after: &BTreeMap<(u64, u64), String>,
    past: &[TimeRange],
) -> Vec<String> {
    let is_lost = |(start, end): (u64, u64)| {
        past.iter().any(|lost| match start {
            0 => lost.contains(end, end),
            // A reader that starts within the consolidated range misses all of it.
            _ => lost.start < start && start <= lost.end.saturating_add(1),
        })
    };
    let wanted = before.iter().filter(|(time, _)| !is_lost(**time));
    let differing = wanted.filter(|(time, seen)| after.get(time).is_some_and(|other| other != *seen));
    differing.map(|(time, seen)| format!("{time:?}: {seen}\nnow {}", after[time])).collect()
}

/// Returns each millisecond of a write, the adjacent ones, and the maximum.
pub fn times(storage: &dyn Storage) -> BTreeSet<u64> {
    let names = files(storage).into_keys().flat_map(|path| path.split('/').map(str::to_owned).collect::<Vec<_>>());
    let names = names.filter(|name| !name.ends_with(".con") && !name.ends_with(".ign") && !name.ends_with(".meta"));
    let names = names.filter_map(|name| TimestampedName::parse(&name));
    let times = names.flat_map(|name| [name.start().saturating_sub(1), name.start(), name.end(), name.end() + 1]);
    times.filter(|time| *time > 0).chain([u64::MAX]).collect()
}
