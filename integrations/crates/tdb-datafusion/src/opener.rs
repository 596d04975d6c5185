//! From a URI to the array or group that it names.

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

/// How URIs become arrays: which storage each of them names, and the key of each encrypted one.
///
/// It is what a program hands in, so that this crate knows no stores; a clone is cheap.
#[derive(Clone)]
pub struct Opener {
    storage: Arc<OpenStorage>,
    key: Arc<FindKey>,
    /// What was open last, if that is kept.
    recent: Option<Arc<Recent>>,
}

impl Opener {
    /// The storages that a function gives for URIs, and no keys.
    pub fn new(storage: impl Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync + 'static) -> Self {
        Self { storage: Arc::new(storage), key: Arc::new(|_| None), recent: None }
    }

    /// Folders of this machine, by their paths or as `file://…`, each character of which is part of a name.
    #[must_use]
    pub fn local() -> Self {
        Self::new(|uri| {
            let path = uri.strip_prefix("file://").filter(|path| path.starts_with('/')).unwrap_or(uri);
            match path.split_once("://") {
                Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                    Err(StorageError::BadPath { path: uri.to_owned(), why: "only local folders are opened here" })
                }
                _ => Ok(Arc::new(LocalStorage::new(path))),
            }
        })
    }

    /// With the keys that a function gives for URIs. An array that is not encrypted is refused if it gives one for it.
    #[must_use]
    pub fn with_keys(mut self, key: impl Fn(&str) -> Option<EncryptionKey> + Send + Sync + 'static) -> Self {
        self.key = Arc::new(key);
        self
    }

    /// An opener that opens what it has opened before by what is known of it: what lies at a URI is listed anew each time, and nothing that
    /// is still there read again. It takes for granted that a URI goes on naming the same storage.
    #[must_use]
    pub(crate) fn remembering(mut self) -> Self {
        self.recent = Some(Arc::default());
        self
    }

    /// The storage at a URI.
    ///
    /// # Errors
    /// The URI is none, or of an unknown kind.
    pub fn storage(&self, uri: &str) -> Result<Arc<dyn Storage>> {
        (self.storage)(uri).map_err(|error| error::of_array(uri, error.into()))
    }

    /// The array at a URI, each query of which runs on its caller's thread. It blocks.
    ///
    /// # Errors
    /// There is no array, or it can't be opened.
    pub fn array(&self, uri: &str, time: Option<TimeRange>) -> Result<Array> {
        if let Some(array) = self.again(uri, time) {
            return Ok(array);
        }
        let opened = self.array_on(uri, self.storage(uri)?, time);
        opened.map_err(|error| error::of_array(uri, error))
    }

    /// The array at a URI that was open before, as it is now; none if there is no such array, or what is wrong with it now has to be
    /// found out by opening it anew. It blocks.
    pub(crate) fn again(&self, uri: &str, time: Option<TimeRange>) -> Option<Array> {
        let recent = self.recent.as_ref()?;
        let last = recent.array(uri, time)?;
        let again = match last.is_opened_with((self.key)(uri).as_ref()) {
            true => last.opened_again(time).ok(),
            false => None,
        };
        match &again {
            Some(array) => recent.keep_array(uri, time, array),
            None => recent.forget(uri),
        }
        again
    }

    /// The array with its columns, of which nothing is made anew that was made before.
    pub(crate) fn opened(&self, uri: &str, array: Array, options: TableOptions) -> Result<Arc<Opened>> {
        let Some(recent) = &self.recent else { return Opened::new(uri, array, options) };
        let opened = match recent.opened(uri, |last| last.has_columns_of(&array, &options)) {
            Some(last) => last.again(array, options)?,
            None => Opened::new(uri, array, options)?,
        };
        recent.keep_opened(&opened);
        Ok(opened)
    }

    /// The array on the storage that is at a URI.
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

    /// The group at a URI. It blocks.
    ///
    /// # Errors
    /// There is no group, or it can't be opened.
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
