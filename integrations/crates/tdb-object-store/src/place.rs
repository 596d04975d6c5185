//! Location of a folder in a store.

use std::fmt;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tdb_storage::{Result, StorageError, check_path};
use tokio::sync::Semaphore;

use crate::StoreOptions;
use crate::cache::ReadCache;
use crate::conditions::Conditions;
use crate::emptied::Emptied;
use crate::error::of_store;

/// State of a folder, shared with its files and writers.
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// Path of the folder in the store, without slashes around it.
    pub(crate) root: String,
    /// Location of the folder as shown to the user, without a trailing slash. Percent-encoded for
    /// web URLs.
    pub(crate) url: String,
    pub(crate) options: StoreOptions,
    /// Cache of immutable files, if enabled.
    pub(crate) cache: Option<Arc<ReadCache>>,
    pub(crate) conditions: Arc<Conditions>,
    pub(crate) emptied: Arc<Emptied>,
    /// Permits for parts in flight, over all files.
    pub(crate) parts: Arc<Semaphore>,
}

impl fmt::Debug for Place {
    /// Omits the store, because the debug output could contain keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Place {
    /// Returns the path of a file or folder in the store.
    pub(crate) fn location(&self, path: &str) -> Result<Path> {
        check_path(path)?;
        let whole = joined(&self.root, path);
        let bad = |_| StorageError::BadPath { path: path.to_owned(), why: "not a valid name of an object in a store" };
        Path::parse(whole).map_err(bad)
    }

    /// Returns `true` for a folder on a web server.
    pub(crate) fn is_web(&self) -> bool {
        self.url.split_once("://").is_some_and(|(scheme, _)| is_web(scheme))
    }

    pub(crate) fn describe(&self, path: &str) -> String {
        described(&self.url, path)
    }

    /// Converts an error of the store about a path.
    pub(crate) fn failed(&self, path: &str, error: &StoreError) -> StorageError {
        of_store(self.describe(path), error, self.options.unsigned)
    }
}

/// Returns `true` if URLs of the scheme are percent-encoded, as HTTP requires. Other stores take
/// names literally.
pub(crate) fn is_web(scheme: &str) -> bool {
    matches!(scheme, "http" | "https")
}

/// Characters to percent-encode. Excludes characters without a special meaning in the path of a
/// URL.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// Returns the location of a path below a URL, as shown to the user.
pub(crate) fn described(url: &str, path: &str) -> String {
    match url.split_once("://") {
        Some((scheme, _)) if is_web(scheme) => joined(url, &utf8_percent_encode(path, PLAIN).to_string()),
        _ => joined(url, path),
    }
}

pub(crate) fn joined(folder: &str, path: &str) -> String {
    match (folder, path) {
        ("", only) | (only, "") => only.to_owned(),
        (folder, path) => format!("{folder}/{path}"),
    }
}
