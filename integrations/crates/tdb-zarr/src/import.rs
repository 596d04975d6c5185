//! From Zarr to arrays and groups.

mod array;
mod convert;
mod field;
mod foreign;
mod group;
mod marked;
mod present;
mod run;

use std::sync::Arc;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{CreateOptions, Names};

use crate::options::Work;

/// An import under construction: say what there is to say, then where to.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is written before it is said where to"]
pub struct Import {
    create: CreateOptions,
    key: Option<EncryptionKey>,
    names: Names,
    work: Work,
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Arrays of TileDB.
    pub arrays: u64,
    /// Groups of TileDB.
    pub groups: u64,
    /// Cells that were written.
    pub cells: u64,
    /// What people should know, though nothing is wrong.
    pub notes: Vec<String>,
}

impl Import {
    /// Made now, not encrypted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Encrypts what is made.
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.create = self.create.key(key.clone());
        self.key = Some(key);
        self
    }

    /// The names of what is made and written, and with them the time.
    pub fn names(mut self, names: Names) -> Self {
        self.create = self.create.names(names.clone());
        self.names = names;
        self
    }

    /// About how many bytes of memory cells may take, by default 64 MiB: each time that they fill it, a fragment is written. One chunk for
    /// each thread is always held.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.work.budget = bytes.max(1);
        self
    }

    /// How many threads unpack chunks; 0, which is the default, means as many as the machine has.
    pub fn threads(mut self, threads: usize) -> Self {
        self.work.threads = threads;
        self
    }

    /// Who hears how many of how many cells are done, and says whether to go on: of a group those of one array at a time.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.work.observer = Some(Arc::new(observer));
        self
    }
}
