//! The committed arrays in `fixtures/`. Real releases of the reference library wrote these small
//! arrays. Each fixture includes the results that the newest release reads. `docs/internals/fixtures.md`
//! describes the recipes and the storage of fixtures.
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
//! Functions without a `Result` panic on a missing or malformed file, to fail the test.

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

/// The file in `fixtures/` that lists all fixtures.
pub const MANIFEST: &str = "MANIFEST.json";

/// Returns the `fixtures/` folder of the workspace, or of the program's folder if the workspace is
/// missing. OSS-Fuzz runs the fuzz targets without the workspace.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    match std::env::current_exe() {
        Ok(program) if !root.is_dir() => program.with_file_name("fixtures"),
        _ => root,
    }
}

/// Returns the contents of `fixtures/MANIFEST.json`, read once per process.
pub fn manifest() -> &'static Manifest {
    static READ: OnceLock<Manifest> = OnceLock::new();
    READ.get_or_init(|| Manifest::load().unwrap_or_else(|error| panic!("fixtures/{MANIFEST}: {error}")))
}

/// The release of the reference library that wrote the fixtures of [`all`] and [`groups`].
pub const NEWEST: &str = "2.30.0";

/// The writer of fixtures of versions 1 and 23, which no release writes. The serializers of this
/// workspace wrote them.
pub const OURS: &str = "tdb";

/// Returns all arrays that the [newest](NEWEST) release wrote, sorted by name.
pub fn all() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Array && entry.writer == NEWEST)
}

/// Returns all remaining arrays, sorted by name: arrays of older releases, and arrays [written by
/// this workspace](OURS).
pub fn of_older_releases() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Array && entry.writer != NEWEST)
}

/// Returns all groups that the [newest](NEWEST) release wrote, sorted by name.
pub fn groups() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Group && entry.writer == NEWEST)
}

/// Returns all groups that an older release wrote, sorted by name.
pub fn groups_of_older_releases() -> Vec<Fixture> {
    those(|entry| entry.kind == Kind::Group && entry.writer != NEWEST)
}

fn those(is_wanted: impl Fn(&Entry) -> bool) -> Vec<Fixture> {
    Fixture::every().filter(|fixture| is_wanted(fixture.entry())).collect()
}

/// Returns the fixture with this name.
///
/// # Panics
///
/// If the manifest does not list it.
pub fn named(name: &str) -> Fixture {
    find(name).unwrap_or_else(|| panic!("no fixture {name:?} in fixtures/{MANIFEST}"))
}

/// Returns the fixture with this name, or `None` if the manifest does not list it.
pub fn find(name: &str) -> Option<Fixture> {
    Fixture::find(name)
}
