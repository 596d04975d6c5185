//! Storage of array files: list, read ranges, write and delete, in local folders or in memory.
//!
//! This crate does not depend on the array format. A [`Storage`] is rooted at a folder. Paths are
//! relative, with `/` as separator, and are [checked](check_path) so that they cannot leave the
//! root. [`ReadAt`] is a handle for positional reads, shared between threads.
//!
//! - [`LocalStorage`]: a folder of the local file system.
//! - [`MemoryStorage`]: a folder in memory, for tests and for targets without files.
//! - [`ManifestStorage`]: a read-only folder of a server without listings. A [`Manifest`] file
//!   replaces the listings.
//! - [`CountingStorage`]: a wrapper that counts requests and bytes. On an object store each request
//!   costs money and about 20 ms. Tests use the counts to limit the number of requests.
//! - [`read_range`] and [`read_behind`]: reads into memory that grows with the bytes actually read,
//!   whatever the reported file size.
//! - [`Storage::fetch`]: many ranges of many files in one call. The storage's [`ReadProfile`] sets
//!   the number of concurrent requests.
//! - [`AheadStorage`]: a wrapper for storages with high latency that loads bytes before they are
//!   read.
//! - [`coalesce`] merges neighboring ranges into fewer reads. [`locate`] finds a range in the
//!   merged ranges.
//!
//! Reading never changes or locks files. A file created by [`Storage::create_new`] is durable when
//! the call returns. A file created by [`Storage::create_file`] is durable after
//! [`WriteFile::finish`] and [`Storage::sync_folder`]. The caller orders these calls so that
//! commits are safe.
//!
//! ```
//! use std::sync::Arc;
//! use tdb_storage::{CountingStorage, MemoryStorage, Storage, StorageError};
//!
//! let storage = CountingStorage::new(Arc::new(MemoryStorage::new()));
//! storage.create_folder("array/__schema")?;
//! storage.create_new("array/__schema/__1_1_f00d", b"some schema")?;
//!
//! let array = storage.sub("array")?;
//! let names: Vec<_> = array.list("__schema")?.into_iter().map(|entry| entry.name).collect();
//! assert_eq!(names, ["__1_1_f00d"]);
//!
//! let file = array.open("__schema/__1_1_f00d")?;
//! let mut word = [0; 4];
//! file.read_into(5, &mut word)?;
//! assert_eq!(&word, b"sche");
//! assert_eq!(storage.counters().bytes, 4);
//!
//! assert!(matches!(array.read("../secret"), Err(StorageError::BadPath { .. })));
//! # Ok::<(), StorageError>(())
//! ```

mod ahead;
mod at_once;
mod cancel;
mod coalesce;
mod counting;
mod error;
mod file;
mod forward;
mod growing;
mod local;
mod manifest;
mod manifest_error;
mod memory;
mod path;
mod profile;
mod request;
mod storage;
mod temporary;

pub use ahead::{AheadStorage, PlannedFile, ReadAhead};
pub use at_once::at_once;
pub use cancel::{CancelToken, OnCancel};
pub use coalesce::{coalesce, locate};
pub use counting::{Counters, CountingStorage};
pub use error::{Result, StorageError};
pub use file::{ReadAt, WriteFile};
pub use growing::{read_behind, read_range};
pub use local::LocalStorage;
pub use manifest::{MANIFEST_NAME, Manifest, ManifestChange, ManifestEntry, ManifestStorage};
pub use manifest_error::ManifestError;
pub use memory::MemoryStorage;
pub use path::check_path;
pub use profile::ReadProfile;
pub use request::{Fetched, Part, Request};
pub use storage::{Entry, EntryKind, Storage, copy_file};
pub use temporary::is_temporary;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
