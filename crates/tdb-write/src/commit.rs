//! The one way in which a fragment comes into being.

use std::sync::Arc;

use tdb_metadata::{ConsolidatedCommit, ConsolidatedCommits};
use tdb_snapshot::{Environment, Result};
use tdb_storage::{Storage, StorageError, WriteFile};
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, FRAGMENT_METADATA};
use tdb_types::{ByteWriter, Feature, FormatVersion, TimestampedName};

use crate::{FragmentPlace, Names};

/// A fragment that is being written, and that no reader sees.
///
/// The protocol, each step durable before the next:
///
/// 1. `begin` makes the fragment's folder (and those that it and its commit lie in).
/// 2. `create` gives data files; each is to be finished.
/// 3. `seal`: the names of the data files become durable, then the metadata file is written. Where answers take long
///    they are written at once: the commit waits for all of them.
/// 4. `SealedFragment::commit`: `__commits/<name>.wrt`; in formats 5 to 11 `<name>.ok` next to the folder. Before format
///    5 there is no such file, and the metadata file commits: it is written in this step.
///
/// Until the last step has ended readers ignore all of it. Dropped before, the folder is removed as far as possible;
/// after a crash it remains, for `tdb doctor` to find.
///
/// Data files are written into from any number of threads, each file by one at a time.
#[derive(Debug)]
pub struct NewFragment {
    storage: Arc<dyn Storage>,
    version: FormatVersion,
    place: FragmentPlace,
    /// Whether to remove the folder when this is dropped.
    unwanted: bool,
}

/// A fully written, uncommitted fragment.
#[derive(Debug)]
pub struct SealedFragment {
    fragment: NewFragment,
    /// The metadata file, where it is what commits.
    metadata: Option<Vec<u8>>,
}

impl NewFragment {
    /// Begins a fragment of format `version` in the array at the root of `storage`.
    ///
    /// # Errors
    /// No random bytes; there is a fragment of that name; whatever the storage can't do.
    pub(crate) fn begin(
        storage: &Arc<dyn Storage>,
        version: FormatVersion,
        (names, environment): (&Names, &Environment),
    ) -> Result<Self> {
        let name = names.next(TimestampedName::form_of_fragments(version), environment)?;
        let place = FragmentPlace::new(version, name);
        if version.has(Feature::CommitsFolder) {
            // Absent in arrays of formats below 7 that newer versions are appended to.
            storage.create_folder(COMMITS_FOLDER)?;
        }
        if names.may_repeat() && storage.kind(&place.folder)?.is_some() {
            // It is somebody else's: whoever gives up removes what is his own.
            return Err(StorageError::AlreadyExists { path: place.folder }.into());
        }
        let fragment = Self { storage: Arc::clone(storage), version, place, unwanted: true };
        fragment.storage.create_folder(&fragment.place.folder)?;
        Ok(fragment)
    }

    /// Makes a data file, of this name in the fragment's folder.
    ///
    /// # Errors
    /// A name that was given before, or that is none; whatever the storage can't do.
    pub(crate) fn create(&self, file_name: &str) -> Result<Box<dyn WriteFile>> {
        Ok(self.storage.create_file(&format!("{}/{file_name}", self.place.folder))?)
    }

    /// Writes the metadata file. All data files must be finished.
    ///
    /// # Errors
    /// Whatever the storage can't do. Then there is no fragment.
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
}

impl NewFragment {
    /// As `seal`, with the data files that aren't finished yet: `finish` finishes files, all at once, and the metadata file is one of them
    /// if another file commits.
    ///
    /// # Errors
    /// As there.
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
}

impl SealedFragment {
    /// Where the fragment lies, and what will commit it.
    pub fn place(&self) -> &FragmentPlace {
        &self.fragment.place
    }

    /// Makes the fragment part of the array, durably, and gives its name.
    ///
    /// # Errors
    /// Whatever the storage can't do. Then there is no fragment, unless removing the commit also failed: then the fragment is
    /// there, and whole.
    pub(crate) fn commit(self) -> Result<TimestampedName> {
        let Self { mut fragment, metadata } = self;
        let NewFragment { storage, place, .. } = &fragment;
        let written = match (&place.commit, metadata) {
            (Some(commit), _) => storage.create_new(commit, &[]),
            (None, metadata) => {
                storage.create_new(&format!("{}/{FRAGMENT_METADATA}", place.folder), &metadata.unwrap_or_default())
            }
        };
        // A folder may be removed only if it is certain that no commit names it, now and after a crash.
        fragment.unwanted = written.is_err() && fragment.is_surely_uncommitted();
        written?;
        Ok(fragment.place.name.clone())
    }
}

impl SealedFragment {
    /// Makes several fragments part of the array at once: one file names their commits, which then needn't be there
    /// themselves. Before format 12 there is no such file, and they are committed one after the other.
    ///
    /// # Errors
    /// As `commit`; then there is none of the fragments, or, one after the other, only the first of them.
    pub fn commit_all(
        mut sealed: Vec<Self>,
        (names, environment): (&Names, &Environment),
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
        // As for a single one: to remove them, it has to be certain that nothing names them.
        let unwanted =
            written.is_err() && matches!(storage.kind(&path), Ok(None)) && storage.sync_folder(COMMITS_FOLDER).is_ok();
        sealed.iter_mut().for_each(|sealed| sealed.fragment.unwanted = unwanted);
        written?;
        Ok(sealed.iter().map(|sealed| sealed.fragment.place.name.clone()).collect())
    }
}

impl NewFragment {
    fn is_surely_uncommitted(&self) -> bool {
        let Self { storage, place, .. } = self;
        match &place.commit {
            Some(commit) => {
                let folder = if self.version.has(Feature::CommitsFolder) { COMMITS_FOLDER } else { "" };
                matches!(storage.kind(commit), Ok(None)) && storage.sync_folder(folder).is_ok()
            }
            // The commit goes with the folder.
            None => true,
        }
    }
}

impl Drop for NewFragment {
    fn drop(&mut self) {
        if self.unwanted {
            // There is no caller to report it to; what remains is never committed.
            let _ = self.storage.remove_folder(&self.place.folder);
        }
    }
}

#[cfg(test)]
mod tests;
