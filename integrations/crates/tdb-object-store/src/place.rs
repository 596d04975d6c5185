//! Where a folder lies in a store.

use std::fmt;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tdb_storage::{Result, StorageError, check_path};
use tokio::sync::Semaphore;

use crate::StoreOptions;
use crate::cache::ReadCache;
use crate::conditions::Conditions;
use crate::emptied::Emptied;

/// What the folder, its files and writers share.
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The folder's path in the store, without slashes around it.
    pub(crate) root: String,
    /// How the user names the folder, without a slash at its end; percent-encoded where it is a URL of the web.
    pub(crate) url: String,
    pub(crate) options: StoreOptions,
    /// What was read of files that never change, if any is kept.
    pub(crate) cache: Option<Arc<ReadCache>>,
    pub(crate) conditions: Arc<Conditions>,
    pub(crate) emptied: Arc<Emptied>,
    /// Parts of files that may be on their way at once, of all files together.
    pub(crate) parts: Arc<Semaphore>,
}

impl fmt::Debug for Place {
    /// The store's own text could show keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Place {
    /// Where a file or folder lies in the store.
    pub(crate) fn location(&self, path: &str) -> Result<Path> {
        check_path(path)?;
        let whole = joined(&self.root, path);
        let bad = |_| StorageError::BadPath { path: path.to_owned(), why: "no object of a store can be called so" };
        Path::parse(whole).map_err(bad)
    }

    pub(crate) fn describe(&self, path: &str) -> String {
        described(&self.url, path)
    }
}

/// Whether URLs of a scheme are percent-encoded, as HTTP demands. Other stores take names as they are.
pub(crate) fn is_web(scheme: &str) -> bool {
    matches!(scheme, "http" | "https")
}

/// What has no meaning of its own in the path of a URL.
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

/// How the user names what is at a path in the folder at a URL.
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
