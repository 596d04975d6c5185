//! Validation of paths.

use crate::{Result, StorageError};

/// Checks that a path is relative, uses `/` as separator, and cannot leave the root of its storage.
/// The empty path is the root.
///
/// Rejects empty components (leading, trailing and doubled slashes), `.`, `..`, backslashes and
/// NUL. On Windows it also rejects `:`, which starts a drive or a stream. Names in array files are
/// untrusted, so every storage checks every path before use.
///
/// # Errors
/// [`StorageError::BadPath`] with the violated rule.
pub fn check_path(path: &str) -> Result<()> {
    match broken_rule(path) {
        None => Ok(()),
        Some(why) => Err(StorageError::BadPath { path: path.to_owned(), why }),
    }
}

/// Checks a path like [`check_path`], and rejects the root.
pub(crate) fn check_below_root(path: &str) -> Result<()> {
    if path.is_empty() {
        let why = "expected a path below the root, found an empty path";
        return Err(StorageError::BadPath { path: String::new(), why });
    }
    check_path(path)
}

fn broken_rule(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return None;
    }
    if path.contains(['\\', '\0']) {
        return Some("contains a backslash or NUL");
    }
    if cfg!(windows) && path.contains(':') {
        return Some("contains a colon");
    }
    path.split('/').find_map(|component| match component {
        "" => Some("contains an empty component; expected a relative path with single slashes"),
        "." | ".." => Some("contains the component '.' or '..'"),
        _ => None,
    })
}

/// Joins `folder` and `name`, either of which may be empty.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", only) | (only, "") => only.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// Returns the parent folder of `path`, or `None` for the root.
pub(crate) fn parent(path: &str) -> Option<&str> {
    if path.is_empty() { None } else { Some(path.rsplit_once('/').map_or("", |(folder, _)| folder)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_root_are_accepted() {
        for path in ["", "a", "a/b", "__fragments/__1_1_f_22/a0.tdb", "..a", "a..", "...", "a b", "é", "%2F", "-", "~"]
        {
            check_path(path).unwrap();
        }
    }

    #[test]
    fn paths_that_may_leave_the_root_are_rejected() {
        for path in ["/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a\\b", "..\\a", "a\0", "\0", "//"] {
            assert!(matches!(check_path(path), Err(StorageError::BadPath { .. })), "{path:?}");
        }
        assert!(matches!(check_below_root(""), Err(StorageError::BadPath { .. })));
    }

    #[test]
    fn parents_and_joins() {
        assert_eq!([parent(""), parent("a"), parent("a/b/c")], [None, Some(""), Some("a/b")]);
        assert_eq!([join("", ""), join("", "a"), join("a", ""), join("a", "b")], ["", "a", "a", "a/b"]);
    }
}
