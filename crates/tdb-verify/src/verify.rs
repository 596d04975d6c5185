//! Verification of arrays and groups: structure, tiles, the order of cells, and all statistics. The
//! statistics are recomputed from the cells.

mod array;
mod boxes;
mod coordinates;
mod field;
mod finding;
mod fragment;
mod lists;
mod manifest;
mod order;
mod place;
mod places;
mod repeats;
mod report;
mod rounds;
mod statistics;
mod tile;
mod unfinished;
mod visible;

use std::path::Path;
use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{ArrayOptions, GroupOptions, Monitor, TimeRange};
use tdb_storage::{LocalStorage, Storage};
use tdb_types::Limits;

pub(crate) use field::facts_of;
pub use finding::{Finding, FindingKind, Severity};
use places::Places;
pub use report::VerifyReport;

use tdb_job::Result;

/// Verification of an array, of a group with its members, or of all arrays and groups below a
/// folder.
///
/// Verification writes no file and continues after each finding. Other processes may write to the
/// array or maintain it at the same time. Files that they replace or delete are not reported, and
/// the replacements are verified.
///
/// ```
/// use tdb_verify::Verify;
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
/// let report = Verify::new().folder(folder)?;
/// assert!(report.is_sound() && report.tiles > 0);
/// for finding in &report.findings {
///     println!("{finding}");
/// }
/// # Ok::<(), tdb_job::MaintainError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until a path is given"]
pub struct Verify {
    array: ArrayOptions,
    group: GroupOptions,
    monitor: Option<Monitor>,
}

impl Verify {
    /// Creates a verification with all threads of the machine and default limits.
    pub fn new() -> Self {
        Self { group: GroupOptions::new().between(TimeRange::ALL), ..Self::default() }
    }

    /// Sets the encryption key.
    pub fn key(mut self, key: impl Into<Option<EncryptionKey>>) -> Self {
        let key = key.into();
        self.array = self.array.key(key.clone());
        self.group = self.group.key(key);
        self
    }

    /// Sets the number of threads, or 0 for all threads of the machine. Each thread holds one tile
    /// of each dimension, or a tile of an attribute.
    pub fn threads(mut self, threads: usize) -> Self {
        self.array = self.array.threads(threads);
        self
    }

    /// Sets the limits on memory allocations that the content of files can cause.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.array = self.array.limits(limits);
        self.group = self.group.limits(limits);
        self
    }

    /// Sets the monitor for cancellation and progress. Progress is the number of bytes read,
    /// compared with the size of the data files of all arrays found so far.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = Some(monitor.clone());
        self
    }

    /// Verifies a local folder.
    ///
    /// # Errors
    /// The folder cannot be listed, the encryption key does not fit the array or group at `path`,
    /// or the verification was canceled. All other problems are [findings](VerifyReport::findings).
    pub fn folder(&self, path: impl AsRef<Path>) -> Result<VerifyReport> {
        let path = path.as_ref();
        let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(path));
        self.run(&storage, Some(path))
    }

    /// Verifies the root of a storage.
    ///
    /// # Errors
    /// See [`folder`](Self::folder).
    #[allow(clippy::needless_pass_by_value)] // the signature of other functions that open an array
    pub fn storage(&self, storage: Arc<dyn Storage>) -> Result<VerifyReport> {
        self.run(&storage, None)
    }

    fn run(&self, storage: &Arc<dyn Storage>, folder: Option<&Path>) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        self.check_place(storage, folder, 0, &mut Places::default(), &mut report)?;
        Ok(report)
    }
}
