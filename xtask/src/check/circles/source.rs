//! Parses the imports of a source file.

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
    let mut code = without_tests(&without_comments_and_strings(text));
    let mut found = Vec::new();
    while let Some((start, end)) = next_use(&code) {
        let before = code[..start].trim_end();
        let is_public = before.ends_with("pub") || before.ends_with(')');
        expand(&[], code[start + 3..end].trim(), is_public, &mut found);
        // A visibility such as `pub(in crate::a)` is not an import.
        let start = if is_public { before.rfind("pub").unwrap_or(start) } else { start };
        code.replace_range(start..end, "");
    }
    let code = without_visibilities(&code);
    let is_path = |character: char| character.is_alphanumeric() || matches!(character, '_' | ':');
    let paths = code.split(|character| !is_path(character)).filter(|word| word.contains("::"));
    let segments = paths.map(|path| path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect());
    found.extend(segments.map(|path| Import { path, name: None, is_public: false }));
    found
}

/// Removes comments, and the contents of strings.
fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let skipped = match character {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string_len(rest),
            'r' if !code.ends_with(|before: char| before.is_alphanumeric() || before == '_') => raw_string_len(rest),
            '\'' => character_len(rest),
            _ => 0,
        };
        if skipped == 0 {
            code.push(character);
            rest = &rest[character.len_utf8()..];
        } else {
            rest = &rest[skipped..];
        }
    }
    code
}

/// Returns the length in bytes of the string at the start of `text`.
fn string_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, character) in text.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return place + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// Returns the length in bytes of the raw string at the start of `text`, or 0.
fn raw_string_len(text: &str) -> usize {
    let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
    if !text[1 + hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let start = 2 + hashes;
    text[start..].find(&end).map_or(text.len(), |place| start + place + end.len())
}

/// Returns the length in bytes of the character literal at the start of `text`, or 0 for a
/// lifetime.
fn character_len(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((place, escaped))) => {
            let from = place + escaped.len_utf8();
            text[from..].find('\'').map_or(0, |end| from + end + 1)
        }
        (Some(_), Some((place, '\''))) => place + 1,
        _ => 0,
    }
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

/// Returns the start of the next `use` and the position of its semicolon.
fn next_use(code: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(found) = code[from..].find("use") {
        let start = from + found;
        from = start + 3;
        let is_word =
            !code[..start].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':');
        // `use<'a>` is a precise capturing bound.
        if is_word && code[from..].starts_with(char::is_whitespace) {
            return code[from..].find(';').map(|end| (start, from + end));
        }
    }
    None
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

/// Removes visibilities such as `pub(in path)`.
fn without_visibilities(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find("pub(in ") {
        kept.push_str(&rest[..start]);
        rest = rest[start..].split_once(')').map_or("", |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        imports(text).into_iter().map(|import| import.path.join("::")).collect()
    }

    #[test]
    fn trees_are_taken_apart() {
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
    fn comments_strings_and_tests_do_not() {
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
