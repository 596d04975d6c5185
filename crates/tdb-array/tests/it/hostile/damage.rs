//! Fixtures in memory, and ways to damage a file.

use std::fmt;
use std::sync::Arc;

use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::files_of;
use tdb_testkit::fixtures::Fixture;
use tdb_testkit::hostile::SplitMix64;

/// The files of a fixture, of which one may be damaged.
pub struct Tree {
    name: String,
    files: Vec<(String, Arc<[u8]>)>,
    storage: MemoryStorage,
    /// Encryption key, if any.
    key: Option<[u8; 32]>,
    /// `true` for a group with its members.
    is_group: bool,
}

impl Tree {
    /// Loads a group with its members.
    pub fn of_group(fixture: &Fixture) -> Self {
        let files = fixture.group_files().map(|path| (path.to_owned(), fixture.read_group(path)));
        Self { is_group: true, key: fixture.expected_group().key(), ..Self::new(fixture.name(), files.collect()) }
    }

    pub fn of(fixture: &Fixture) -> Self {
        let files = fixture.array_files().map(|path| (path.to_owned(), fixture.read(path)));
        Self { key: fixture.expected().key(), ..Self::new(fixture.name(), files.collect()) }
    }

    pub fn new(name: &str, files: Vec<(String, Vec<u8>)>) -> Self {
        let tree = Self {
            name: name.to_owned(),
            files: Vec::new(),
            storage: MemoryStorage::new(),
            key: None,
            is_group: false,
        };
        files.into_iter().fold(tree, |tree, (path, bytes)| tree.with(&path, bytes))
    }

    /// Returns the fixture with an additional file.
    pub fn with(mut self, path: &str, bytes: Vec<u8>) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        self.storage.insert(path, Arc::clone(&bytes)).unwrap();
        self.files.push((path.to_owned(), bytes));
        self
    }

    /// Returns the same files under other paths.
    pub fn renamed(&self, name: &str, rename: impl Fn(&str) -> String) -> Self {
        Self::new(name, self.files.iter().map(|(path, bytes)| (rename(path), bytes.to_vec())).collect())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Marks the files as a group.
    pub fn into_group(self) -> Self {
        Self { is_group: true, ..self }
    }

    pub fn is_group(&self) -> bool {
        self.is_group
    }

    pub fn key(&self) -> Option<[u8; 32]> {
        self.key
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    pub fn bytes(&self, path: &str) -> Arc<[u8]> {
        self.find(path).unwrap()
    }

    fn find(&self, path: &str) -> Option<Arc<[u8]>> {
        self.files.iter().find(|(name, _)| name == path).map(|(_, bytes)| Arc::clone(bytes))
    }

    /// Restores the original file, or removes an additional file.
    pub fn repair(&self, path: &str) {
        match self.find(path) {
            Some(sound) => self.put(path, sound),
            None => self.storage.remove_file(path).unwrap(),
        }
    }

    pub fn size(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(self.storage.clone())
    }

    pub fn put(&self, path: &str, bytes: impl Into<Arc<[u8]>>) {
        self.storage.insert(path, bytes).unwrap();
    }

    /// `true` if the storage holds the fixture's files and nothing else.
    pub fn is_unchanged(&self) -> bool {
        let found = files_of(&self.storage);
        found.len() == self.files.len()
            && self.files.iter().all(|(path, bytes)| found.get(path).is_some_and(|read| read[..] == **bytes))
    }
}

/// A way to damage a file.
#[derive(Clone, Copy, Debug)]
pub enum Damage {
    /// Truncates the file to this length.
    Cut(usize),
    /// Sets the byte at a position.
    Byte(usize, u8),
    /// Overwrites up to eight bytes at a position with a number.
    Number(usize, u64),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut(len) => write!(f, "cut to {len} bytes"),
            Self::Byte(at, value) => write!(f, "byte {at} set to {value:#04x}"),
            Self::Number(at, value) => write!(f, "number at {at} set to {value:#x}"),
        }
    }
}

impl Damage {
    /// Returns every truncation, and several wrong values for every byte.
    pub fn all(bytes: &[u8]) -> Vec<Self> {
        let cuts = (0..bytes.len()).map(Self::Cut);
        let changes = bytes.iter().enumerate().flat_map(|(at, &byte)| {
            let mut values = vec![0x00, 0xff, 0x7f, byte.wrapping_add(1), byte.wrapping_sub(1), byte ^ 0x80];
            values.sort_unstable();
            values.dedup();
            values.into_iter().filter(move |value| *value != byte).map(move |value| Self::Byte(at, value))
        });
        cuts.chain(changes).collect()
    }

    /// Returns a deterministic sample of `count` damages. Includes the end of the file, where
    /// footers are stored.
    pub fn sample(bytes: &[u8], count: usize, seed: usize) -> Vec<Self> {
        let len = bytes.len();
        if len == 0 {
            return Vec::new();
        }
        let mut rng = SplitMix64::new(seed as u64);
        let one = |index: usize| {
            let end = if rng.below(2) == 0 { len } else { len.min(400) };
            let at = len - 1 - rng.below(end);
            match index % 4 {
                0 => Self::Cut(at),
                1 => Self::Number(at, 1 << rng.below(64)),
                2 => Self::Byte(at, bytes[at] ^ 1 << rng.below(8)),
                _ => Self::Byte(at, bytes[at].wrapping_add(1 + rng.below(255) as u8)),
            }
        };
        (0..count).map(one).collect()
    }

    pub fn apply(self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        match self {
            Self::Cut(len) => damaged.truncate(len),
            Self::Byte(at, value) => damaged[at] = value,
            Self::Number(at, value) => {
                damaged.iter_mut().skip(at).zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
            }
        }
        damaged
    }
}
