//! The committed arrays in `fixtures/`: small arrays written by real releases of the reference library, each with
//! what the newest release reads from it. `docs/fixtures.md` says how they are made and kept.
//!
//! ```no_run
//! for fixture in tdb_testkit::fixtures::all() {
//!     let array = fixture.array_storage();
//!     for query in fixture.expected().queries {
//!         for column in &query.columns {
//!             let bytes = column.to_bytes();
//!             // read the same from `array`, and compare
//!         }
//!     }
//! }
//! ```
//!
//! Functions panic on a missing or malformed file, unless they return a `Result`: in a test that is the wanted end.

mod bytes;
mod expected;
mod files;
mod filter_cases;
mod fixture;
mod manifest;
mod pack;
mod place;

pub use bytes::ColumnBytes;
pub use expected::{Column, DimensionRanges, Expected, ExpectedGroup, Fragment, GroupMember, Metadata, Order, Query};
pub use files::{Files, paths_below};
pub use filter_cases::{FilterCase, filter_cases};
pub use fixture::Fixture;
pub use manifest::{Contents, Entry, Kind, Manifest};
pub use place::{Place, problems};

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The file in `fixtures/` that lists every fixture.
pub const MANIFEST: &str = "MANIFEST.json";

/// The workspace's `fixtures/` folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// What `fixtures/MANIFEST.json` says; it is read once.
pub fn manifest() -> &'static Manifest {
    static READ: OnceLock<Manifest> = OnceLock::new();
    READ.get_or_init(|| Manifest::load().unwrap_or_else(|error| panic!("fixtures/{MANIFEST}: {error}")))
}

/// The release of the reference library that wrote the fixtures of [`all`] and [`groups`].
pub const NEWEST: &str = "2.30.0";

/// In place of a release where this workspace's serialisers gave a fixture its version, 1 or 23, which no release writes.
pub const OURS: &str = "tdb";

/// Every array that the [newest](NEWEST) release wrote, in the order of their names.
pub fn all() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Array && entry.writer == NEWEST)
}

/// Every array that an older release wrote, and those of the versions that [none](OURS) writes, in the order of their names.
pub fn of_older_releases() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Array && entry.writer != NEWEST)
}

/// Every group that the [newest](NEWEST) release wrote, in the order of their names.
pub fn groups() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Group && entry.writer == NEWEST)
}

/// Every group that an older release wrote, in the order of their names.
pub fn groups_of_older_releases() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Group && entry.writer != NEWEST)
}

fn those(is_wanted: impl Fn(&Entry) -> bool) -> Vec<Fixture> {
    Fixture::every().filter(|fixture| is_wanted(fixture.entry())).collect()
}

/// The fixture of that name.
///
/// # Panics
///
/// If the manifest doesn't list it.
pub fn named(name: &str) -> Fixture {
    find(name).unwrap_or_else(|| panic!("no fixture {name:?} in fixtures/{MANIFEST}"))
}

/// The fixture of that name, if there is one.
pub fn find(name: &str) -> Option<Fixture> {
    Fixture::find(name)
}
