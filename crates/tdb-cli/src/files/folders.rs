//! Folders that hold whole arrays and groups, with as many dimensions as they have.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, Coordinate, Group, Names};
use tdb_filters::EncryptionKey;
use tdb_storage::Storage;

use super::FileOption;
use crate::failure::Result;

/// A kind of folder that a program adds: `tdb export` makes such folders of arrays and groups, and `tdb import` the other way.
///
/// Other than a [`FileFormat`](super::FileFormat), which has rows, it is handed the array itself.
pub trait FolderFormat: Send + Sync {
    /// How the names of such folders end, without the dot and in small letters.
    fn endings(&self) -> &'static [&'static str];

    /// What `--option NAME=VALUE` may say about them.
    fn options(&self) -> &'static [FileOption];

    /// Makes a folder of an array or a group, and says how many cells it took. It is there as a whole in the end, or not at all.
    ///
    /// # Errors
    /// Such folders can't hold it, it can't be read, or the folder can't be made.
    fn export(&self, whole: Whole<'_>, export: FolderExport<'_>) -> Result<u64>;

    /// Makes an array or a group of a folder.
    ///
    /// # Errors
    /// An array can't hold what is in it, or can't be made.
    fn import(&self, import: FolderImport) -> Result<FolderImported>;
}

/// What is exported.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Whole<'a> {
    /// An array, or a box of some of its attributes.
    Array {
        /// The array.
        array: &'a Array,
        /// The attributes that were asked for, in this order; none for all.
        attributes: Option<&'a [String]>,
        /// What was asked for of dimensions; at most one range for each.
        ranges: &'a [(String, RangeInclusive<Coordinate>)],
    },
    /// A group, with all that is in it.
    Group(&'a Group),
}

/// Hears how many of how many cells are done, and says whether to go on.
pub type CellObserver = Box<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Where an export goes to, and how.
#[non_exhaustive]
pub struct FolderExport<'a> {
    /// The folder, which isn't there.
    pub path: &'a Path,
    /// Names and values of options, in the order in which they were given; all of these names are known.
    pub options: Vec<(String, String)>,
    /// How arrays in the group are opened: when, and with which key.
    pub arrays: ArrayOptions,
    /// About how many bytes of memory cells may take.
    pub budget: usize,
    /// Threads to use; 0 means as many as the machine has.
    pub threads: usize,
    /// Who wants to know how far it is.
    pub observer: CellObserver,
}

/// What is imported, and where to.
#[non_exhaustive]
pub struct FolderImport {
    /// The folder.
    pub path: PathBuf,
    /// Where the array or group is to be.
    pub target: Target,
    /// Encrypts what is made, if it is there.
    pub key: Option<EncryptionKey>,
    /// The names of what is made, and with them the time.
    pub names: Names,
    /// About how many bytes of memory cells may take.
    pub budget: usize,
    /// Threads to use; 0 means as many as the machine has.
    pub threads: usize,
    /// Who wants to know how far it is.
    pub observer: CellObserver,
}

/// Where an array or a group is to be; nothing is there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// In a local folder, where it is to be as a whole or not at all.
    Folder(PathBuf),
    /// On a storage.
    Storage(Arc<dyn Storage>),
}

/// What was made of a folder.
#[derive(Clone, Debug, Default)]
pub struct FolderImported {
    /// Arrays.
    pub arrays: u64,
    /// Groups.
    pub groups: u64,
    /// Cells that were written.
    pub cells: u64,
    /// What people should know, though nothing is wrong.
    pub notes: Vec<String>,
}

impl FolderExport<'_> {
    /// The last value of an option.
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
