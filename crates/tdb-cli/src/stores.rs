//! Storages of URI schemes that extensions add.

use std::ffi::OsStr;
use std::sync::{Arc, OnceLock};

use percent_encoding::percent_decode_str;
use tdb_storage::{Storage, StorageError};

/// A function that opens the storage of a URI.
pub(crate) type OpenStorage = Box<dyn Fn(&str) -> Result<Arc<dyn Storage>, StorageError> + Send + Sync>;

/// The added schemes.
struct Added {
    storages: Vec<(&'static str, OpenStorage)>,
    has_more: bool,
}

static ADDED: OnceLock<Added> = OnceLock::new();

/// Registers the schemes. `has_more` is `true` if there are other extensions. Must be called once.
pub(crate) fn begin(storages: Vec<(&'static str, OpenStorage)>, has_more: bool) {
    // No earlier call has initialized the value.
    let _ = ADDED.set(Added { storages, has_more });
}

/// Returns `true` if the program has no extensions.
pub(crate) fn nothing_was_added() -> bool {
    ADDED.get().is_none_or(|added| added.storages.is_empty() && !added.has_more)
}

/// Returns the storage of a URI, or `None` if no extension supports its scheme.
pub(crate) fn open(argument: &OsStr) -> Option<Result<Arc<dyn Storage>, StorageError>> {
    let uri = argument.to_str()?;
    let (scheme, _) = uri.split_once("://")?;
    let (_, open) = ADDED.get()?.storages.iter().find(|(known, _)| known.eq_ignore_ascii_case(scheme))?;
    Some(open(uri))
}

/// Splits a URI into path and query (`?region=…`). The query applies to every parent path too. It
/// begins at the last `?`, since names may contain `?`.
pub(crate) fn without_query(uri: &str) -> (&str, &str) {
    let (path, query) = uri.split_at(uri.rfind('?').unwrap_or(uri.len()));
    (path.trim_end_matches('/'), query)
}

/// Returns the name in the last part of the path of a URI. URLs with `http` and `https` are
/// percent-encoded. Other URIs contain names literally.
pub(crate) fn name_of(scheme: &str, part: &str) -> String {
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => percent_decode_str(part).decode_utf8_lossy().into_owned(),
        _ => part.to_owned(),
    }
}

/// Returns `true` if an extension supports the scheme.
pub(crate) fn opens(scheme: &str) -> bool {
    ADDED.get().is_some_and(|added| added.storages.iter().any(|(known, _)| known.eq_ignore_ascii_case(scheme)))
}

/// Returns the schemes that extensions support.
pub(crate) fn schemes() -> Vec<&'static str> {
    ADDED.get().map_or_else(Vec::new, |added| added.storages.iter().map(|(scheme, _)| *scheme).collect())
}
