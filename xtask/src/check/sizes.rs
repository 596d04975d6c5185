//! Sizes of crates. Large crates must be divided, so that one engineer can know a crate.

use std::path::Path;

use super::Result;
use super::files::{Sources, sources};

/// Maximum number of lines of the `.rs` files in a crate's `src` folder.
const MOST_LINES: usize = 10_000;

/// Crates above the limit. Divide these crates, and never add any.
const ABOVE: &[&str] = &[];

/// Fails for crates above the limit, and for exceptions that are no longer needed.
pub(super) fn check(repository: &Path) -> Result {
    let lines = |files: Sources| files.values().map(|text| text.lines().count()).sum();
    let sizes: Vec<_> = sources(repository)?.into_iter().map(|(name, files)| (name, lines(files))).collect();
    let wrong = problems(&sizes, ABOVE);
    println!("{} crates, {} with a wrong size", sizes.len(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Describes crates above the limit that are not exceptions, and exceptions below the limit.
fn problems(sizes: &[(String, usize)], above: &[&str]) -> Vec<String> {
    let too_large = sizes.iter().filter(|(name, lines)| *lines > MOST_LINES && !above.contains(&name.as_str()));
    let too_large =
        too_large.map(|(name, lines)| format!("{name}: {lines} lines in src; divide it, {MOST_LINES} is the limit"));
    let is_above = |name: &str| sizes.iter().any(|(of, lines)| of == name && *lines > MOST_LINES);
    let gone = above.iter().filter(|name| !is_above(name));
    let gone = gone.map(|name| format!("{name}: no longer above {MOST_LINES} lines; remove it from the exceptions"));
    too_large.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_crates_and_idle_exceptions_are_reported() {
        let sizes = [("a", MOST_LINES), ("b", MOST_LINES + 1), ("c", MOST_LINES + 1), ("d", 1)];
        let sizes = sizes.map(|(name, lines)| (name.to_owned(), lines));
        let found = problems(&sizes, &["c", "d", "e"]);
        let names: Vec<&str> = found.iter().filter_map(|problem| problem.split(':').next()).collect();
        assert_eq!(names, ["b", "d", "e"]);
    }

    #[test]
    fn workspace_has_only_listed_exceptions() {
        check(&crate::cargo::workspace()).unwrap();
    }
}
