//! The schemes of URIs that a program has added.

use std::ffi::OsStr;
use std::sync::{Arc, OnceLock};

use percent_encoding::percent_decode_str;
use tdb_storage::{Storage, StorageError};

/// Gives the storage that a URI names.
pub(crate) type OpenStorage = Box<dyn Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync>;

/// What was added.
struct Added {
    storages: Vec<(&'static str, OpenStorage)>,
    has_more: bool,
}

static ADDED: OnceLock<Added> = OnceLock::new();

/// Notes the ways to open URIs, and whether something else was added too; once.
pub(crate) fn begin(storages: Vec<(&'static str, OpenStorage)>, has_more: bool) {
    // Nobody has asked for them yet.
    let _ = ADDED.set(Added { storages, has_more });
}

/// Whether this is a program that nothing was added to.
pub(crate) fn nothing_was_added() -> bool {
    ADDED.get().is_none_or(|added| added.storages.is_empty() && !added.has_more)
}

/// The storage that a URI names, if it is of a scheme that was added.
pub(crate) fn open(argument: &OsStr) -> Option<Result<Arc<dyn Storage>, StorageError>> {
    let uri = argument.to_str()?;
    let (scheme, _) = uri.split_once("://")?;
    let (_, open) = ADDED.get()?.storages.iter().find(|(known, _)| known.eq_ignore_ascii_case(scheme))?;
    Some(open(uri))
}

/// A URI without what follows its path (`?region=…`), and that. What follows goes with every part of the path. It begins at the
/// last `?`: a name may contain others.
pub(crate) fn without_query(uri: &str) -> (&str, &str) {
    let (path, query) = uri.split_at(uri.rfind('?').unwrap_or(uri.len()));
    (path.trim_end_matches('/'), query)
}

/// The name that the last part of a URI's path means. The web's URLs are percent-encoded; other URIs contain names as they are.
pub(crate) fn name_of(scheme: &str, part: &str) -> String {
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => percent_decode_str(part).decode_utf8_lossy().into_owned(),
        _ => part.to_owned(),
    }
}

/// Whether URIs of a scheme can be opened.
pub(crate) fn opens(scheme: &str) -> bool {
    ADDED.get().is_some_and(|added| added.storages.iter().any(|(known, _)| known.eq_ignore_ascii_case(scheme)))
}

/// The schemes of URIs that can be opened.
pub(crate) fn schemes() -> Vec<&'static str> {
    ADDED.get().map_or_else(Vec::new, |added| added.storages.iter().map(|(scheme, _)| *scheme).collect())
}
