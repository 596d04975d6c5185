//! The same array with some of its fragments.

use std::sync::{Arc, Mutex, OnceLock};

use super::{Array, ArrayOptions, Inner};
use crate::{FragmentEntry, Result, TimeRange};

impl Array {
    /// The array as it is now, over all time: also what is dated in the future counts. Opened anew, with the same key, limits
    /// and number of threads.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn reopened(&self) -> Result<Self> {
        let threads = self.workers().threads();
        let options = ArrayOptions { time: Some(TimeRange::ALL), threads, ..ArrayOptions::new() };
        options.access(self.access().clone()).open_on(self.storage().clone())
    }

    /// The same snapshot with these fragments alone, which count in this order, also if nothing commits them.
    pub(crate) fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        let own = &*self.inner;
        let mut directory = own.directory.clone();
        directory.fragments = fragments;
        directory.replaced.clear();
        let inner = Inner {
            counting: own.counting.clone(),
            storage: own.storage.clone(),
            ahead: own.ahead.clone(),
            access: own.access.clone(),
            workers: own.workers.clone(),
            time: own.time,
            schema_path: own.schema_path.clone(),
            schema_paths: own.schema_paths.clone(),
            schema: own.schema.clone(),
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
