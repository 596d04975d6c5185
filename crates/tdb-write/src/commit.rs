//! The protocol that creates fragments.

use std::sync::Arc;

use tdb_metadata::{ConsolidatedCommit, ConsolidatedCommits};
use tdb_snapshot::{Environment, Result};
use tdb_storage::{Storage, StorageError, WriteFile};
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, FRAGMENT_METADATA};
use tdb_types::{ByteWriter, Feature, FormatVersion, TimestampedName};

use crate::{FragmentPlace, WriteIds};

/// A fragment under construction, invisible to readers.
///
/// The protocol has four steps. Each step is durable before the next step begins:
///
/// 1. `begin` creates the fragment folder and its parent folders.
/// 2. `create` creates data files. Each must be finished.
/// 3. `seal` makes the names of the data files durable, then writes the metadata file. On remote
///    storage, `seal_at_once` replaces this step: it finishes the data files and the metadata file
///    together.
/// 4. `SealedFragment::commit` writes `__commits/<name>.wrt`, or in formats 5 to 11 `<name>.ok`
///    next to the folder. Before format 5, no such file exists. The metadata file commits the
///    fragment and is written in this step.
///
/// Readers ignore the fragment until the last step is complete. A fragment that is dropped earlier
/// removes its folder as far as possible. After a crash, the folder remains, and `tdb doctor` finds
/// it.
///
/// Several threads may write data files at the same time, but only one thread may write a given
/// file.
#[derive(Debug)]
pub struct NewFragment {
    storage: Arc<dyn Storage>,
    version: FormatVersion,
    place: FragmentPlace,
    /// `true` if the folder must be removed on drop.
    unwanted: bool,
}

/// A completely written, uncommitted fragment.
#[derive(Debug)]
pub struct SealedFragment {
    fragment: NewFragment,
    /// Content of the metadata file if that file commits the fragment, otherwise `None`.
    metadata: Option<Vec<u8>>,
}

impl NewFragment {
    /// Begins a fragment of format `version` in the array at the root of `storage`.
    ///
    /// # Errors
    /// The clock or random bytes are not available, a fragment of the same name exists, or the
    /// storage fails.
    pub(crate) fn begin(
        storage: &Arc<dyn Storage>,
        version: FormatVersion,
        (names, environment): (&WriteIds, &Environment),
    ) -> Result<Self> {
        let name = names.next(TimestampedName::form_of_fragments(version), environment)?;
        let place = FragmentPlace::new(version, name);
        if version.has(Feature::CommitsFolder) {
            // Arrays below format 7 have no such folder, but can receive fragments of newer
            // versions.
            storage.create_folder(COMMITS_FOLDER)?;
        }
        if names.may_repeat() && storage.kind(&place.folder)?.is_some() {
            // The folder belongs to another writer, and must not be removed on failure.
            return Err(StorageError::AlreadyExists { path: place.folder }.into());
        }
        let fragment = Self { storage: Arc::clone(storage), version, place, unwanted: true };
        fragment.storage.create_folder(&fragment.place.folder)?;
        Ok(fragment)
    }

    /// Creates a data file in the fragment folder.
    ///
    /// # Errors
    /// The name was used before or is invalid, or the storage fails.
    pub(crate) fn create(&self, file_name: &str) -> Result<Box<dyn WriteFile>> {
        Ok(self.storage.create_file(&format!("{}/{file_name}", self.place.folder))?)
    }

    /// Writes the metadata file. All data files must be finished.
    ///
    /// # Errors
    /// The storage fails. The fragment is then removed.
    pub(crate) fn seal(self, metadata: Vec<u8>) -> Result<SealedFragment> {
        self.storage.sync_folder(&self.place.folder)?;
        if self.place.commit.is_none() {
            return Ok(SealedFragment { fragment: self, metadata: Some(metadata) });
        }
        let mut file = self.create(FRAGMENT_METADATA)?;
        file.append(&metadata)?;
        file.finish()?;
        self.storage.sync_folder(&self.place.folder)?;
        Ok(SealedFragment { fragment: self, metadata: None })
    }

    /// Seals the fragment like `seal`, with unfinished data files. `finish` receives the data
    /// files, and also the metadata file unless that file commits the fragment. It must finish all
    /// of them.
    ///
    /// # Errors
    /// See `seal`.
    pub(crate) fn seal_at_once(
        self,
        metadata: Vec<u8>,
        mut files: Vec<Box<dyn WriteFile>>,
        finish: impl FnOnce(Vec<Box<dyn WriteFile>>) -> Result<()>,
    ) -> Result<SealedFragment> {
        if self.place.commit.is_none() {
            finish(files)?;
            return self.seal(metadata);
        }
        let mut file = self.create(FRAGMENT_METADATA)?;
        file.append(&metadata)?;
        files.push(file);
        finish(files)?;
        self.storage.sync_folder(&self.place.folder)?;
        Ok(SealedFragment { fragment: self, metadata: None })
    }

    fn is_surely_uncommitted(&self) -> bool {
        let Self { storage, place, .. } = self;
        match &place.commit {
            Some(commit) => {
                let folder = if self.version.has(Feature::CommitsFolder) { COMMITS_FOLDER } else { "" };
                matches!(storage.kind(commit), Ok(None)) && storage.sync_folder(folder).is_ok()
            }
            // The commit is removed with the folder.
            None => true,
        }
    }
}

impl SealedFragment {
    /// Returns the folder of the fragment and the path of its future commit.
    pub fn place(&self) -> &FragmentPlace {
        &self.fragment.place
    }

    /// Commits the fragment durably and returns its name.
    ///
    /// # Errors
    /// The storage fails. The fragment is then not committed, unless the storage created the commit
    /// despite the error. In that case, the fragment is committed and complete, but its name is not
    /// returned.
    pub(crate) fn commit(self) -> Result<TimestampedName> {
        let Self { mut fragment, metadata } = self;
        let NewFragment { storage, place, .. } = &fragment;
        let written = match (&place.commit, metadata) {
            (Some(commit), _) => storage.create_new(commit, &[]),
            (None, metadata) => {
                storage.create_new(&format!("{}/{FRAGMENT_METADATA}", place.folder), &metadata.unwrap_or_default())
            }
        };
        // Remove the folder only if no commit names it, neither now nor after a crash.
        fragment.unwanted = written.is_err() && fragment.is_surely_uncommitted();
        written?;
        Ok(fragment.place.name.clone())
    }

    /// Commits several fragments atomically with one consolidated commits file. The fragments then
    /// need no separate commit files. A single fragment gets a separate commit file. Formats before
    /// 12 have no consolidated commits files: the fragments are committed one by one.
    ///
    /// # Errors
    /// See `commit`. Also fails if the clock or random bytes are not available. No fragment is then
    /// committed, unless the storage has created the commit file despite the error. Before format
    /// 12, the first fragments may be committed.
    pub fn commit_all(
        mut sealed: Vec<Self>,
        (names, environment): (&WriteIds, &Environment),
    ) -> Result<Vec<TimestampedName>> {
        let Some(first) =
            sealed.first().filter(|first| sealed.len() > 1 && first.fragment.version.has(Feature::CommitsFolder))
        else {
            return sealed.into_iter().map(Self::commit).collect();
        };
        let storage = Arc::clone(&first.fragment.storage);
        let name = names.next(TimestampedName::form_of_fragments(first.fragment.version), environment)?;
        let path = format!("{COMMITS_FOLDER}/{name}.{CONSOLIDATED_EXTENSION}");
        let commits = sealed.iter().filter_map(|sealed| sealed.fragment.place.commit.as_deref());
        let entries = commits.map(|path| ConsolidatedCommit { path, commit: None, offset: 0 }).collect();
        let mut file = ByteWriter::new();
        ConsolidatedCommits { entries }.write(&mut file);
        let written = storage.create_new(&path, file.as_slice());
        // As for a single fragment, remove the folders only if no commit can name them.
        let unwanted =
            written.is_err() && matches!(storage.kind(&path), Ok(None)) && storage.sync_folder(COMMITS_FOLDER).is_ok();
        sealed.iter_mut().for_each(|sealed| sealed.fragment.unwanted = unwanted);
        written?;
        Ok(sealed.iter().map(|sealed| sealed.fragment.place.name.clone()).collect())
    }
}

impl Drop for NewFragment {
    fn drop(&mut self) {
        if self.unwanted {
            // The error cannot be reported. The remaining files are never committed.
            let _ = self.storage.remove_folder(&self.place.folder);
        }
    }
}

#[cfg(test)]
mod tests;
