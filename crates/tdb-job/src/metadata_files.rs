//! Metadata files and their vacuum files.

use std::collections::{BTreeMap, HashSet};

use tdb_array::{ArrayError, SmallFiles, TimeRange};
use tdb_metadata::{CommitKind, MetadataValue, PathList};
use tdb_storage::EntryKind;
use tdb_types::names::{METADATA_FOLDER, file_name};
use tdb_types::{ByteReader, TimestampedName};

use crate::error::Result;
use crate::target::list;

/// Contents of the metadata folder.
#[derive(Debug, Default)]
pub struct MetadataFiles {
    /// Metadata files, in order of application.
    pub files: Vec<MetadataFile>,
    /// Vacuum files.
    pub vacuums: Vec<MetadataVacuum>,
}

/// A metadata file.
#[derive(Clone, Debug)]
pub struct MetadataFile {
    /// Name of the file.
    pub name: TimestampedName,
    /// Size in bytes.
    pub bytes: u64,
}

/// A vacuum file of consolidated metadata.
#[derive(Debug)]
pub struct MetadataVacuum {
    /// Path below the folder of the array or group.
    pub path: String,
    /// Name of the vacuum file.
    pub name: TimestampedName,
    /// Name of the consolidated file. Differs from `name` only in vacuum files of release 2.21.1.
    pub replacement: TimestampedName,
    /// Size in bytes.
    pub bytes: u64,
    /// Names of the superseded files.
    pub targets: Vec<String>,
}

impl MetadataFile {
    /// Returns the path below the folder of the array or group.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{METADATA_FOLDER}/{}", self.name)
    }
}

impl MetadataFiles {
    /// Lists the metadata folder.
    ///
    /// # Errors
    /// The folder cannot be listed, or a vacuum file is damaged, too large, or cannot be read.
    pub fn list(files: &SmallFiles) -> Result<Self> {
        let mut all = Self::default();
        for entry in list(&**files.storage(), METADATA_FOLDER)? {
            let Some(name) = TimestampedName::parse(&entry.name).filter(|_| entry.kind == EntryKind::File) else {
                continue;
            };
            if !entry.name.contains('.') {
                all.files.push(MetadataFile { name, bytes: entry.size });
            } else if CommitKind::of(&entry.name) == Some(CommitKind::Vacuum) {
                let path = format!("{METADATA_FOLDER}/{}", entry.name);
                let targets = targets(files, &path)?;
                let replacement = name.clone();
                all.vacuums.push(MetadataVacuum { path, name, replacement, bytes: entry.size, targets });
            }
        }
        all.files.sort_by(|a, b| a.name.cmp(&b.name));
        let Self { files, vacuums } = &mut all;
        vacuums.iter_mut().for_each(|vacuum| vacuum.find_replacement(files));
        Ok(all)
    }

    /// Returns the names of the files that are listed in vacuum files within `time`, and therefore
    /// superseded.
    pub fn hidden(&self, time: TimeRange) -> HashSet<&str> {
        let visible = self.vacuums.iter().filter(|vacuum| time.contains(vacuum.name.start(), vacuum.name.end()));
        visible.flat_map(|vacuum| &vacuum.targets).map(String::as_str).collect()
    }
}

impl MetadataVacuum {
    /// Returns `true` if the UUIDs of the vacuum file and the consolidated file differ.
    pub fn is_renamed(&self) -> bool {
        self.replacement != self.name
    }

    /// Finds the consolidated file. Release 2.21.1 gives the vacuum file another UUID. In this
    /// case, the consolidated file is the only file with the same timestamps that the vacuum file
    /// does not list.
    fn find_replacement(&mut self, files: &[MetadataFile]) {
        if files.iter().any(|file| file.name == self.name) {
            return;
        }
        let times = |name: &TimestampedName| (name.start(), name.end());
        let may_be = |file: &&MetadataFile| {
            times(&file.name) == times(&self.name) && !self.targets.iter().any(|target| target == file.name.as_str())
        };
        let mut found = files.iter().filter(may_be);
        if let (Some(only), None) = (found.next(), found.next()) {
            self.replacement = only.name.clone();
        }
    }
}

/// The last change of each key: its value, or `None` if it was deleted.
pub type Changes = BTreeMap<Vec<u8>, Option<MetadataValue>>;

/// Merges the changes of several files. A change in a later file replaces a change of the same key
/// in an earlier file.
///
/// # Errors
/// A file is damaged, too large, missing, encrypted with another key, or cannot be read.
pub fn merged<'a>(files: &SmallFiles, of: impl Iterator<Item = &'a MetadataFile>) -> Result<Changes, ArrayError> {
    let mut merged = Changes::new();
    for file in of {
        let changes = files.read_metadata(&file.path())?;
        merged.extend(changes.into_iter().map(|change| (change.key, change.value)));
    }
    Ok(merged)
}

fn targets(files: &SmallFiles, path: &str) -> Result<Vec<String>> {
    // The limit for commits also applies to lists of names.
    let bytes = files.read_list(path)?;
    let mut targets = Vec::new();
    let take = |line: std::borrow::Cow<'_, str>| {
        let name = file_name(PathList::target(&line));
        if TimestampedName::is_one(name) {
            targets.push(name.to_owned());
        }
    };
    PathList::for_each(&mut ByteReader::new(&bytes), take)
        .map_err(|source| ArrayError::Commits { file: files.storage().describe(path), source })?;
    Ok(targets)
}
