//! Folder formats of extensions, for arrays and groups with any number of dimensions.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, Coordinate, Group, WriteIds};
use tdb_filters::EncryptionKey;
use tdb_storage::Storage;

use super::FileOption;
use crate::failure::Result;

/// A folder format of an extension, which `tdb export` writes and `tdb import` reads.
///
/// A [`FileFormat`](super::FileFormat) handles rows. A folder format handles the array itself.
pub trait FolderFormat: Send + Sync {
    /// Returns the folder extensions, in lower case and without the dot.
    fn endings(&self) -> &'static [&'static str];

    /// Returns the supported names of `--option NAME=VALUE`.
    fn options(&self) -> &'static [FileOption];

    /// Writes an array or group to a folder, and returns the number of cells. The folder must be
    /// created atomically.
    ///
    /// # Errors
    /// Fails if the format cannot hold the array, if the array cannot be read, or if the folder
    /// cannot be created.
    fn export(&self, whole: Whole<'_>, export: FolderExport<'_>) -> Result<u64>;

    /// Creates an array or group from a folder.
    ///
    /// # Errors
    /// Fails if an array cannot hold the contents, or if the array cannot be created.
    fn import(&self, import: FolderImport) -> Result<FolderImported>;
}

/// The source of an export.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Whole<'a> {
    /// An array, or a subarray of some of its attributes.
    Array {
        /// The array.
        array: &'a Array,
        /// The requested attributes, in this order, or `None` for all.
        attributes: Option<&'a [String]>,
        /// The requested ranges, at most one per dimension.
        ranges: &'a [(String, RangeInclusive<Coordinate>)],
    },
    /// A group with all its members.
    Group(&'a Group),
}

/// A progress observer. It receives the number of finished cells and the total, and returns `false`
/// to cancel.
pub type CellObserver = Box<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// The target and options of an export.
#[non_exhaustive]
pub struct FolderExport<'a> {
    /// The folder, which does not exist yet.
    pub path: &'a Path,
    /// Names and values of options, in the order of the command line. All names are known to the
    /// format.
    pub options: Vec<(String, String)>,
    /// Options for opening arrays of the group: time and key.
    pub arrays: ArrayOptions,
    /// Approximate memory limit for cells in bytes.
    pub budget: usize,
    /// Number of threads, or 0 for one per processor.
    pub threads: usize,
    /// The progress observer.
    pub observer: CellObserver,
}

/// The source, target and options of an import.
#[non_exhaustive]
pub struct FolderImport {
    /// The folder.
    pub path: PathBuf,
    /// The target of the array or group.
    pub target: Target,
    /// The key of the new arrays, or `None` for unencrypted arrays.
    pub key: Option<EncryptionKey>,
    /// The source of names and timestamps of new files.
    pub names: WriteIds,
    /// Approximate memory limit for cells in bytes.
    pub budget: usize,
    /// Number of threads, or 0 for one per processor.
    pub threads: usize,
    /// The progress observer.
    pub observer: CellObserver,
}

/// The target of an import, which does not exist yet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A local folder, which must be created atomically.
    Folder(PathBuf),
    /// A storage.
    Storage(Arc<dyn Storage>),
}

/// The result of an import.
#[derive(Clone, Debug, Default)]
pub struct FolderImported {
    /// Number of arrays.
    pub arrays: u64,
    /// Number of groups.
    pub groups: u64,
    /// Number of written cells.
    pub cells: u64,
    /// Remarks for the user, which are not errors.
    pub notes: Vec<String>,
}

impl FolderExport<'_> {
    /// Returns the value of an option, or `None` if the option is not given.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for FolderExport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("FolderExport");
        text.field("path", &self.path).field("options", &self.options).finish_non_exhaustive()
    }
}

impl fmt::Debug for FolderImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("FolderImport");
        text.field("path", &self.path).field("target", &self.target).finish_non_exhaustive()
    }
}
