//! Import cycles between files and modules of a crate. Files in a cycle cannot be understood,
//! tested or moved separately.
//!
//! A module here is a direct child of the crate root, with all files below it. Imports are names in
//! `use` declarations and paths in the code, resolved to the file that defines the name.
//! Re-exporting files are skipped. Tests, documentation and methods do not count.

mod modules;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Result;
use super::files::sources;
use modules::{Imports, Modules};

/// Known cycles, by the folder of the crate. Remove cycles from this list, and never add any.
const KNOWN: &[(&str, &[&str])] = &[
    // An array caches loaded parts, and loading requires the array.
    ("crates/tdb-snapshot", &["snapshot.rs", "snapshot/deletes.rs", "snapshot/fragments.rs"]),
];

/// Known cycles between modules.
const KNOWN_OF_MODULES: &[(&str, &[&str])] = &[];

/// Fails if there are unknown cycles between the files or the modules of a crate.
pub(super) fn check(repository: &Path) -> Result {
    let (mut files, mut wrong) = (0, Vec::new());
    for (name, mut sources) in sources(repository)? {
        sources.retain(|file, _| !file.split('/').any(|name| matches!(name, "tests" | "tests.rs")));
        let modules = Modules::new(sources);
        files += modules.len();
        let imports = modules.imports();
        wrong.extend(unexpected(&name, "files", &imports, KNOWN));
        wrong.extend(unexpected(&name, "modules", &by_module(&imports), KNOWN_OF_MODULES));
    }
    println!("{files} files, {} problems with import cycles", wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Describes unknown cycles, and listed cycles that no longer exist.
fn unexpected(name: &str, what: &str, imports: &Imports, known: &[(&str, &[&str])]) -> Vec<String> {
    let known: Vec<_> = known.iter().filter(|(of, _)| *of == name).map(|(_, circle)| circle).collect();
    let circles = circles(imports);
    let new = circles.iter().filter(|circle| !known.iter().any(|known| circle.iter().eq(known.iter())));
    let new = new.map(|circle| format!("{what} of {name} import each other in a cycle:\n{}", arrows(imports, circle)));
    let gone = known.iter().filter(|known| !circles.iter().any(|circle| circle.iter().eq(known.iter())));
    let gone = gone.map(|known| format!("{name}: no longer a cycle, remove it from the list: {known:?}"));
    new.chain(gone).collect()
}

/// Groups the imports by module.
fn by_module(imports: &Imports) -> Imports {
    let module = |file: &str| file.split('/').next().unwrap_or(file).trim_end_matches(".rs").to_owned();
    let mut modules = Imports::new();
    for (file, others) in imports {
        let own = modules.entry(module(file)).or_default();
        for (other, names) in others.iter().filter(|(other, _)| module(other) != module(file)) {
            own.entry(module(other)).or_default().extend(names.iter().cloned());
        }
    }
    modules
}

/// Returns the strongly connected components with more than one file.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (file.as_str(), reached_from(imports, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        let circle: Vec<String> = others
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)))
            .map(|other| (*other).to_owned())
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// Returns all files that a file imports directly or indirectly.
fn reached_from<'a>(imports: &'a Imports, file: &str) -> BTreeSet<&'a str> {
    let of = |file: &str| imports.get(file).into_iter().flat_map(|others| others.keys().map(String::as_str));
    let (mut reached, mut next) = (BTreeSet::new(), of(file).collect::<Vec<_>>());
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(of(file));
        }
    }
    reached
}

/// Formats the imports within a cycle, one per line.
fn arrows(imports: &Imports, circle: &[String]) -> String {
    let mut lines = Vec::new();
    for file in circle {
        for (other, names) in imports.get(file).into_iter().flatten().filter(|(other, _)| circle.contains(other)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            lines.push(format!("  {file} imports {} from {other}", names.join(", ")));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(files: &[(&str, &str)]) -> Imports {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Modules::new(files.collect()).imports()
    }

    #[test]
    fn import_cycles_of_files_are_reported() {
        let imports = imports(&[
            ("lib.rs", "mod a; mod b; mod c; pub use a::A; pub use c::C;"),
            ("a.rs", "mod part; use crate::{C, b::B}; pub struct A(B, C);"),
            ("a/part.rs", "use super::super::c::C;"),
            ("b.rs", "pub struct B; fn f() -> crate::A { todo!() }"),
            ("c.rs", "pub struct C;"),
        ]);
        let found = circles(&imports);
        assert_eq!(found, [["a.rs", "b.rs"]]);
        let expected = "  a.rs imports B from b.rs\n  b.rs imports A from a.rs";
        assert_eq!(arrows(&imports, &found[0]), expected);
    }

    #[test]
    fn cycles_include_parents_and_children() {
        let parent = "mod part; pub struct Shared; pub fn run() { part::run(); }";
        let found = circles(&imports(&[("lib.rs", "mod p;"), ("p.rs", parent), ("p/part.rs", "use super::Shared;")]));
        assert_eq!(found, [["p.rs", "p/part.rs"]]);
    }

    #[test]
    fn modules_may_form_a_cycle_without_their_files() {
        let imports = imports(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod low; mod high;"),
            ("a/low.rs", "pub struct Low;"),
            ("a/high.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::low::Low; pub struct B(Low);"),
        ]);
        assert!(circles(&imports).is_empty());
        assert_eq!(circles(&by_module(&imports)), [["a", "b"]]);
    }

    #[test]
    fn re_exports_and_tests_form_no_cycle() {
        let found = circles(&imports(&[
            ("main.rs", "mod a; mod b; use b::B; fn main() { a::run(B) }"),
            ("a.rs", "use crate::B; pub fn run(_: B) {}\n#[cfg(test)] mod tests { use crate::b::X; }"),
            (
                "b.rs",
                "pub struct B; // use crate::a::run;\n#[cfg(test)]\nuse crate::a::run;\nconst C: &str = \"crate::a::run\";",
            ),
        ]));
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn workspace_has_only_listed_cycles() {
        check(&crate::cargo::workspace()).unwrap();
    }
}
