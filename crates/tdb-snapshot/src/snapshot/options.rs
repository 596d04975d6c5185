//! Options for opening an array or a group.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use tdb_filters::EncryptionKey;
use tdb_storage::{LocalStorage, Storage};
use tdb_types::Limits;

use super::Snapshot;
use crate::access::Access;
use crate::{Environment, Result, TimeRange};

/// A kind of object opened with [`Options`].
pub trait Open: Sized {
    /// Opens the object at the root of a storage. `folder` is the local folder of the storage, if
    /// any.
    ///
    /// # Errors
    /// The storage has no object of this kind, or the object cannot be read.
    fn open_on(storage: Arc<dyn Storage>, folder: Option<&Path>, options: &Options<Self>) -> Result<Self>;
}

/// Options for opening an array or a group: time, key, number of threads, limits.
#[must_use = "options have no effect until an array or group is opened"]
pub struct Options<T> {
    pub(super) time: Option<TimeRange>,
    pub(super) threads: usize,
    pub(super) access: Access,
    pub(super) skip_damaged: bool,
    pub(super) with_footers: bool,
    pub(crate) opens: PhantomData<fn() -> T>,
}

// Derived impls would require the same of `T`, although no field contains a `T`.
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
    /// Creates options for opening as of now, with all threads of the machine and default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens as of the end of this millisecond since 1970-01-01 00:00 UTC.
    pub fn at(self, end: u64) -> Self {
        self.between(TimeRange::until(end))
    }

    /// Restricts the object to data written within a time range.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the key of an encrypted array or group. The key is kept while the object is open. The
    /// key is never printed, and is overwritten in memory when dropped.
    ///
    /// Opening an unencrypted array with a key is an error, because anyone could have written the
    /// cells.
    pub fn key(mut self, key: impl Into<Option<EncryptionKey>>) -> Self {
        self.access.key = key.into();
        self
    }

    /// Uses the key, the limits and the environment of an open array.
    pub fn like(self, array: &Snapshot) -> Self {
        self.access(array.access().clone())
    }

    /// Sets the number of threads for queries. 0 uses all threads of the machine, 1 runs everything
    /// on the caller's thread. A group ignores this option.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets bounds on memory allocated because of sizes stated in files.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.access.limits = limits.addressable();
        self
    }

    /// Sets the source of time and random bytes, for opening and for writing.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.access.environment = environment;
        self
    }

    /// Uses the limits, key and environment in `access`.
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Skips damaged parts instead of failing, if `skip` is `true`. Fragments are skippable if the
    /// metadata or schema is missing or unreadable, or the format version is unknown. Lists of
    /// commits and consolidated fragment metadata are also skippable. [`Snapshot::damaged`] returns
    /// the skipped parts. A group has no skippable parts.
    ///
    /// The option affects opening only. Damaged tiles, and damaged sections of metadata read later,
    /// remain errors of the query.
    pub fn skip_damaged(mut self, skip: bool) -> Self {
        self.skip_damaged = skip;
        self
    }

    /// Reads the footers of an array's fragments together with the schema, on a remote storage. An
    /// array opened for reading is then ready after two round trips instead of three. Writers need
    /// no footers. On a local storage, footers are always read on first use.
    pub fn with_footers(mut self) -> Self {
        self.with_footers = true;
        self
    }

    /// Returns the requested time range, if set.
    #[must_use]
    pub fn asked_time(&self) -> Option<TimeRange> {
        self.time
    }

    /// Returns the current limits, key and environment.
    #[must_use]
    pub fn given_access(&self) -> &Access {
        &self.access
    }

    /// Returns the same options for another kind of object.
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
    /// Opens the object in the folder `path`.
    ///
    /// # Errors
    /// The folder does not contain an object of this kind, or the object cannot be read.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<T> {
        let path = path.as_ref();
        self.open_on_folder(Arc::new(LocalStorage::new(path)), path)
    }

    /// Opens the object at the root of a storage. Members of a group outside of the storage are
    /// unreachable.
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub fn open_on(&self, storage: Arc<dyn Storage>) -> Result<T> {
        T::open_on(storage, None, self)
    }

    /// Opens the object at the root of a storage over this local folder. Members of a group may be
    /// anywhere on the machine, as with [`open`](Self::open).
    ///
    /// # Errors
    /// The same as [`open`](Self::open).
    pub fn open_on_folder(&self, storage: Arc<dyn Storage>, folder: impl AsRef<Path>) -> Result<T> {
        T::open_on(storage, Some(folder.as_ref()), self)
    }
}
