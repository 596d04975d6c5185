//! One step of a job: writing a file, or deleting a file or folder.

use std::fmt;

use tdb_job::Result;
use tdb_storage::{EntryKind, Storage};

/// A file to write, or a file or folder to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The action.
    pub action: Action,
    /// File or folder.
    pub kind: EntryKind,
    /// Path below the folder of the array or group.
    pub path: String,
    /// Size in bytes. For a folder, the total size of the files.
    pub bytes: u64,
    /// Description of the file or folder.
    pub what: &'static str,
    /// Number of files superseded by a written file.
    pub supersedes: usize,
}

/// An action on a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The file is written atomically.
    Write,
    /// The file or folder is deleted durably.
    Remove,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Write => "write",
            Self::Remove => "remove",
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, path, bytes, what, supersedes, .. } = self;
        write!(f, "{action} {path}: {what}, {bytes} bytes")?;
        if *supersedes > 0 {
            write!(f, ", for {supersedes}")?;
        }
        Ok(())
    }
}

/// A step with the content to write.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    /// Content to write.
    content: Vec<u8>,
    /// `true` if the step may be reordered with adjacent steps that delete files in any order.
    is_free: bool,
}

impl Planned {
    /// Plans to write a file that supersedes `supersedes` files.
    pub(crate) fn write(path: String, content: Vec<u8>, what: &'static str, supersedes: usize) -> Self {
        let bytes = content.len() as u64;
        Self {
            step: Step { action: Action::Write, kind: EntryKind::File, path, bytes, what, supersedes },
            content,
            is_free: false,
        }
    }

    /// Plans to delete a file.
    pub(crate) fn remove_file(path: String, bytes: u64, what: &'static str) -> Self {
        Self::remove(EntryKind::File, path, bytes, what)
    }

    /// Plans to delete a folder and its content.
    pub(crate) fn remove_folder(path: String, bytes: u64, what: &'static str) -> Self {
        Self::remove(EntryKind::Folder, path, bytes, what)
    }

    fn remove(kind: EntryKind, path: String, bytes: u64, what: &'static str) -> Self {
        Self {
            step: Step { action: Action::Remove, kind, path, bytes, what, supersedes: 0 },
            content: Vec::new(),
            is_free: false,
        }
    }

    /// Allows the step to be reordered with adjacent steps that delete files in any order.
    pub(crate) fn in_any_order(self) -> Self {
        Self { is_free: true, ..self }
    }

    /// Returns `true` if both steps may run at the same time.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let are_folders = self.removes_a_folder() && other.removes_a_folder();
        are_folders || self.removes_a_file_in_any_order() && other.removes_a_file_in_any_order()
    }

    /// Returns `true` if the step deletes a folder, whose content is no longer visible by then.
    fn removes_a_folder(&self) -> bool {
        self.step.action == Action::Remove && self.step.kind == EntryKind::Folder
    }

    fn removes_a_file_in_any_order(&self) -> bool {
        self.is_free && self.step.action == Action::Remove && self.step.kind == EntryKind::File
    }

    /// Returns the content to write.
    pub(crate) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Durably runs steps that may run at the same time, as defined by
    /// [`goes_with`](Self::goes_with). Returns `false` for each path that another process had
    /// already deleted.
    pub(crate) fn run_all(some: &[Self], storage: &dyn Storage) -> Vec<Result<bool>> {
        if let [one] = some {
            return vec![one.run(storage)];
        }
        let paths: Vec<&str> = some.iter().map(|planned| planned.step.path.as_str()).collect();
        let removed = match some.first().is_some_and(Self::removes_a_file_in_any_order) {
            true => storage.remove_files(&paths),
            false => storage.remove_folders(&paths),
        };
        removed.into_iter().map(was_there).collect()
    }

    /// Durably runs one step. Returns `false` if another process had already deleted the path.
    pub(crate) fn run(&self, storage: &dyn Storage) -> Result<bool> {
        let Step { action, kind, path, .. } = &self.step;
        match (action, kind) {
            (Action::Write, _) => {
                storage.create_folder(path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
                Ok(storage.create_new(path, &self.content).map(|()| true)?)
            }
            (Action::Remove, EntryKind::File) => was_there(storage.remove_file(path)),
            (Action::Remove, EntryKind::Folder) => was_there(storage.remove_folder(path)),
        }
    }
}

/// Converts the result of a deletion to `false` if the path did not exist.
fn was_there(removed: tdb_storage::Result<()>) -> Result<bool> {
    match removed {
        Err(error) if error.is_not_found() => Ok(false),
        other => Ok(other.map(|()| true)?),
    }
}
