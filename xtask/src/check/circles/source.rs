//! Parses the imports of a source file.

use std::sync::LazyLock;

use regex::Regex;

/// Comments, strings and character literals. A quote without a second quote starts a lifetime.
static TEXT: LazyLock<Regex> = LazyLock::new(|| {
    let raw = (0..5).map(|hashes| "#".repeat(hashes)).map(|hashes| format!(r#"\br{hashes}".*?"{hashes}"#));
    let others = [r"//[^\n]*", r"/\*.*?\*/", r#""(?:[^"\\]|\\.)*""#, r"'(?:\\.[^']*|[^\\'])'"];
    pattern(&format!("(?s){}", raw.chain(others.map(str::to_owned)).collect::<Vec<_>>().join("|")))
});
/// A `use` declaration: its visibility and its tree.
static USE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(pub(?:\([^)]*\))?\s+)?\buse\s([^;]*);"));
/// A visibility with a path, which is not an import.
static VISIBILITY: LazyLock<Regex> = LazyLock::new(|| pattern(r"pub\(in [^)]*\)"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// An imported name, or a path in the code of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The path as written. Its first segment is `crate`, `super`, `self`, a module of the file, or
    /// another crate.
    pub(super) path: Vec<String>,
    /// The name in the file, or `None` for a path in the code. `*` imports all names.
    pub(super) name: Option<String>,
    /// `true` if the import is public.
    pub(super) is_public: bool,
}

/// Returns all imports and all paths of a file, without tests.
pub(super) fn imports(text: &str) -> Vec<Import> {
    let code = without_tests(&TEXT.replace_all(text, ""));
    let mut found = Vec::new();
    for import in USE.captures_iter(&code) {
        expand(&[], import[2].trim(), import.get(1).is_some(), &mut found);
    }
    let code = USE.replace_all(&code, "");
    let code = VISIBILITY.replace_all(&code, "");
    let is_path = |character: char| character.is_alphanumeric() || matches!(character, '_' | ':');
    let paths = code.split(|character| !is_path(character)).filter(|word| word.contains("::"));
    let segments = paths.map(|path| path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect());
    found.extend(segments.map(|path| Import { path, name: None, is_public: false }));
    found
}

/// Removes items with `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        kept.push_str(&rest[..start]);
        rest = &rest[start + MARK.len()..];
        rest = &rest[item_len(rest)..];
    }
    kept + rest
}

/// Returns the length in bytes of the next item, which ends with a semicolon or a closing brace.
fn item_len(code: &str) -> usize {
    let mut depth = 0;
    for (place, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return place,
            ')' | ']' => depth -= 1,
            '}' => {
                depth -= 1;
                // The braces of a `use` tree precede its semicolon.
                if depth == 0 && !code[place + 1..].trim_start().starts_with(';') {
                    return place + 1;
                }
            }
            ';' if depth == 0 => return place + 1,
            _ => {}
        }
    }
    code.len()
}

/// Adds the names of a `use` tree.
fn expand(before: &[String], tree: &str, is_public: bool, found: &mut Vec<Import>) {
    let (head, branches) = match tree.split_once('{') {
        Some((head, rest)) => (head, Some(rest.rsplit_once('}').map_or(rest, |(branches, _)| branches))),
        None => (tree, None),
    };
    let (head, alias) = head.split_once(" as ").map_or((head, None), |(head, alias)| (head, Some(alias.trim())));
    let mut path = before.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    if let Some(branches) = branches {
        split_at_commas(branches).for_each(|branch| expand(&path, branch.trim(), is_public, found));
        return;
    }
    if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
        path.pop();
    }
    if let Some(name) = alias.map(str::to_owned).or_else(|| path.last().cloned()) {
        found.push(Import { path, name: Some(name), is_public });
    }
}

/// Splits a `use` tree at its top-level commas.
fn split_at_commas(branches: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let split = branches.split(move |character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    split.filter(|branch| !branch.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        imports(text).into_iter().map(|import| import.path.join("::")).collect()
    }

    #[test]
    fn use_trees_are_expanded() {
        let text = "use crate::{a::{self, B as C}, d::*};\npub(in crate::x) use super::e::{F, G,};";
        let found = imports(text);
        assert_eq!(names(text), ["crate::a", "crate::a::B", "crate::d::*", "super::e::F", "super::e::G"]);
        let called: Vec<_> = found.iter().map(|import| (import.name.as_deref().unwrap(), import.is_public)).collect();
        assert_eq!(called, [("a", false), ("C", false), ("*", false), ("F", true), ("G", true)]);
    }

    #[test]
    fn paths_in_code_count() {
        assert_eq!(
            names("fn f<'a>() -> crate::A<'a> { part::run('\"', '\\'', super::b) }"),
            ["crate::A", "part::run", "super::b"]
        );
        assert!(names("pub(in crate::a) fn reuse(user: impl Sized + use<>) {}").is_empty());
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        let text = r####"
            //! use crate::a;
            /* use crate::b; */
            const S: &str = "use crate::c; \" crate::d::e";
            const R: &str = r#"use crate::f; " crate::g::h"#;
            #[cfg(test)]
            #[allow(unused)]
            use crate::{i, j};
            #[cfg(test)]
            fn k() { crate::l::m(); }
            use crate::n;
            #[cfg(test)]
            mod tests { use super::*; fn o() { crate::p::q(); } }
        "####;
        assert_eq!(names(text), ["crate::n"]);
    }
}
