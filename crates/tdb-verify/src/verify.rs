//! Checks everything that belongs to arrays and groups: structure, tiles, the order of cells, and every statistic, which is
//! computed again from the cells.

mod array;
mod boxes;
mod coordinates;
mod field;
mod finding;
mod fragment;
mod lists;
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

/// Looks at all that belongs to an array, to a group and its members, or to those in a folder and in the folders below it.
/// It writes nothing, and goes on after whatever it finds. Others may write and maintain the array meanwhile: what they have replaced
/// or removed since is no finding, and what replaces it is looked at.
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
#[must_use = "nothing is looked at before a place is given"]
pub struct Verify {
    array: ArrayOptions,
    group: GroupOptions,
    monitor: Option<Monitor>,
}

impl Verify {
    /// All threads of the machine, default limits.
    pub fn new() -> Self {
        Self { group: GroupOptions::new().between(TimeRange::ALL), ..Self::default() }
    }

    /// The key of what is encrypted.
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.array = self.array.key(key.clone());
        self.group = self.group.key(key);
        self
    }

    /// How many threads may be used; 0 means as many as the machine has. Each holds a tile of each dimension, or one of
    /// another field.
    pub fn threads(mut self, threads: usize) -> Self {
        self.array = self.array.threads(threads);
        self
    }

    /// Bounds on what files may make this allocate.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.array = self.array.limits(limits);
        self.group = self.group.limits(limits);
        self
    }

    /// What cancels this, and is told how far it is: the bytes of data files that were read, of those of the arrays that were
    /// met so far.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = Some(monitor.clone());
        self
    }

    /// Looks at what is in a local folder.
    ///
    /// # Errors
    /// The folder can't be listed; what is encrypted needs another key; it was cancelled. Whatever else is wrong is a
    /// [finding](VerifyReport::findings).
    pub fn folder(&self, path: impl AsRef<Path>) -> Result<VerifyReport> {
        let path = path.as_ref();
        let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(path));
        self.run(&storage, Some(path))
    }

    /// Looks at what is at the root of a storage.
    ///
    /// # Errors
    /// As [`folder`](Self::folder).
    #[allow(clippy::needless_pass_by_value)] // as opening takes it
    pub fn storage(&self, storage: Arc<dyn Storage>) -> Result<VerifyReport> {
        self.run(&storage, None)
    }

    fn run(&self, storage: &Arc<dyn Storage>, folder: Option<&Path>) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        self.check_place(storage, folder, 0, &mut Places::default(), &mut report)?;
        Ok(report)
    }
}
