//! The files of metadata, and which of them stand for which.

use std::collections::{BTreeMap, HashSet};

use tdb_array::{ArrayError, SmallFiles, TimeRange};
use tdb_metadata::{CommitKind, MetadataValue, PathList};
use tdb_storage::EntryKind;
use tdb_types::names::{METADATA_FOLDER, file_name};
use tdb_types::{ByteReader, TimestampedName};

use crate::Result;
use crate::target::list;

/// What lies in the folder of metadata.
#[derive(Debug, Default)]
pub(crate) struct MetadataFiles {
    /// In the order in which they change the metadata.
    pub(crate) files: Vec<MetadataFile>,
    pub(crate) vacuums: Vec<MetadataVacuum>,
}

#[derive(Clone, Debug)]
pub(crate) struct MetadataFile {
    pub(crate) name: TimestampedName,
    pub(crate) bytes: u64,
}

/// A vacuum file.
#[derive(Debug)]
pub(crate) struct MetadataVacuum {
    pub(crate) path: String,
    /// Of the file that stands for others.
    pub(crate) name: TimestampedName,
    pub(crate) bytes: u64,
    /// The names of the others.
    pub(crate) targets: Vec<String>,
}

impl MetadataFile {
    pub(crate) fn path(&self) -> String {
        format!("{METADATA_FOLDER}/{}", self.name)
    }
}

impl MetadataFiles {
    /// What is there now.
    pub(crate) fn list(files: &SmallFiles) -> Result<Self> {
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
                all.vacuums.push(MetadataVacuum { path, name, bytes: entry.size, targets });
            }
        }
        all.files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// The names that vacuum files within `time` take out of account.
    pub(crate) fn hidden(&self, time: TimeRange) -> HashSet<&str> {
        let visible = self.vacuums.iter().filter(|vacuum| time.contains(vacuum.name.start(), vacuum.name.end()));
        visible.flat_map(|vacuum| &vacuum.targets).map(String::as_str).collect()
    }
}

/// What a file says last of each key: its value, or that it was deleted.
pub(crate) type Changes = BTreeMap<Vec<u8>, Option<MetadataValue>>;

/// What some files together say.
pub(crate) fn merged<'a>(
    files: &SmallFiles,
    of: impl Iterator<Item = &'a MetadataFile>,
) -> Result<Changes, ArrayError> {
    let mut merged = Changes::new();
    for file in of {
        let changes = files.read_metadata(&file.path())?;
        merged.extend(changes.into_iter().map(|change| (change.key, change.value)));
    }
    Ok(merged)
}

fn targets(files: &SmallFiles, path: &str) -> Result<Vec<String>> {
    // A list of names, which takes no more room than commits may.
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
