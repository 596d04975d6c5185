//! Resolution of URIs to arrays and groups.

use std::fmt;
use std::sync::Arc;

use datafusion::error::Result;
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{Array, ArrayError, ArrayOptions, Group, GroupOptions, TimeRange};
use tdb_storage::{LocalStorage, Storage, StorageError};

use crate::opened::Opened;
use crate::recent::Recent;
use crate::{TableOptions, error};

type OpenStorage = dyn Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync;
type FindKey = dyn Fn(&str) -> Option<EncryptionKey> + Send + Sync;

/// Resolves URIs to storages and encryption keys.
///
/// The program provides the functions. This crate therefore has no dependency on stores. Cloning is
/// cheap.
#[derive(Clone)]
pub struct Opener {
    storage: Arc<OpenStorage>,
    key: Arc<FindKey>,
    /// Recently opened arrays, if kept.
    recent: Option<Arc<Recent>>,
}

impl Opener {
    /// Creates an opener from a function that returns the storage for a URI. Has no keys.
    pub fn new(storage: impl Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync + 'static) -> Self {
        Self { storage: Arc::new(storage), key: Arc::new(|_| None), recent: None }
    }

    /// Opens local folders by path or `file://…`. Every character is part of the name.
    #[must_use]
    pub fn local() -> Self {
        Self::new(|uri| {
            let path = uri.strip_prefix("file://").filter(|path| path.starts_with('/')).unwrap_or(uri);
            match path.split_once("://") {
                Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                    Err(StorageError::BadPath { path: uri.to_owned(), why: "this opener supports local folders only" })
                }
                _ => Ok(Arc::new(LocalStorage::new(path))),
            }
        })
    }

    /// Sets the function that returns the key for a URI. Opening an unencrypted array with a key
    /// fails.
    #[must_use]
    pub fn with_keys(mut self, key: impl Fn(&str) -> Option<EncryptionKey> + Send + Sync + 'static) -> Self {
        self.key = Arc::new(key);
        self
    }

    /// Keeps opened arrays, and reopens them incrementally. Each time, folders are listed, but
    /// known files are not read again. Assumes that a URI always refers to the same storage.
    #[must_use]
    pub(crate) fn remembering(mut self) -> Self {
        self.recent = Some(Arc::default());
        self
    }

    /// Returns the storage at a URI.
    ///
    /// # Errors
    /// The URI is invalid or has an unsupported scheme.
    pub fn storage(&self, uri: &str) -> Result<Arc<dyn Storage>> {
        (self.storage)(uri).map_err(|error| error::of_array(uri, error.into()))
    }

    /// Opens the array at a URI. Its queries run on the calling thread. Blocks.
    ///
    /// # Errors
    /// The array does not exist or cannot be opened.
    pub fn array(&self, uri: &str, time: Option<TimeRange>) -> Result<Array> {
        if let Some(array) = self.again(uri, time) {
            return Ok(array);
        }
        let opened = self.array_on(uri, self.storage(uri)?, time);
        opened.map_err(|error| error::of_array(uri, error))
    }

    /// Reopens a recently opened array in its current state. Returns `None` if the array is not
    /// known or the reopening fails. The caller then opens it from scratch, for a proper error.
    /// Blocks.
    pub(crate) fn again(&self, uri: &str, time: Option<TimeRange>) -> Option<Array> {
        let recent = self.recent.as_ref()?;
        let last = recent.array(uri, time)?;
        let again = match last.is_opened_with((self.key)(uri).as_ref()) {
            true => last.refreshed(time).ok(),
            false => None,
        };
        match &again {
            Some(array) => recent.keep_array(uri, time, array),
            None => recent.forget(uri),
        }
        again
    }

    /// Returns the array with its columns, reusing earlier results.
    pub(crate) fn opened(&self, uri: &str, array: Array, options: TableOptions) -> Result<Arc<Opened>> {
        let Some(recent) = &self.recent else { return Opened::new(uri, array, options) };
        let opened = match recent.opened(uri, |last| last.has_columns_of(&array, &options)) {
            Some(last) => last.again(array, options)?,
            None => Opened::new(uri, array, options)?,
        };
        recent.keep_opened(&opened);
        Ok(opened)
    }

    /// Opens the array on a storage.
    pub(crate) fn array_on(
        &self,
        uri: &str,
        storage: Arc<dyn Storage>,
        time: Option<TimeRange>,
    ) -> Result<Array, ArrayError> {
        let mut options = ArrayOptions::new().threads(1).with_footers();
        if let Some(time) = time {
            options = options.between(time);
        }
        if let Some(key) = (self.key)(uri) {
            options = options.key(key);
        }
        let array = options.open_on(storage)?;
        if let Some(recent) = &self.recent {
            recent.keep_array(uri, time, &array);
        }
        Ok(array)
    }

    /// Opens the group at a URI. Blocks.
    ///
    /// # Errors
    /// The group does not exist or cannot be opened.
    pub(crate) fn group(&self, uri: &str, time: Option<TimeRange>) -> Result<Group> {
        let mut options = GroupOptions::new();
        if let Some(time) = time {
            options = options.between(time);
        }
        if let Some(key) = (self.key)(uri) {
            options = options.key(key);
        }
        let storage = self.storage(uri)?;
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        let opened = match path.contains("://") {
            true => options.open_on(storage),
            false => options.open_on_folder(storage, path),
        };
        opened.map_err(|error| error::of_array(uri, error))
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}
