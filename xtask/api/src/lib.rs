//! Differences between two lists of the public items of crates.
//!
//! An item is a line as printed by the crate `public-api`.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The keywords of an item, for example `fn ` of a function. Fields and variants have no keywords.
/// An `impl` does not match.
static KEYWORDS: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:#\[.*\] )?pub ((?:[a-z]+ )*)"));

/// The path of a type in a module.
static PATH: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[a-z]\w*::(?:[a-z]\w*::)+[A-Z]\w*"));

/// Compiles a constant expression.
fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a regular expression")
}

/// The keywords and the path of an item, without generic parameters. `None` for an `impl`.
fn parts(item: &str) -> Option<(&str, String)> {
    let found = KEYWORDS.captures(item)?;
    let (mut path, mut depth) = (String::new(), 0);
    for character in item[found.get(0)?.end()..].chars() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth > 0 => {}
            '_' | ':' => path.push(character),
            _ if character.is_alphanumeric() => path.push(character),
            _ => break,
        }
    }
    Some((found.get(1)?.as_str(), path.trim_end_matches(':').to_owned()))
}

/// Public paths of items, by crate and last name.
#[derive(Debug)]
pub struct PublicPaths(HashMap<(String, String), HashSet<String>>);

impl PublicPaths {
    /// Collects the paths of public items.
    pub fn of<'a>(items: impl Iterator<Item = &'a String>) -> Self {
        let mut paths: HashMap<_, HashSet<_>> = HashMap::new();
        for (_, path) in items.filter_map(|item| parts(item)).filter(|(keywords, _)| !keywords.is_empty()) {
            paths.entry(ends(&path)).or_default().insert(path);
        }
        Self(paths)
    }

    /// Replaces paths with private modules by public paths. Therefore items may move between files.
    #[must_use]
    pub fn shorten(&self, item: &str) -> String {
        let public = |found: &Captures| match self.0.get(&ends(&found[0])) {
            Some(paths) if paths.len() == 1 => paths.iter().next().cloned(),
            _ => None,
        };
        PATH.replace_all(item, |found: &Captures| public(found).unwrap_or_else(|| found[0].to_owned())).into_owned()
    }
}

/// Returns the first and the last name of a path.
fn ends(path: &str) -> (String, String) {
    let first = path.split("::").next().unwrap_or(path);
    (first.to_owned(), path.rsplit("::").next().unwrap_or(path).to_owned())
}

/// Differences between two lists of items.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Removed and changed items, and additions that can break users.
    pub breaking: Vec<String>,
    /// Other new items.
    pub additions: Vec<String>,
}

impl Changes {
    /// Compares two lists with a line for each item.
    #[must_use]
    pub fn between(old: &str, new: &str) -> Self {
        let [before, after] = [old, new].map(|text| text.lines().collect::<HashSet<_>>());
        let removed: Vec<&str> = old.lines().filter(|item| !after.contains(item)).collect();
        let changed: HashSet<_> = removed.iter().filter_map(|item| parts(item)).map(|(_, path)| path).collect();
        let mut owners: HashMap<String, &str> = HashMap::new();
        for item in old.lines() {
            owners.extend(parts(item).map(|(_, path)| (path, item)));
        }
        let mut changes = Self::default();
        changes.breaking.extend(removed.iter().map(|item| format!("- {item}")));
        for item in new.lines().filter(|item| !before.contains(item)) {
            let is_changed = parts(item).is_some_and(|(_, path)| changed.contains(&path));
            let list =
                if is_changed || is_breaking(item, &owners) { &mut changes.breaking } else { &mut changes.additions };
            list.push(format!("+ {item}"));
        }
        // The old and the new form of an item are adjacent.
        changes.breaking.sort_by_cached_key(|line| parts(&line[2..]).map(|(_, path)| path));
        changes
    }

    /// Formats the changes for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let lists = [("can break users", &self.breaking), ("additions", &self.additions)];
        let lists = lists.iter().filter(|(_, list)| !list.is_empty());
        lists.map(|(title, list)| format!("  {title}:\n    {}\n", list.join("\n    "))).collect()
    }
}

/// Returns `true` if a new item can break users: an item of a trait, a variant or field of an
/// exhaustive type, or a lost auto trait.
fn is_breaking(item: &str, owners: &HashMap<String, &str>) -> bool {
    let owner = || {
        let (keywords, path) = parts(item)?;
        let owner = owners.get(path.rsplit_once("::")?.0)?;
        Some((keywords, *owner, parts(owner)?.0))
    };
    item.contains(" !core::marker::S")
        || owner().is_some_and(|(keywords, owner, kind)| match kind.trim_end() {
            "trait" => true,
            "enum" | "struct" | "" => keywords.is_empty() && !owner.contains("#[non_exhaustive]"),
            _ => false,
        })
}
