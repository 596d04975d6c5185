//! Import of Zarr to arrays and groups.

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
use tdb_array::{CreateOptions, WriteIds};

use crate::options::Work;

/// Builder of an import. Set options, then call [`to_folder`](Self::to_folder) or
/// [`to_storage`](Self::to_storage).
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until a destination is given"]
pub struct Import {
    create: CreateOptions,
    key: Option<EncryptionKey>,
    names: WriteIds,
    work: Work,
}

/// Counts and notes of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Number of TileDB arrays.
    pub arrays: u64,
    /// Number of TileDB groups.
    pub groups: u64,
    /// Number of cells written.
    pub cells: u64,
    /// Notes for the user, which are not errors.
    pub notes: Vec<String>,
}

impl Import {
    /// Creates an unencrypted import at the current time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Encrypts the new arrays and groups.
    pub fn key(mut self, key: EncryptionKey) -> Self {
        self.create = self.create.key(key.clone());
        self.key = Some(key);
        self
    }

    /// Sets the names and timestamps of new files.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.create = self.create.ids(ids.clone());
        self.names = ids;
        self
    }

    /// Sets the approximate memory for cells in bytes, by default 64 MiB. The import divides an
    /// array into subarrays that fit into a quarter of this memory, and writes one fragment per
    /// subarray. In addition, each thread holds one chunk.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.work.budget = bytes.max(1);
        self
    }

    /// Sets the number of threads that decompress chunks. The default 0 uses all processors.
    pub fn threads(mut self, threads: usize) -> Self {
        self.work.threads = threads;
        self
    }

    /// Sets a callback that receives the processed and the total number of cells, and returns
    /// `false` to stop. For a group, the numbers apply to one array at a time.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.work.observer = Some(Arc::new(observer));
        self
    }
}
