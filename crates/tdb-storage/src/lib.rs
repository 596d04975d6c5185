//! Where the bytes of arrays live: list, read ranges, write and delete, on local files or in memory.
//!
//! This crate knows nothing of the format. A [`Storage`] is rooted at a folder; everything in it is named by a relative
//! path of `/`-separated components, which is [checked in one place](check_path) and cannot leave the root. Reading goes
//! through [`ReadAt`], a handle for positional reads that any number of threads may share.
//!
//! - [`LocalStorage`]: a folder of the operating system's file system.
//! - [`MemoryStorage`]: a folder that lives in this process, for tests and for places without files.
//! - [`CountingStorage`]: wraps another storage and counts its requests and bytes. On an object store each request costs
//!   money and twenty milliseconds; counts make that visible, and tests hold the line on them.
//! - [`read_range`] and [`read_behind`]: bytes of a file in memory that grows with what was really read, whatever the file's
//!   size is said to be.
//! - [`Storage::fetch`]: many ranges of many files in one call, as many at once as the storage's [`ReadProfile`] says.
//! - [`AheadStorage`]: wraps a storage whose answers take long, so that bytes are there when they are read.
//! - [`coalesce`] and [`locate`]: merge neighbouring ranges into fewer reads, and find the pieces again.
//!
//! Nothing is ever written, locked or touched while reading. What is written is durable when the call returns
//! ([`Storage::create_new`], and [`Storage::create_file`] for what comes piece by piece); the order of such calls is what makes a commit safe, and is its caller's business.
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
pub use memory::MemoryStorage;
pub use path::check_path;
pub use profile::ReadProfile;
pub use request::{Fetched, Part, Request};
pub use storage::{Entry, EntryKind, Storage, copy_file};
pub use temporary::is_temporary;

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
