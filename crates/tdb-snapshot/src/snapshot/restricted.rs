//! The same array with some of its fragments.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use tdb_schema::ArraySchema;

use super::early::AtOpening;
use super::fragments::schema_path;
use super::{Inner, Options, Snapshot};
use crate::{Fragment, FragmentEntry, Result, TimeRange};

impl Snapshot {
    /// The array as it is now, over all time: also what is dated in the future counts. Opened anew, with the same key, limits
    /// and number of threads.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn reopened(&self) -> Result<Self> {
        self.reopened_between(TimeRange::ALL)
    }

    /// The array as it is now, of a range of time. Opened anew, with the same key, limits and number of threads.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn reopened_between(&self, time: TimeRange) -> Result<Self> {
        let threads = self.workers().threads();
        let options = Options { time: Some(time), threads, ..Options::new() };
        options.access(self.access().clone()).open_on(self.storage().clone())
    }

    /// The same; of fragments that `last`, which was opened before, has loaded, nothing is read again. For those who look at an
    /// array again and again: a fragment never changes, though it may go.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn reopened_after(&self, last: &Self) -> Result<Self> {
        let mut array = self.reopened()?;
        let known = last.known(&array.inner.directory.fragments);
        if let Some(inner) = Arc::get_mut(&mut array.inner) {
            inner.known = known;
        }
        Ok(array)
    }

    /// Those of these fragments whose footers were read.
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

    /// The same snapshot with these fragments alone, which count in this order, also if nothing commits them, or others stand
    /// for them. What deletes cells still does.
    #[must_use]
    pub fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        let own = &*self.inner;
        let mut directory = own.directory.clone();
        let known = self.known(&fragments);
        directory.fragments = fragments;
        directory.replaced.clear();
        self.seen_as(directory, own.schema_path.clone(), own.schema.clone(), known)
    }

    /// The same snapshot as if nothing had been deleted by a condition since its fragments were made.
    #[must_use]
    pub fn without_deletes(&self) -> Self {
        let own = &*self.inner;
        let mut directory = own.directory.clone();
        directory.deletes.clear();
        let known = self.known(&directory.fragments);
        self.seen_as(directory, own.schema_path.clone(), own.schema.clone(), known)
    }

    /// The same snapshot as if of all deletions only some of these had been made.
    pub(crate) fn with_deletes_alone(&self, paths: &[String]) -> Self {
        let own = &*self.inner;
        let mut directory = own.directory.clone();
        directory.deletes.retain(|path| paths.contains(path));
        if directory.deletes.len() == own.directory.deletes.len() {
            return self.clone();
        }
        let known = self.known(&directory.fragments);
        let mut array = self.seen_as(directory, own.schema_path.clone(), own.schema.clone(), known);
        // What was loaded of the deletes is of all of them.
        if let Some(inner) = Arc::get_mut(&mut array.inner) {
            inner.deletes = OnceLock::new();
        }
        array
    }

    /// One of its fragments as it was written, as an array: alone, by its own schema, without what was deleted since. It may be
    /// one that others stand for.
    #[must_use]
    pub fn of_fragment(&self, fragment: &Fragment) -> Self {
        let own = &*self.inner;
        let mut directory = own.directory.clone();
        let all = directory.fragments.into_iter().chain(directory.replaced);
        directory.fragments = all.filter(|entry| entry.folder == fragment.folder()).collect();
        directory.replaced = Vec::new();
        directory.deletes.clear();
        let header = fragment.footer().header();
        // What was loaded of the deletes isn't asked for where the directory names none.
        self.seen_as(directory, schema_path(Some(&header.schema_name)), fragment.schema().clone(), HashMap::new())
    }

    /// The array by one of its schemas, whatever the time that was opened: for those who look at its past.
    ///
    /// # Errors
    /// The schema can't be read.
    pub fn by_schema(&self, path: &str) -> Result<Self> {
        let schema = self.schema_at(path)?;
        Ok(self.seen_as(self.inner.directory.clone(), path.to_owned(), schema, HashMap::new()))
    }

    fn seen_as(
        &self,
        directory: crate::ArrayDirectory,
        schema_path: String,
        schema: Arc<ArraySchema>,
        known: HashMap<String, Fragment>,
    ) -> Self {
        let own = &*self.inner;
        let inner = Inner {
            counting: own.counting.clone(),
            storage: own.storage.clone(),
            ahead: own.ahead.clone(),
            access: own.access.clone(),
            workers: own.workers.clone(),
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
