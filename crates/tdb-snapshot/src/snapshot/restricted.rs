//! Views of an array with a part of the fragments or deletes, or with another schema.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use tdb_schema::ArraySchema;

use super::early::AtOpening;
use super::fragments::schema_path;
use super::{Inner, Options, Snapshot};
use crate::{ArrayDirectory, Fragment, FragmentEntry, Result, TimeRange};

impl Snapshot {
    /// Reopens the array as of now over all time, fragments with future timestamps included. Uses
    /// the same key, limits and number of threads.
    ///
    /// # Errors
    /// The same as [`Snapshot::open`].
    pub fn reopened(&self) -> Result<Self> {
        self.reopened_between(TimeRange::ALL)
    }

    /// Reopens the array as of now for a time range. Uses the same key, limits and number of
    /// threads.
    ///
    /// # Errors
    /// The same as [`Snapshot::open`].
    pub fn reopened_between(&self, time: TimeRange) -> Result<Self> {
        let threads = self.workers().threads();
        let options = Options { time: Some(time), threads, ..Options::new() };
        options.access(self.access().clone()).open_on(self.storage().clone())
    }

    /// Reopens the array like [`reopened`](Self::reopened), and reuses the fragments loaded by the
    /// earlier snapshot `last`. Use it to poll an array: fragments never change, but may disappear.
    ///
    /// # Errors
    /// The same as [`Snapshot::open`].
    pub fn reopened_after(&self, last: &Self) -> Result<Self> {
        let mut array = self.reopened()?;
        let known = last.known(&array.inner.directory.fragments);
        if let Some(inner) = Arc::get_mut(&mut array.inner) {
            inner.known = known;
        }
        Ok(array)
    }

    /// Returns the loaded fragments in the folders of `entries`.
    fn known(&self, entries: &[FragmentEntry]) -> HashMap<String, Fragment> {
        let own = &*self.inner;
        let loaded = own.fragments.get().map_or(&[][..], |loaded| &loaded.fragments);
        let wanted: HashSet<&str> = entries.iter().map(|entry| entry.folder.as_str()).collect();
        let all = loaded
            .iter()
            .chain(own.kept.values())
            .chain(own.known.values())
            .filter(|fragment| wanted.contains(fragment.folder()));
        all.map(|fragment| (fragment.folder().to_owned(), fragment.afresh())).collect()
    }

    /// Returns the same snapshot with only these fragments, applied in this order. Uncommitted and
    /// superseded fragments are allowed. Deletes still apply.
    #[must_use]
    pub fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        let mut directory = self.directory().clone();
        directory.fragments = fragments;
        directory.replaced.clear();
        self.with_directory(directory)
    }

    /// Returns the same snapshot without delete commits.
    #[must_use]
    pub fn without_deletes(&self) -> Self {
        let mut directory = self.directory().clone();
        directory.deletes.clear();
        self.with_directory(directory)
    }

    /// Returns the same snapshot with only these delete commits.
    pub(crate) fn with_deletes_alone(&self, paths: &[String]) -> Self {
        let mut directory = self.directory().clone();
        directory.deletes.retain(|path| paths.contains(path));
        if directory.deletes.len() == self.directory().deletes.len() {
            return self.clone();
        }
        let mut array = self.with_directory(directory);
        // The cached deletes cover all commits.
        if let Some(inner) = Arc::get_mut(&mut array.inner) {
            inner.deletes = OnceLock::new();
        }
        array
    }

    /// Returns a single fragment as an array, as originally written: with the fragment's schema,
    /// without later deletes. The fragment may be superseded.
    #[must_use]
    pub fn of_fragment(&self, fragment: &Fragment) -> Self {
        let mut directory = self.directory().clone();
        let all = directory.fragments.into_iter().chain(directory.replaced);
        directory.fragments = all.filter(|entry| entry.folder == fragment.folder()).collect();
        directory.replaced = Vec::new();
        directory.deletes.clear();
        let header = fragment.footer().header();
        // The cached deletes stay unused, because the directory lists no delete commits.
        self.seen_as(directory, schema_path(Some(&header.schema_name)), fragment.schema().clone(), HashMap::new())
    }

    /// Returns the array with the schema at `path`, independent of the opened time.
    ///
    /// # Errors
    /// The schema cannot be read.
    pub fn by_schema(&self, path: &str) -> Result<Self> {
        let schema = self.schema_at(path)?;
        Ok(self.seen_as(self.inner.directory.clone(), path.to_owned(), schema, HashMap::new()))
    }

    fn with_directory(&self, directory: ArrayDirectory) -> Self {
        let (own, known) = (&*self.inner, self.known(&directory.fragments));
        self.seen_as(directory, own.schema_path.clone(), own.schema.clone(), known)
    }

    fn seen_as(
        &self,
        directory: ArrayDirectory,
        schema_path: String,
        schema: Arc<ArraySchema>,
        known: HashMap<String, Fragment>,
    ) -> Self {
        let own = &*self.inner;
        let inner = Inner {
            place: own.place.clone(),
            time: own.time,
            schema_path,
            schema_paths: own.schema_paths.clone(),
            schema,
            directory,
            footers: own.footers.clone(),
            skip_damaged: false,
            damaged: Vec::new(),
            early: AtOpening::default(),
            fragments: OnceLock::new(),
            known,
            kept: HashMap::new(),
            seen: own.seen.clone(),
            enumerations: Mutex::default(),
            metadata: OnceLock::new(),
            deletes: own.deletes.clone(),
        };
        Self { inner: Arc::new(inner), watched: self.watched.clone() }
    }
}
