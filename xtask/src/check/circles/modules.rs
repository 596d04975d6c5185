//! The modules of a crate, one per file, and the resolution of imports.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{self, Import};

/// Imported names by importing file and defining file.
pub(super) type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Maximum number of re-exports to follow.
const MOST_STEPS: usize = 16;

/// The modules of a crate by path. The path of the crate root is empty.
pub(super) struct Modules(BTreeMap<Vec<String>, Module>);

struct Module {
    file: String,
    imports: Vec<Import>,
}

impl Modules {
    /// Parses the files of a crate. The keys are paths below `src`.
    pub(super) fn new(files: BTreeMap<String, String>) -> Self {
        let module = |(file, text): (String, String)| {
            let name = file.trim_end_matches(".rs");
            let is_root = matches!(name, "lib" | "main");
            let path = name.split('/').filter(|_| !is_root).map(str::to_owned).collect();
            (path, Module { imports: source::imports(&text), file })
        };
        Self(files.into_iter().map(module).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the imports of each file. Re-exports do not count as imports, and imports through
    /// them are resolved to the defining file.
    pub(super) fn imports(&self) -> Imports {
        let mut found = Imports::new();
        for (path, module) in &self.0 {
            let of_file = found.entry(module.file.clone()).or_default();
            for import in module.imports.iter().filter(|import| !import.is_public) {
                let source = self.resolve_in(path, &import.path, 0).and_then(|source| self.0.get(source));
                if let Some(source) = source.filter(|source| source.file != module.file) {
                    let names = of_file.entry(source.file.clone()).or_default();
                    names.extend(import.path.last().cloned());
                }
            }
        }
        found
    }

    /// Resolves a path in a module to the defining module. Returns `None` for other crates.
    fn resolve_in(&self, module: &[String], path: &[String], steps: usize) -> Option<&Vec<String>> {
        let (first, rest) = path.split_first()?;
        let absolute = match first.as_str() {
            "crate" => rest.to_vec(),
            "self" => [module, rest].concat(),
            "super" => {
                let supers = path.iter().take_while(|name| *name == "super").count();
                let above = module.get(..module.len().checked_sub(supers)?)?;
                [above, &path[supers..]].concat()
            }
            _ => {
                let below = [module, path].concat();
                if !self.0.contains_key(&below[..=module.len()]) {
                    return None;
                }
                below
            }
        };
        self.resolve(&absolute, steps)
    }

    /// Resolves a path relative to the crate root.
    fn resolve(&self, path: &[String], steps: usize) -> Option<&Vec<String>> {
        if steps > MOST_STEPS {
            return None;
        }
        let len = (0..=path.len()).rev().find(|len| self.0.contains_key(&path[..*len]))?;
        let (module, rest) = path.split_at(len);
        let (path, Module { imports, .. }) = self.0.get_key_value(module)?;
        let Some((name, rest)) = rest.split_first() else { return Some(path) };
        // Child modules may use the imports of a module, even private ones.
        let named = imports.iter().find(|import| import.name.as_ref() == Some(name));
        // A single name is another crate, unless it is a macro of the module.
        if let Some(import) = named.filter(|import| import.path != [name.clone()]) {
            return self.resolve_in(module, &[&import.path[..], rest].concat(), steps + 1);
        }
        let all = imports.iter().filter(|import| import.name.as_deref() == Some("*"));
        let through = |import: &Import| {
            let from = &import.path[..import.path.len() - 1];
            let source = self.resolve_in(module, from, steps + 1)?;
            let exports = self.0.get(source)?.imports.iter().any(|import| import.name.as_ref() == Some(name));
            exports.then(|| self.resolve(&[&source[..], std::slice::from_ref(name), rest].concat(), steps + 1))?
        };
        Some(all.filter(|import| import.is_public).find_map(through).unwrap_or(path))
    }
}
