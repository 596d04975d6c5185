//! Paths of the repository that some systems cannot check out.

use std::path::Path;

use super::Result;
use super::files::paths;

/// Characters that Windows forbids in names. The slash separates names.
const REFUSED: [char; 8] = ['<', '>', ':', '"', '|', '?', '*', '\\'];

/// Names of Windows devices, reserved with any extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Prefixes of numbered devices, which are reserved when followed by a digit.
const NUMBERED: [&str; 2] = ["com", "lpt"];

/// Fails if a tracked or new file has a path that Windows refuses.
pub(super) fn check(repository: &Path) -> Result {
    let paths = paths(repository)?;
    let refused: Vec<&str> = paths.iter().map(String::as_str).filter(|path| path.split('/').any(is_refused)).collect();
    println!("{} paths, {} of which Windows refuses", paths.len(), refused.len());
    if refused.is_empty() { Ok(()) } else { Err(format!("Windows refuses:\n{}", refused.join("\n")).into()) }
}

/// `true` if Windows refuses a file or folder with this name.
fn is_refused(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_numbered = |device| matches!(stem.strip_prefix(device).map(str::as_bytes), Some([b'1'..=b'9']));
    name.ends_with(['.', ' '])
        || name.contains(REFUSED)
        || name.contains(|character: char| character.is_ascii_control())
        || DEVICES.contains(&&*stem)
        || NUMBERED.into_iter().any(is_numbered)
}

#[cfg(test)]
mod tests {
    use super::is_refused;

    #[test]
    fn names_refused_by_windows_are_detected() {
        for name in
            ["a<b", "a>b", "a:b", "a\"b", "a|b", "a?b", "a*b", "a\\b", "a.", "a ", "a\tb", "CON", "nul.txt", "com1"]
        {
            assert!(is_refused(name), "{name:?}");
        }
        for name in
            [".ci", "a b", "a%20b.tdb", "console.rs", "com10", "com", "con-1.rs", "a..b", "größer", "v22.tar.gz"]
        {
            assert!(!is_refused(name), "{name:?}");
        }
    }
}
