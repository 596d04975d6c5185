//! The same array with some of its fragments.

use std::sync::{Arc, Mutex, OnceLock};

use tdb_schema::ArraySchema;

use super::fragments::schema_path;
use super::{Array, ArrayOptions, Inner};
use crate::{Fragment, FragmentEntry, Result, TimeRange};

impl Array {
    /// The array as it is now, over all time: also what is dated in the future counts. Opened anew, with the same key, limits
    /// and number of threads.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn reopened(&self) -> Result<Self> {
        self.reopened_between(TimeRange::ALL)
    }

    /// The array as it is now, of a range of time. Opened anew, with the same key, limits and number of threads.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn reopened_between(&self, time: TimeRange) -> Result<Self> {
        let threads = self.workers().threads();
        let options = ArrayOptions { time: Some(time), threads, ..ArrayOptions::new() };
        options.access(self.access().clone()).open_on(self.storage().clone())
    }

    /// The same snapshot with these fragments alone, which count in this order, also if nothing commits them, or others stand
    /// for them. What deletes cells still does.
    #[must_use]
    pub fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        let own = &*self.inner;
        let mut directory = own.directory.clone();
        directory.fragments = fragments;
        directory.replaced.clear();
        self.seen_as(directory, own.schema_path.clone(), own.schema.clone())
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
        self.seen_as(directory, schema_path(Some(&header.schema_name)), fragment.schema().clone())
    }

    /// The array by one of its schemas, whatever the time that was opened: for those who look at its past.
    ///
    /// # Errors
    /// The schema can't be read.
    pub fn by_schema(&self, path: &str) -> Result<Self> {
        let schema = self.schema_at(path)?;
        Ok(self.seen_as(self.inner.directory.clone(), path.to_owned(), schema))
    }

    fn seen_as(&self, directory: crate::ArrayDirectory, schema_path: String, schema: Arc<ArraySchema>) -> Self {
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
            fragments: OnceLock::new(),
            enumerations: Mutex::default(),
            metadata: OnceLock::new(),
            deletes: own.deletes.clone(),
        };
        Self { inner: Arc::new(inner), watched: self.watched.clone() }
    }
}
