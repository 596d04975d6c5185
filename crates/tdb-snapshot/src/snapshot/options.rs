//! How to open an array or a group.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use tdb_filters::EncryptionKey;
use tdb_storage::{LocalStorage, Storage};
use tdb_types::Limits;

use super::Snapshot;
use crate::access::Access;
use crate::{Environment, Result, TimeRange};

/// What [`Options`] open.
pub trait Open: Sized {
    /// Opens what lies at the root of a storage, which is this folder of the machine if one is given.
    ///
    /// # Errors
    /// Nothing of the kind is there, or it can't be read.
    fn open_on(storage: Arc<dyn Storage>, folder: Option<&Path>, options: &Options<Self>) -> Result<Self>;
}

/// How to open an array or a group: when, with which key, with how many threads, within which limits.
#[must_use = "options do nothing until they open something"]
pub struct Options<T> {
    pub(super) time: Option<TimeRange>,
    pub(super) threads: usize,
    pub(super) access: Access,
    pub(super) skip_damaged: bool,
    pub(super) with_footers: bool,
    pub(crate) opens: PhantomData<fn() -> T>,
}

// Derived ones would ask the same of `T`, of which there is no value.
impl<T> Clone for Options<T> {
    fn clone(&self) -> Self {
        self.to_open()
    }
}

impl<T> std::fmt::Debug for Options<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { time, threads, access, skip_damaged, with_footers, opens: _ } = self;
        f.debug_struct("Options")
            .field("time", time)
            .field("threads", threads)
            .field("access", access)
            .field("skip_damaged", skip_damaged)
            .field("with_footers", with_footers)
            .finish()
    }
}

impl<T> Default for Options<T> {
    fn default() -> Self {
        let (access, opens) = (Access::default(), PhantomData);
        Self { time: None, threads: 0, access, skip_damaged: false, with_footers: false, opens }
    }
}

impl<T> Options<T> {
    /// As it is now, all threads of the machine, default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// As it was at the end of this millisecond since 1970-01-01 00:00 UTC.
    pub fn at(self, end: u64) -> Self {
        self.between(TimeRange::until(end))
    }

    /// What was written within a range of time, and nothing else.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// The key of an encrypted array or group. It is kept as long as that is open, never printed, and overwritten in memory
    /// when it is dropped.
    ///
    /// An array that is not encrypted is refused with a key: whoever gives one doesn't want to be served cells that anybody
    /// can have put there.
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.access.key = Some(key);
        self
    }

    /// The key, the limits and the environment of an array that is open, for opening it once more.
    pub fn like(self, array: &Snapshot) -> Self {
        self.access(array.access().clone())
    }

    /// How many threads queries may use; 0 means as many as the machine has, 1 that all runs on the caller's thread.
    /// A group has none.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Bounds on what the files may make a reader allocate.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.access.limits = limits.addressable();
        self
    }

    /// Where the time and random bytes come from, for opening and for what is written.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.access.environment = environment;
        self
    }

    /// The same access as another array has.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Whether to open an array without its damaged parts if it has any, instead of failing: fragments whose metadata or
    /// schema is missing or unreadable or of a format version that isn't known, and files that speak of others (commits,
    /// consolidated metadata). [`Snapshot::damaged`] tells what was left out. A group has no such parts.
    ///
    /// This is about opening. Tiles, and the sections of metadata that are read when a query needs them, remain errors of
    /// the query.
    pub fn skip_damaged(mut self, skip: bool) -> Self {
        self.skip_damaged = skip;
        self
    }

    /// Reads the footers of an array's fragments along with the schema, where answers take long: for an array on a store that
    /// is opened to be read, which is open in two round trips then, footers included, and not three. Whoever opens it to write
    /// needs none of them. Of an array in local files they are read on first use in any case.
    pub fn with_footers(mut self) -> Self {
        self.with_footers = true;
        self
    }

    /// The range of time that was asked for, if any was.
    #[must_use]
    pub fn asked_time(&self) -> Option<TimeRange> {
        self.time
    }

    /// What reading takes apart from bytes.
    #[must_use]
    pub fn given_access(&self) -> &Access {
        &self.access
    }

    /// The same, to open something else.
    pub fn to_open<U>(&self) -> Options<U> {
        let Self { time, threads, access, skip_damaged, with_footers, opens: _ } = self;
        Options {
            time: *time,
            threads: *threads,
            access: access.clone(),
            skip_damaged: *skip_damaged,
            with_footers: *with_footers,
            opens: PhantomData,
        }
    }
}

impl<T: Open> Options<T> {
    /// Opens what is in the folder `path`.
    ///
    /// # Errors
    /// Nothing of the kind is there, or it can't be read.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<T> {
        let path = path.as_ref();
        self.open_on_folder(Arc::new(LocalStorage::new(path)), path)
    }

    /// Opens what lies at the root of a storage. Members of a group that lie outside of the storage can't be reached from it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on(&self, storage: Arc<dyn Storage>) -> Result<T> {
        T::open_on(storage, None, self)
    }

    /// The same where the storage is this folder of the machine: members of a group may lie anywhere on it, as with
    /// [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on_folder(&self, storage: Arc<dyn Storage>, folder: impl AsRef<Path>) -> Result<T> {
        T::open_on(storage, Some(folder.as_ref()), self)
    }
}
