//! Paths of requests.

use percent_encoding::percent_decode_str;
use tdb_storage::check_path;

/// Decodes and checks the path of a URL. Returns the path without the first slash.
///
/// Decodes once. Returns `None` for paths with empty components (except at the end), names with a
/// dot at the start, backslashes or control characters. On Windows, also rejects names of devices
/// and streams. The server has no files at rejected paths.
///
/// ```
/// use tdb_serve::decoded_path;
///
/// assert_eq!(decoded_path("/data/my%20array/").as_deref(), Some("data/my array/"));
/// assert_eq!(decoded_path("/data/%2e%2e/secret"), None);
/// assert_eq!(decoded_path("/data/.git/config"), None);
/// ```
#[must_use]
pub fn decoded_path(path: &str) -> Option<String> {
    let path = percent_decode_str(path.strip_prefix('/')?).decode_utf8().ok()?;
    let inside = path.strip_suffix('/').unwrap_or(&path);
    if inside.is_empty() {
        return path.is_empty().then(String::new);
    }
    check_path(inside).ok()?;
    inside.split('/').all(is_served).then(|| path.into_owned())
}

/// Returns `true` for served names: not hidden, and without a special meaning.
pub(crate) fn is_served(name: &str) -> bool {
    let is_special = name.starts_with('.') || name.chars().any(char::is_control);
    !is_special && (!cfg!(windows) || !is_special_on_windows(name))
}

/// Returns `true` for names of devices, streams and aliases on Windows.
fn is_special_on_windows(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_device = match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        stem => {
            let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
            number.is_some_and(|number| number.chars().count() == 1 && number != "0")
        }
    };
    // Short names contain `~` and are aliases.
    is_device || name.ends_with(['.', ' ']) || name.contains([':', '~', '*', '?', '"', '<', '>', '|'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once() {
        for (path, decoded) in [
            ("/", ""),
            ("/a", "a"),
            ("/a/", "a/"),
            ("/a/b%20c", "a/b c"),
            ("/a%2Fb", "a/b"),
            ("/%C3%A9", "é"),
            ("/a%25b", "a%b"),
            // Names of files with percent signs.
            ("/%252e%252e/a", "%2e%2e/a"),
            ("/a%252fb", "a%2fb"),
            ("/a..b/c..", "a..b/c.."),
            ("/~a", "~a"),
        ] {
            assert_eq!(decoded_path(path).as_deref(), Some(decoded), "{path}");
        }
    }

    #[test]
    fn paths_that_leave_the_folder_are_rejected() {
        let paths = [
            "",
            "a",
            "*",
            "http://host/a",
            "//",
            "//a",
            "/a//b",
            "/a//",
            "/..",
            "/../a",
            "/a/..",
            "/a/../b",
            "/a/./b",
            "/.",
            "/%2e%2e",
            "/%2E%2E/a",
            "/.%2e/a",
            "/a%2f..%2f..%2fb",
            "/a/%2e%2e%2fb",
            "/%2fetc/passwd",
            "/a%00",
            "/%00",
            "/a\\..\\b",
            "/..%5c..%5ca",
            "/%5c%5chost",
            "/C:%5Ca",
            "/%ff",
            "/%c0%ae%c0%ae/a",
            "/a%0d%0ab",
            "/a/%7f",
            "/.git/config",
            "/a/.tdb-quarantine/1/f",
            "/a/.tdb-1-1.tmp",
            "/.%20/a",
        ];
        for path in paths {
            assert_eq!(decoded_path(path), None, "{path}");
        }
    }

    #[test]
    fn devices_of_windows_are_special() {
        for name in ["CON", "nul", "Aux.txt", "COM1", "lpt9.tdb", "COM¹", "a:b", "a.", "a ", "CONIN$", "PROGRA~1"] {
            assert!(is_special_on_windows(name), "{name}");
        }
        for name in ["console", "__schema", "a0.tdb", "COM", "COM10", "nulls", "LPT0", "a.con"] {
            assert!(!is_special_on_windows(name), "{name}");
        }
    }
}
