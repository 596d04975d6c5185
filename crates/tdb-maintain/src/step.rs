//! One thing that maintenance does: a file that it writes, a file or folder that it removes.

use tdb_storage::{EntryKind, Storage};

use crate::Result;

/// A file to be written, or a file or folder to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Whether it is written or removed.
    pub action: Action,
    /// Whether it is a file or a folder.
    pub kind: EntryKind,
    /// Its path below the folder of the array or group.
    pub path: String,
    /// Its bytes; of a folder, those of its files.
    pub bytes: u64,
    /// What it is.
    pub what: &'static str,
    /// How many others a file that is written stands for.
    pub joins: usize,
}

/// What is done with a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is written, as a whole or not at all.
    Write,
    /// It is removed, durably.
    Remove,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Write => "write",
            Self::Remove => "remove",
        })
    }
}

/// A step with what it takes.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    /// What is written.
    content: Vec<u8>,
}

impl Planned {
    /// Writes a file that stands for so many others.
    pub(crate) fn write(path: String, content: Vec<u8>, what: &'static str, joins: usize) -> Self {
        let bytes = content.len() as u64;
        Self { step: Step { action: Action::Write, kind: EntryKind::File, path, bytes, what, joins }, content }
    }

    /// Removes a file.
    pub(crate) fn remove_file(path: String, bytes: u64, what: &'static str) -> Self {
        Self::remove(EntryKind::File, path, bytes, what)
    }

    /// Removes a folder and all that is in it.
    pub(crate) fn remove_folder(path: String, bytes: u64, what: &'static str) -> Self {
        Self::remove(EntryKind::Folder, path, bytes, what)
    }

    fn remove(kind: EntryKind, path: String, bytes: u64, what: &'static str) -> Self {
        Self { step: Step { action: Action::Remove, kind, path, bytes, what, joins: 0 }, content: Vec::new() }
    }

    /// Whether it removes a folder.
    pub(crate) fn removes_a_folder(&self) -> bool {
        self.step.action == Action::Remove && self.step.kind == EntryKind::Folder
    }

    /// What is written.
    pub(crate) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Does it, durably. What is gone already needn't be removed: somebody else was faster. Gives whether there was
    /// something to do.
    pub(crate) fn run(&self, storage: &dyn Storage) -> Result<bool> {
        let Step { action, kind, path, .. } = &self.step;
        let removed = match (action, kind) {
            (Action::Write, _) => {
                storage.create_folder(path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
                return Ok(storage.create_new(path, &self.content).map(|()| true)?);
            }
            (Action::Remove, EntryKind::File) => storage.remove_file(path),
            (Action::Remove, EntryKind::Folder) => storage.remove_folder(path),
        };
        match removed {
            Err(error) if error.is_not_found() => Ok(false),
            other => Ok(other.map(|()| true)?),
        }
    }
}
