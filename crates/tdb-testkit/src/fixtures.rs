//! The committed arrays in `fixtures/`: small arrays written by real releases of the reference library, each with
//! what the newest release reads from it. `docs/fixtures.md` tells how they are made.
//!
//! ```no_run
//! for fixture in tdb_testkit::fixtures::all() {
//!     let array = fixture.array_dir();
//!     for query in fixture.expected().queries {
//!         for column in &query.columns {
//!             let bytes = column.to_bytes();
//!             // read the same from `array`, and compare
//!         }
//!     }
//! }
//! ```
//!
//! All functions panic on a missing or malformed file: in a test that is the wanted end.

mod bytes;
mod expected;
mod filter_cases;
mod manifest;

pub use bytes::ColumnBytes;
pub use expected::{Column, DimensionRanges, Expected, ExpectedGroup, Fragment, GroupMember, Metadata, Order, Query};
pub use filter_cases::{FilterCase, filter_cases};
pub use manifest::{Contents, Entry, Manifest, paths_below};

use std::fs;
use std::path::{Path, PathBuf};

/// The file in `fixtures/` that lists every fixture.
pub const MANIFEST: &str = "MANIFEST.json";

/// The workspace's `fixtures/` folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// What `fixtures/MANIFEST.json` says.
pub fn manifest() -> Manifest {
    read_json(&root().join(MANIFEST))
}

/// The release of the reference library that wrote the fixtures of [`all`] and [`groups`].
pub const NEWEST: &str = "2.30.0";

/// In place of a release where this workspace's serialisers gave a fixture its version, 1 or 23, which no release writes.
pub const OURS: &str = "tdb";

/// Every array that the [newest](NEWEST) release wrote, in the order of their names.
pub fn all() -> Vec<Fixture> {
    with_file("expected.json").into_iter().filter(|fixture| fixture.entry.writer == NEWEST).collect()
}

/// Every array that an older release wrote, and those of the versions that [none](OURS) writes, in the order of their names.
pub fn of_older_releases() -> Vec<Fixture> {
    with_file("expected.json").into_iter().filter(|fixture| fixture.entry.writer != NEWEST).collect()
}

/// Every group that the [newest](NEWEST) release wrote, in the order of their names.
pub fn groups() -> Vec<Fixture> {
    with_file("group.json").into_iter().filter(|fixture| fixture.entry.writer == NEWEST).collect()
}

/// Every group that an older release wrote, in the order of their names.
pub fn groups_of_older_releases() -> Vec<Fixture> {
    with_file("group.json").into_iter().filter(|fixture| fixture.entry.writer != NEWEST).collect()
}

fn with_file(file: &str) -> Vec<Fixture> {
    let fixtures = manifest().fixtures.into_iter().filter(|(name, _)| root().join(name).join(file).is_file());
    fixtures.map(|(name, entry)| Fixture::new(name, entry)).collect()
}

/// The fixture of that name.
///
/// # Panics
///
/// If the manifest doesn't list it.
pub fn named(name: &str) -> Fixture {
    let entry =
        manifest().fixtures.remove(name).unwrap_or_else(|| panic!("no fixture {name:?} in fixtures/{MANIFEST}"));
    Fixture::new(name.to_owned(), entry)
}

/// One array or group written by a release of the reference library.
#[derive(Debug, Clone)]
pub struct Fixture {
    name: String,
    entry: Entry,
    files: Vec<String>,
}

impl Fixture {
    fn new(name: String, entry: Entry) -> Self {
        let folder = root().join(&name);
        let files = paths_below(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        Self { name, entry, files }
    }

    /// The fixture's name and the name of its folder, such as `v22-by-2.30.0-sparse-strings`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The manifest's entry: who wrote the fixture, and by which recipe.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The fixture's folder.
    pub fn dir(&self) -> PathBuf {
        root().join(&self.name)
    }

    /// The folder of the array.
    ///
    /// Folders of the array that were empty when it was written are absent: git keeps no empty folders.
    pub fn array_dir(&self) -> PathBuf {
        self.dir().join("array")
    }

    /// The files of the array, as paths relative to the array's folder, sorted.
    pub fn array_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|path| path.strip_prefix("array/"))
    }

    /// The bytes of a file of the array.
    pub fn read(&self, path: &str) -> Vec<u8> {
        let path = self.array_dir().join(path);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// What the reference library reads from the array.
    pub fn expected(&self) -> Expected {
        read_json(&self.dir().join("expected.json"))
    }

    /// The folder of the group.
    pub fn group_dir(&self) -> PathBuf {
        self.dir().join("group")
    }

    /// The files of the group and of all below it, as paths relative to the group's folder, sorted.
    pub fn group_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter_map(|path| path.strip_prefix("group/"))
    }

    /// What the reference library tells of the group.
    pub fn expected_group(&self) -> ExpectedGroup {
        read_json(&self.dir().join("group.json"))
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
