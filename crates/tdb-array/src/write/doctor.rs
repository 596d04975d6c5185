//! What interrupted writes have left behind.

use std::collections::HashSet;

use tdb_schema::ArraySchema;
use tdb_storage::{EntryKind, Storage, StorageError, is_temporary};
use tdb_types::names::{ENUMERATIONS_FOLDER, FRAGMENTS_FOLDER, SCHEMA_FOLDER};
use tdb_types::{Feature, TimestampedName};

use crate::{Array, ArrayError, Result};

/// A file or folder in an array's folder that no reader looks at, and that takes room for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its path below the array's folder.
    pub path: String,
    /// Whether it is a folder or a file.
    pub kind: EntryKind,
    /// What it is.
    pub what: &'static str,
}

/// A file that was being made.
const TEMPORARY: &str = "a file whose writing was interrupted";
/// A fragment without a commit.
const UNCOMMITTED: &str = "a fragment that was never committed, or whose deletion was interrupted";
/// An enumeration without a schema.
const ENUMERATION: &str = "an enumeration that no schema names";

impl Array {
    /// What interrupted writes have left behind, in the order of their paths. A write that is going on looks the same: ask
    /// only while nobody writes.
    ///
    /// # Errors
    /// A folder can't be listed, or a schema can't be read.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        let storage = &**self.storage();
        let mut found = Vec::new();
        let mut add = |path: String, kind, what| found.push(Leftover { path, kind, what });
        let committed: HashSet<String> = self.fragment_files()?.into_iter().map(|files| files.folder).collect();
        for entry in storage.list("")? {
            match entry.kind {
                EntryKind::File if is_temporary(&entry.name) => add(entry.name, EntryKind::File, TEMPORARY),
                EntryKind::Folder if is_fragment(&entry.name) && !committed.contains(&entry.name) => {
                    add(entry.name, EntryKind::Folder, UNCOMMITTED);
                }
                _ => {}
            }
        }
        for entry in list(storage, FRAGMENTS_FOLDER)? {
            let path = format!("{FRAGMENTS_FOLDER}/{}", entry.name);
            if entry.kind == EntryKind::Folder && !committed.contains(&path) {
                add(path, EntryKind::Folder, UNCOMMITTED);
            }
        }
        let enumerations = format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}");
        let files = list(storage, &enumerations)?;
        if !files.is_empty() {
            let named = self.named_enumerations()?;
            for entry in files.into_iter().filter(|entry| entry.kind == EntryKind::File && !named.contains(&entry.name))
            {
                add(format!("{enumerations}/{}", entry.name), EntryKind::File, ENUMERATION);
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Removes what was left behind; what is gone already is passed over.
    ///
    /// # Errors
    /// Whatever the storage can't do; then some of it may be gone.
    pub fn remove_leftovers(&self, leftovers: &[Leftover]) -> Result<()> {
        for leftover in leftovers {
            let removed = match leftover.kind {
                EntryKind::File => self.storage().remove_file(&leftover.path),
                EntryKind::Folder => self.storage().remove_folder(&leftover.path),
            };
            match removed {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// The names of the files of all enumerations that any schema of the array names.
    fn named_enumerations(&self) -> Result<HashSet<String>> {
        let mut named = HashSet::new();
        let mut decoder = self.access().decoder();
        for entry in list(&**self.storage(), SCHEMA_FOLDER)? {
            if entry.kind != EntryKind::File || TimestampedName::parse(&entry.name).is_none() {
                continue;
            }
            let path = format!("{SCHEMA_FOLDER}/{}", entry.name);
            let bytes = self.storage().read(&path)?;
            let schema = decoder
                .decode_file(&bytes, None)
                .map_err(tdb_schema::SchemaError::from)
                .and_then(|tile| ArraySchema::parse_tile(&tile, None))
                .map_err(|source| ArrayError::Schema { file: self.storage().describe(&path), source })?;
            named.extend(schema.enumerations().iter().map(|reference| reference.file_name.clone()));
        }
        Ok(named)
    }
}

/// Whether a folder in the array's own is a fragment of before format 12.
fn is_fragment(name: &str) -> bool {
    let version = TimestampedName::parse(name).filter(|_| !name.contains('.')).map(|name| name.fragment_version());
    version.is_some_and(|version| version.is_ok_and(|version| !version.has(Feature::CommitsFolder)))
}

/// What is in a folder, nothing if there is none.
fn list(storage: &dyn Storage, folder: &str) -> Result<Vec<tdb_storage::Entry>> {
    match storage.list(folder) {
        Err(StorageError::NotFound { .. }) => Ok(Vec::new()),
        other => Ok(other?),
    }
}
