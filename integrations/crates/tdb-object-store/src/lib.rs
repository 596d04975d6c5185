//! TileDB arrays on object stores: a [`Storage`](tdb_storage::Storage) over S3, Google Cloud
//! Storage, Azure Blob Storage and web servers.
//!
//! [`open`] takes a URL, and looks up credentials like the tools of each store.
//! [`ObjectStorage::new`] takes any configured [`object_store::ObjectStore`]. Pass the result to
//! `tdb_array`, like a local folder.
//!
//! ```
//! use std::sync::Arc;
//! use object_store::memory::InMemory;
//! use tdb_object_store::ObjectStorage;
//! use tdb_storage::Storage;
//!
//! let storage = ObjectStorage::new(Arc::new(InMemory::new()), "memory://example", "arrays")?;
//! storage.create_new("a/file", b"0123456789")?;
//! assert_eq!(storage.list("a")?.len(), 1);
//!
//! let mut bytes = [0; 3];
//! storage.open_sized("a/file", 10)?.read_into(4, &mut bytes)?;
//! assert_eq!(&bytes, b"456");
//! # Ok::<(), tdb_storage::StorageError>(())
//! ```
//!
//! # Differences from a file system
//! - Stores have no folders. [`create_folder`](tdb_storage::Storage::create_folder) does nothing,
//!   and a folder exists while it contains a file. Files need no parent folder.
//! - Files appear atomically: a file from [`create_file`](tdb_storage::Storage::create_file) is
//!   invisible before [`finish`](tdb_storage::WriteFile::finish).
//! - Files are never overwritten: writes ask the store to refuse existing names. Stores without
//!   these conditions are [rejected](StoreProblem::IgnoresConditions).
//! - After a lost response, a mark in the attributes of the file proves that the write succeeded:
//!   [`StoreOptions::mark_writes`].
//! - Renaming a folder copies file by file within the store.
//!
//! # Threads
//! All calls block. Requests run on a runtime of this crate. Calls also work on threads of another
//! runtime, but only where blocking is allowed.

mod cache;
mod conditions;
mod connector;
mod credentials;
mod emptied;
mod error;
mod excess;
mod fetch;
mod file;
mod folder;
mod forget;
mod location;
mod mark;
mod options;
mod pause;
mod place;
mod put;
mod range;
mod runtime;
mod said;
mod settings;
mod storage;
mod web;
mod web_storage;
mod write;

pub use connector::Connector;
pub use error::{SCHEMES, StoreProblem, UrlError};
pub use location::{Stores, open, open_with};
pub use object_store;
pub use options::StoreOptions;
pub use storage::ObjectStorage;
