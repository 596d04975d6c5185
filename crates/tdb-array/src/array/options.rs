//! How to open an array.

use tdb_filters::EncryptionKey;
use tdb_types::Limits;

use super::Array;
use crate::access::Access;
use crate::{Environment, TimeRange};

/// How to open an array: when, with which key, with how many threads, within which limits.
#[derive(Clone, Debug, Default)]
#[must_use = "options do nothing until they open something"]
pub struct ArrayOptions {
    pub(super) time: Option<TimeRange>,
    pub(super) threads: usize,
    pub(super) access: Access,
    pub(super) skip_damaged: bool,
    pub(super) with_footers: bool,
}

impl ArrayOptions {
    /// The array as it is now, all threads of the machine, default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The array as it was at the end of this millisecond since 1970-01-01 00:00 UTC.
    pub fn at(self, end: u64) -> Self {
        self.between(TimeRange::until(end))
    }

    /// What was written within a range of time, and nothing else.
    pub fn between(mut self, time: TimeRange) -> Self {
        self.time = Some(time);
        self
    }

    /// The key of an encrypted array. It is kept as long as the array is open, never printed, and overwritten in memory when
    /// it is dropped.
    ///
    /// An array that is not encrypted is refused with a key: whoever gives one doesn't want to be served cells that anybody
    /// can have put there.
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.access.key = Some(key);
        self
    }

    /// The key, the limits and the environment of an array that is open, for opening it once more.
    pub fn like(self, array: &Array) -> Self {
        self.access(array.access().clone())
    }

    /// How many threads queries may use; 0 means as many as the machine has, 1 that all runs on the caller's thread.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Bounds on what the array's files may make a reader allocate.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.access.limits = limits.addressable();
        self
    }

    /// Where the time and random bytes come from, for opening and for what is written into the array.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.access.environment = environment;
        self
    }

    /// The same access as another array has.
    pub(crate) fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Whether to open the array without its damaged parts if it has any, instead of failing: fragments whose metadata or
    /// schema is missing or unreadable or of a format version that isn't known, and files that speak of others (commits,
    /// consolidated metadata). [`Array::damaged`] tells what was left out.
    ///
    /// This is about opening. Tiles, and the sections of metadata that are read when a query needs them, remain errors of
    /// the query.
    pub fn skip_damaged(mut self, skip: bool) -> Self {
        self.skip_damaged = skip;
        self
    }

    /// Reads the footers of the fragments along with the schema, where answers take long: for an array on a store that is
    /// opened to be read, which is open in two round trips then, footers included, and not three. Whoever opens it to write needs
    /// none of them. Of an array in local files they are read on first use in any case.
    pub fn with_footers(mut self) -> Self {
        self.with_footers = true;
        self
    }
}
