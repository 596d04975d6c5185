//! The one place that decides which paths are allowed.

use crate::{Result, StorageError};

/// Checks a path inside a storage: relative, `/`-separated, and unable to leave the root. The empty path is the root.
///
/// Refused are empty components (so leading, trailing and doubled slashes too), `.` and `..`, backslashes and NUL, and
/// on Windows also `:`, which starts a drive or a stream there. Names in files of an array come from strangers; every
/// storage passes every path through here before it does anything else.
///
/// # Errors
/// [`StorageError::BadPath`], naming the rule.
pub fn check_path(path: &str) -> Result<()> {
    match broken_rule(path) {
        None => Ok(()),
        Some(why) => Err(StorageError::BadPath { path: path.to_owned(), why }),
    }
}

/// As [`check_path`], for what can't be done to the root itself.
pub(crate) fn check_below_root(path: &str) -> Result<()> {
    if path.is_empty() {
        let why = "it is empty, and this can't be done to the root itself";
        return Err(StorageError::BadPath { path: String::new(), why });
    }
    check_path(path)
}

fn broken_rule(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return None;
    }
    if path.contains(['\\', '\0']) {
        return Some("it holds a backslash or NUL");
    }
    if cfg!(windows) && path.contains(':') {
        return Some("it holds a colon");
    }
    path.split('/').find_map(|component| match component {
        "" => Some("it has an empty component (it must be relative, with single slashes inside)"),
        "." | ".." => Some("it has the component '.' or '..'"),
        _ => None,
    })
}

/// `folder` and `name` as one path.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", only) | (only, "") => only.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// The folder that `path` lies in; `None` for the root.
pub(crate) fn parent(path: &str) -> Option<&str> {
    if path.is_empty() { None } else { Some(path.rsplit_once('/').map_or("", |(folder, _)| folder)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_inside_is_allowed() {
        for path in ["", "a", "a/b", "__fragments/__1_1_f_22/a0.tdb", "..a", "a..", "...", "a b", "é", "%2F", "-", "~"]
        {
            check_path(path).unwrap();
        }
    }

    #[test]
    fn what_could_leave_is_refused() {
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
