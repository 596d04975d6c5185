//! The arrays of dimension labels, which are stored inside of the labeled array. The paths of their
//! problems are relative to the labeled array. Their files are quarantined in the label's array.

use tdb_array::ErrorCategory;
use tdb_storage::{EntryKind, check_path};
use tdb_types::names::LABELS_FOLDER;

use super::diagnosis::{Diagnosis, Remedy};
use tdb_job::{Result, Target, list};

/// The label arrays with their paths, and the problems that occurred in the search for them.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) arrays: Vec<(String, Target)>,
    pub(super) found: Vec<Diagnosis>,
}

impl Labels {
    /// Finds the label arrays of a target. Groups have no labels.
    pub(super) fn of(target: &Target) -> Result<Self> {
        let mut all = Self::default();
        let Target::Array(array) = target else { return Ok(all) };
        let mut known: Vec<String> = Vec::new();
        for path in array.schema_paths() {
            let of_schema = array.by_schema(path)?;
            for label in of_schema.schema().labels() {
                let is_inside = !label.external && label.relative && !label.uri.is_empty();
                if !is_inside || check_path(&label.uri).is_err() || known.contains(&label.uri) {
                    continue;
                }
                known.push(label.uri.clone());
                match array.array_of_label(label) {
                    Ok(own) => all.arrays.push((label.uri.clone(), Target::Array(own))),
                    Err(error) if error.category() == ErrorCategory::Unavailable => {
                        let why = format!("cannot read the values of dimension label {:?}: {error}", label.name);
                        let one = Diagnosis::file(label.uri.clone(), 0, "the missing array of a dimension label", why);
                        all.found.push(one.with(Remedy::None).of(EntryKind::Folder));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        for entry in list(&**array.storage(), LABELS_FOLDER)? {
            let path = format!("{LABELS_FOLDER}/{}", entry.name);
            if !known.contains(&path) {
                all.found.push(Diagnosis::note(path, &entry, "not the array of a dimension label", "no change"));
            }
        }
        Ok(all)
    }
}

impl Diagnosis {
    /// Prefixes the paths with `folder`.
    pub(super) fn in_folder(mut self, folder: &str) -> Self {
        self.path = format!("{folder}/{}", self.path);
        self.files.iter_mut().for_each(|file| *file = format!("{folder}/{file}"));
        self
    }

    /// Strips the prefix `folder` from the paths. Returns `None` for a path outside of `folder`.
    pub(super) fn below(&self, folder: &str) -> Option<Self> {
        let path = below(&self.path, folder)?.to_owned();
        let files = self.files.iter().map(|file| below(file, folder).unwrap_or(file).to_owned()).collect();
        Some(Self { path, files, ..self.clone() })
    }
}

/// Strips the prefix `folder` from a path. Returns `None` for a path outside of `folder`.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}
