//! A fixture in memory, which is damaged and restored.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};

use crate::classes::{self, Class};
use crate::damage::Damage;
use crate::seen::Seen;

/// A fixture, with digests of its contents.
#[derive(Debug)]
pub struct Subject {
    name: &'static str,
    key: Option<[u8; 32]>,
    storage: Arc<MemoryStorage>,
    files: Vec<(String, Vec<u8>)>,
    seen: Seen,
    /// Facts about an array. `None` for a group.
    array: Option<ArrayFacts>,
}

/// The times at which to read an array, and the class of each data file.
#[derive(Debug)]
struct ArrayFacts {
    times: Vec<u64>,
    classes: BTreeMap<String, Class>,
}

/// Returns all fixtures that tdb can read completely: first arrays, then groups.
#[must_use]
pub fn all() -> Vec<Subject> {
    let arrays = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    let groups = fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases());
    let arrays = arrays.filter_map(|fixture| Subject::of_array(&fixture));
    arrays.chain(groups.filter_map(|fixture| Subject::of_group(&fixture))).collect()
}

impl Subject {
    fn of_array(fixture: &Fixture) -> Option<Self> {
        let key = fixture.expected().key();
        let storage = fixture.array_storage();
        let shared: Arc<dyn Storage> = storage.clone();
        let files = fixture.array_files().map(|path| (path.to_owned(), fixture.read(path))).collect();
        let (times, classes) = classes::of(&shared, key)?;
        let seen = Seen::of_array(&shared, key, &times);
        let is_read = seen.cells.is_some() && seen.statistics.is_some() && seen.structure.is_some();
        let array = Some(ArrayFacts { times, classes });
        is_read.then_some(Self { name: fixture.name(), key, storage, files, seen, array })
    }

    fn of_group(fixture: &Fixture) -> Option<Self> {
        let key = fixture.expected_group().key();
        let storage = fixture.group_storage();
        let shared: Arc<dyn Storage> = storage.clone();
        let files = fixture.group_files().map(|path| (path.to_owned(), fixture.read_group(path))).collect();
        let seen = Seen::of_group(&shared, key);
        seen.cells.is_some().then_some(Self { name: fixture.name(), key, storage, files, seen, array: None })
    }

    /// Returns the name of the fixture.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// `true` for a group, `false` for an array.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.array.is_none()
    }

    /// Returns the encryption key, or `None` if the fixture is not encrypted.
    #[must_use]
    pub fn key(&self) -> Option<[u8; 32]> {
        self.key
    }

    /// Returns the files with their paths.
    #[must_use]
    pub fn files(&self) -> &[(String, Vec<u8>)] {
        &self.files
    }

    /// Returns the times at which to read an array, as ends of time ranges.
    #[must_use]
    pub fn times(&self) -> &[u64] {
        self.array.as_ref().map_or(&[], |array| &array.times)
    }

    /// Returns the storage with the files.
    #[must_use]
    pub fn storage(&self) -> Arc<dyn Storage> {
        self.storage.clone()
    }

    /// Damages the fixture, runs `act`, and restores the fixture.
    ///
    /// # Panics
    /// Panics if the damage is that of another fixture.
    pub fn while_damaged<T>(&self, damage: &Damage, act: impl FnOnce() -> T) -> T {
        for (path, bytes) in &damage.files {
            match bytes {
                Some(bytes) => self.storage.insert(path, bytes.clone()).expect("a file in memory"),
                None => self.storage.remove_file(path).expect("a file in memory"),
            }
        }
        if damage.is_folder {
            self.storage.remove_folder(&damage.path).expect("a folder in memory");
        }
        let done = act();
        for (path, _) in &damage.files {
            let sound = self.files.iter().find(|file| file.0 == *path).expect("a file of the fixture");
            self.storage.insert(path, sound.1.clone()).expect("a file in memory");
        }
        done
    }

    /// Returns the digests of the undamaged fixture.
    #[must_use]
    pub fn sound(&self) -> &Seen {
        &self.seen
    }

    /// Returns the digests of the current files.
    #[must_use]
    pub fn now(&self) -> Seen {
        match &self.array {
            Some(array) => Seen::of_array(&self.storage(), self.key, &array.times),
            None => Seen::of_group(&self.storage(), self.key),
        }
    }

    /// Returns the class of a damage, given the digests of the damaged fixture.
    #[must_use]
    pub fn class(&self, damage: &Damage, now: &Seen) -> Class {
        let Some(array) = &self.array else { return self.class_of_group(now) };
        let path = damage.path.as_str();
        if *now == self.seen {
            Class::Nothing
        } else if now.cells.is_none() {
            Class::CellsLost
        } else if now.cells != self.seen.cells {
            array.classes.get(path).copied().unwrap_or_else(|| classes::of_path(path))
        } else if now.statistics != self.seen.statistics && !classes::is_commit(path) {
            Class::Statistics
        } else if now.structure.is_none() {
            Class::StructureLost
        } else {
            classes::structure_of_path(path)
        }
    }

    fn class_of_group(&self, now: &Seen) -> Class {
        match () {
            () if *now == self.seen => Class::Nothing,
            () if now.cells.is_none() => Class::GroupLost,
            () if now.cells != self.seen.cells => Class::Members,
            () => Class::GroupMetadata,
        }
    }
}
