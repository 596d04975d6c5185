//! Checks that all tests named in the compatibility page exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file of a crate, with the modules of its path and its tests.
struct Source {
    package: String,
    modules: Vec<String>,
    tests: BTreeSet<String>,
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for package in fs::read_dir(workspace().join("crates")).expect("the crates") {
        let package = package.expect("a folder").path();
        let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for folder in ["src", "tests"] {
            collect(&package.join(folder), &name, &[], &mut sources);
        }
    }
    sources
}

fn collect(folder: &Path, package: &str, modules: &[String], sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut modules = modules.to_vec();
        if stem != "mod" && stem != "main" && stem != "lib" {
            modules.push(stem);
        }
        if path.is_dir() {
            collect(&path, package, &modules, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("source");
            if text.contains("mod tests {") {
                modules.push("tests".to_owned());
            }
            sources.push(Source { package: package.to_owned(), modules, tests: tests_in(&text) });
        }
    }
}

/// Returns the names of the functions after `#[test]`. Skips other attributes and comments in
/// between.
fn tests_in(text: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for after in text.split("#[test]").skip(1) {
        let lines = after.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut lines = lines.skip_while(|line| line.starts_with("#[") || line.starts_with("//"));
        let name = lines.next().and_then(|line| line.strip_prefix("fn ")).and_then(|line| line.split('(').next());
        tests.extend(name.map(str::to_owned));
    }
    tests
}

/// `true` if a name matches a pattern of the page, with `*` as wildcard.
fn is_named(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => name.len() >= pattern.len() - 1 && name.starts_with(start) && name.ends_with(end),
    }
}

/// `true` if the path `file::test`, `file::module` or `file` leads to a test in one of the files.
fn leads_somewhere(path: &str, sources: &[&Source]) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let (last, modules) = parts.split_last().expect("a part");
    let has = |source: &Source, module: &str| source.modules.iter().any(|known| known == module);
    sources.iter().any(|source| {
        let inside = modules.iter().all(|module| has(source, module));
        let is_module = has(source, last) && !source.tests.is_empty();
        inside && (is_module || (!modules.is_empty() && source.tests.iter().any(|test| is_named(test, last))))
    })
}

/// Returns the code spans of a page that look like tests, each with the crate named right before
/// it.
fn named_tests(page: &str) -> Vec<(Option<String>, String)> {
    let parts: Vec<&str> = page.split('`').collect();
    let spans = parts.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    let crate_before = |text: &str| {
        let word = text.trim_end().rsplit([' ', '*', '|', '(', '\n']).next().unwrap_or_default();
        word.starts_with("tdb-").then(|| word.to_owned())
    };
    let is_path =
        |span: &str| span.chars().all(|letter| letter.is_ascii_lowercase() || "_:*0123456789".contains(letter));
    spans
        .map(|(before, span)| (crate_before(before), span.to_owned()))
        .filter(|(package, span)| is_path(span) && (span.contains("::") || package.is_some()))
        .collect()
}

#[test]
fn tests_named_in_the_compatibility_page_exist() {
    let page = fs::read_to_string(workspace().join("docs/reference/compatibility.md")).expect("the page");
    let sources = sources();
    let named = named_tests(&page);
    assert!(named.len() > 60, "only {} tests are named", named.len());
    let wrong: Vec<String> = named
        .iter()
        .filter(|(package, path)| {
            let of_package = |source: &&Source| package.as_ref().is_none_or(|package| source.package == *package);
            !leads_somewhere(path, &sources.iter().filter(of_package).collect::<Vec<_>>())
        })
        .map(|(package, path)| format!("{} {path}", package.as_deref().unwrap_or_default()))
        .collect();
    assert!(wrong.is_empty(), "no such tests: {wrong:#?}");
}

#[test]
fn missing_tests_are_found() {
    let source = |tests: &[&str]| Source {
        package: "tdb-x".to_owned(),
        modules: vec!["file".to_owned(), "inner".to_owned()],
        tests: tests.iter().map(|&test| test.to_owned()).collect(),
    };
    let sources = [source(&["one", "two_of_them"])];
    let sources: Vec<&Source> = sources.iter().collect();
    for there in ["file::one", "file::inner::one", "file", "file::*", "file::inner", "file::*_of_them"] {
        assert!(leads_somewhere(there, &sources), "{there}");
    }
    for absent in ["file::three", "other::one", "file::other::one", "one", "file::*_of_these"] {
        assert!(!leads_somewhere(absent, &sources), "{absent}");
    }
    let found = named_tests("**tdb-x `file::one`**, tdb-y `file`; `Type::method`, `word`, `file::*`");
    let found: Vec<_> = found.iter().map(|(package, path)| (package.as_deref(), path.as_str())).collect();
    assert_eq!(found, [(Some("tdb-x"), "file::one"), (Some("tdb-y"), "file"), (None, "file::*")]);
    let text = "#[test]\nfn a() {}\n #[test]\n    #[should_panic]\n  // why\n fn b() {}\nfn c() {}";
    assert_eq!(tests_in(text).into_iter().collect::<Vec<_>>(), ["a", "b"]);
}
