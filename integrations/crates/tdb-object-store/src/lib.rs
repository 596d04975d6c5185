//! Arrays on object stores: a [`Storage`](tdb_storage::Storage) over S3, Google Cloud Storage, Azure Blob Storage and WebDAV.
//!
//! [`open`] takes a URL and finds the credentials where the tools of each store look for them; [`ObjectStorage::new`] takes any
//! [`object_store::ObjectStore`] that is configured already. What comes out is given to `tdb_array`, like a local folder.
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
//! # What is different on a store
//! - There are no folders: [`create_folder`](tdb_storage::Storage::create_folder) does nothing, and a folder is there as long as
//!   something is in it. A file may lie in a folder that nobody made.
//! - A file is there when it was written as a whole: one made by [`create_file`](tdb_storage::Storage::create_file) is seen by nobody
//!   before [`finish`](tdb_storage::WriteFile::finish).
//! - Nothing is overwritten, as everywhere: writes ask the store to refuse when something has the name. Stores that don't
//!   know such conditions, or ignore them, are [refused by name](StoreProblem::IgnoresConditions).
//! - A write whose answer gets lost is known again by a mark among the file's attributes: [`StoreOptions::mark_writes`].
//! - A folder is renamed file by file, by copies within the store.
//!
//! # Threads
//! All calls block. They wait for a runtime of this crate's own, so that they work inside of other people's runtimes
//! too, where they keep a thread waiting: call them where blocking is allowed.

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
mod unsigned;
mod web;
mod write;

pub use connector::Connector;
pub use error::{SCHEMES, StoreProblem, UrlError};
pub use location::{Stores, open, open_with};
pub use object_store;
pub use options::StoreOptions;
pub use storage::ObjectStorage;
