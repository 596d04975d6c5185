//! Locks of all arrays and groups in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tdb_array::MemberKind;
use tdb_storage::{Storage, StorageError};
use tdb_types::names::{
    COMMITS_FOLDER, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, GROUP_FOLDER, GROUP_MARKER, LEGACY_SCHEMA, METADATA_FOLDER,
    SCHEMA_FOLDER, file_name,
};

use crate::walk::{Tree, is_quarantined};
use tdb_job::kind_of;
use tdb_job::links::link_on;
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Result};

/// Locks of arrays and groups, held until dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Locks by path below the folder.
    locks: BTreeMap<String, Lock>,
}

impl Held {
    /// Takes all locks or none, in path order. Waits for no lock, and therefore cannot deadlock.
    pub(super) fn take(&mut self, whole: &Arc<dyn Storage>, paths: BTreeSet<String>, take_over: bool) -> Result<()> {
        self.take_unless(whole, paths, take_over, |_, _| false)
    }

    /// Takes the locks for a rename of the whole folder. Skips members in read-only folders.
    pub(super) fn take_for_rename(
        &mut self,
        whole: &Arc<dyn Storage>,
        paths: BTreeSet<String>,
        take_over: bool,
    ) -> Result<()> {
        self.take_unless(whole, paths, take_over, |path, error| {
            let is_denied = matches!(error, MaintainError::Storage(StorageError::PermissionDenied { .. }));
            is_denied && !path.is_empty()
        })
    }

    fn take_unless(
        &mut self,
        whole: &Arc<dyn Storage>,
        paths: BTreeSet<String>,
        take_over: bool,
        is_passed: impl Fn(&str, &MaintainError) -> bool,
    ) -> Result<()> {
        let mut taken = BTreeMap::new();
        for path in paths.into_iter().filter(|path| !self.locks.contains_key(path)) {
            match Lock::take(&whole.sub(&path)?, take_over) {
                Ok(lock) => {
                    taken.insert(path, lock);
                }
                Err(error) if is_passed(&path, &error) => {}
                Err(error) => return Err(error),
            }
        }
        self.locks.append(&mut taken);
        Ok(())
    }

    /// Releases one lock.
    pub(super) fn release(&mut self, path: &str) {
        self.locks.remove(path);
    }

    /// Updates the locks after the folder has moved.
    pub(super) fn moved(&mut self, whole: &Arc<dyn Storage>) -> Result<()> {
        for (path, lock) in std::mem::take(&mut self.locks) {
            let lock = lock.moved(whole.sub(&path)?);
            self.locks.insert(path, lock);
        }
        Ok(())
    }
}

/// Returns the paths of the arrays and groups in a folder, including the folder itself, whether or
/// not they are members of a group. Excludes arrays and groups behind a link.
pub(super) fn objects(whole: &Arc<dyn Storage>, tree: &Tree) -> Result<BTreeSet<String>> {
    let marks = [SCHEMA_FOLDER, LEGACY_SCHEMA, GROUP_FOLDER, GROUP_MARKER];
    let parts = [FRAGMENTS_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER, METADATA_FOLDER, SCHEMA_FOLDER];
    let mut objects = BTreeSet::from([String::new()]);
    for path in tree.keys().filter(|path| marks.contains(&file_name(path)) && !is_quarantined(path)) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_part = folder.split('/').any(|part| parts.contains(&part));
        if !is_part
            && !objects.contains(folder)
            && kind_of(&whole.sub(folder)?)? != MemberKind::Invalid
            && link_on(&**whole, [folder]).is_none()
        {
            objects.insert(folder.to_owned());
        }
    }
    Ok(objects)
}
