//! The arrays of dimension labels, which lie in the array whose dimensions they label: what is found there has paths below
//! that array, and what is moved aside stays in the label's own.

use tdb_array::ErrorCategory;
use tdb_storage::{EntryKind, check_path};
use tdb_types::names::LABELS_FOLDER;

use super::diagnosis::{Diagnosis, Remedy};
use tdb_job::{Result, Target, list};

/// The arrays of an array's labels, with their paths; and what is the matter with those that can't be opened, and with
/// folders that no label of the array has.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) arrays: Vec<(String, Target)>,
    pub(super) found: Vec<Diagnosis>,
}

impl Labels {
    /// Groups have none.
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
                        let why = format!("the values of dimension label {:?} can't be read: {error}", label.name);
                        let one = Diagnosis::file(label.uri.clone(), 0, "the array of a label, which isn't there", why);
                        let one = one.with(Remedy::None);
                        all.found.push(Diagnosis { kind: EntryKind::Folder, files: Vec::new(), ..one });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        for entry in list(&**array.storage(), LABELS_FOLDER)? {
            let path = format!("{LABELS_FOLDER}/{}", entry.name);
            if !known.contains(&path) {
                all.found.push(Diagnosis::note(path, &entry, "nothing that a label names", "it is left alone"));
            }
        }
        Ok(all)
    }
}

impl Diagnosis {
    /// The same of something in an array that lies at `folder`.
    pub(super) fn in_folder(mut self, folder: &str) -> Self {
        self.path = format!("{folder}/{}", self.path);
        self.files.iter_mut().for_each(|file| *file = format!("{folder}/{file}"));
        self
    }

    /// What it is in the array at `folder`, if it lies there.
    pub(super) fn below(&self, folder: &str) -> Option<Self> {
        let path = below(&self.path, folder)?.to_owned();
        let files = self.files.iter().map(|file| below(file, folder).unwrap_or(file).to_owned()).collect();
        Some(Self { path, files, ..self.clone() })
    }
}

/// A path from a folder on, if it lies there.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}
