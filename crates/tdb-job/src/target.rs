//! The array or group of a job.

use std::sync::Arc;

use tdb_array::{Array, Group, Listing, MemberKind, SmallFiles, TimeRange};
use tdb_storage::{Entry, EntryKind, Storage, StorageError, is_temporary};
use tdb_types::Feature;
use tdb_types::names::{
    COMMITS_FOLDER, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, GROUP_FOLDER, METADATA_FOLDER, SCHEMA_FOLDER,
};

use crate::error::{MaintainError, Result};

/// Maximum depth of nested folders. Symbolic links may form a cycle.
pub const DEEPEST: usize = 64;

/// The names in some folders of an array or group at a moment. Files never change, so equal names
/// mean equal files.
#[derive(Clone, Debug)]
pub struct Stamp(Vec<(&'static str, Vec<(String, EntryKind)>)>);

/// The array or group of a job.
#[derive(Clone, Debug)]
pub enum Target {
    /// An array.
    Array(Array),
    /// A group.
    Group(Box<Group>),
}

impl From<&Array> for Target {
    fn from(array: &Array) -> Self {
        Self::Array(array.clone())
    }
}

impl From<&Group> for Target {
    fn from(group: &Group) -> Self {
        Self::Group(Box::new(group.clone()))
    }
}

impl Target {
    /// Returns the storage of the files.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        match self {
            Self::Array(array) => array.storage(),
            Self::Group(group) => group.storage(),
        }
    }

    /// Returns access to the commit, footer and metadata files.
    #[must_use]
    pub fn small_files(&self) -> SmallFiles {
        match self {
            Self::Array(array) => array.small_files(),
            Self::Group(group) => group.small_files(),
        }
    }

    /// Returns the time range at which the array or group was opened.
    pub fn time(&self) -> TimeRange {
        match self {
            Self::Array(array) => array.time(),
            Self::Group(group) => group.time(),
        }
    }

    /// Returns the line that lists a file in a vacuum file of metadata. Arrays from format 19 on
    /// use relative paths. Earlier formats and groups use absolute URIs.
    ///
    /// # Errors
    /// [`MaintainError::NoUri`] if the line needs a URI and the storage has none.
    pub fn line_of_metadata(&self, path: &str) -> Result<String> {
        let is_relative = match self {
            Self::Array(array) => array.small_files().version().has(Feature::RelativeVacuum),
            Self::Group(_) => false,
        };
        match is_relative {
            true => Ok(format!("/{path}")),
            false => self.uri(path, "consolidated metadata"),
        }
    }

    /// Returns the absolute URI of a path. `what` describes the file that needs the URI, for the
    /// error message.
    ///
    /// # Errors
    /// [`MaintainError::NoUri`] if the storage has none.
    pub fn uri(&self, path: &str, what: &'static str) -> Result<String> {
        let none = || MaintainError::NoUri { path: self.storage().describe(""), what };
        self.storage().uri(path).ok_or_else(none)
    }
}

impl Stamp {
    /// All folders of arrays and groups, except the folders of fragments.
    pub const ALL: [&'static str; 7] =
        ["", SCHEMA_FOLDER, COMMITS_FOLDER, FRAGMENTS_FOLDER, FRAGMENT_META_FOLDER, METADATA_FOLDER, GROUP_FOLDER];

    /// Lists folders. Leaves out temporary files and files of jobs.
    ///
    /// # Errors
    /// An existing folder cannot be listed.
    pub fn of(storage: &dyn Storage, folders: &[&'static str]) -> Result<Self> {
        folders.iter().map(|folder| Ok((*folder, names(storage, folder)?))).collect::<Result<_>>().map(Self)
    }

    /// Returns `true` if no file was added to or deleted from the folders.
    ///
    /// # Errors
    /// An existing folder cannot be listed.
    pub fn is_current(&self, storage: &dyn Storage) -> Result<bool> {
        for (folder, before) in &self.0 {
            if names(storage, folder)? != *before {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the names in a folder, without temporary files. Returns an empty list if the folder does
/// not exist.
fn names(storage: &dyn Storage, folder: &str) -> Result<Vec<(String, EntryKind)>> {
    let mut names = match storage.names(folder) {
        Err(StorageError::NotFound { .. }) => Vec::new(),
        other => other?,
    };
    names.retain(|(name, _)| !is_temporary(name));
    Ok(names)
}

/// Lists a folder. Returns an empty list if the folder does not exist.
///
/// # Errors
/// The folder exists, but cannot be listed.
pub fn list(storage: &dyn Storage, folder: &str) -> Result<Vec<Entry>> {
    match storage.list(folder) {
        Err(StorageError::NotFound { .. }) => Ok(Vec::new()),
        other => Ok(other?),
    }
}

/// Returns whether the root of a storage is an array, a group, or neither.
///
/// # Errors
/// An existing root folder cannot be listed.
pub fn kind_of(storage: &Arc<dyn Storage>) -> Result<MemberKind> {
    let mut listing = Listing::default();
    listing.root = match storage.list("") {
        Err(StorageError::NotFound { .. } | StorageError::NotAFolder { .. }) => return Ok(MemberKind::Invalid),
        other => other?,
    };
    // Some object stores list folders whose files are all deleted.
    if storage.profile().is_remote() {
        for name in [SCHEMA_FOLDER, GROUP_FOLDER] {
            let is_listed = |entry: &Entry| entry.name == name && entry.kind == EntryKind::Folder;
            if listing.root.iter().any(is_listed) && !storage.exists(name)? {
                listing.root.retain(|entry| !is_listed(entry));
            }
        }
    }
    Ok(match (listing.is_array(), listing.is_group()) {
        (true, _) => MemberKind::Array,
        (false, true) => MemberKind::Group,
        (false, false) => MemberKind::Invalid,
    })
}
