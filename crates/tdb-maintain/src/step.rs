//! One thing that maintenance does: a file that it writes, a file or folder that it removes.

use std::fmt;

use tdb_job::Result;
use tdb_storage::{EntryKind, Storage};

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
        let Self { action, path, bytes, what, joins, .. } = self;
        write!(f, "{action} {path}: {what}, {bytes} bytes")?;
        if *joins > 0 {
            write!(f, ", for {joins}")?;
        }
        Ok(())
    }
}

/// A step with what it takes.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    /// What is written.
    content: Vec<u8>,
    /// Whether it may be done before or after those beside it that may, too.
    is_free: bool,
}

impl Planned {
    /// Writes a file that stands for so many others.
    pub(crate) fn write(path: String, content: Vec<u8>, what: &'static str, joins: usize) -> Self {
        let bytes = content.len() as u64;
        Self {
            step: Step { action: Action::Write, kind: EntryKind::File, path, bytes, what, joins },
            content,
            is_free: false,
        }
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
        Self {
            step: Step { action: Action::Remove, kind, path, bytes, what, joins: 0 },
            content: Vec::new(),
            is_free: false,
        }
    }

    /// The same, which may be done before or after those beside it that may, too.
    pub(crate) fn in_any_order(self) -> Self {
        Self { is_free: true, ..self }
    }

    /// Whether both may be done at once.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let are_folders = self.removes_a_folder() && other.removes_a_folder();
        are_folders || self.removes_a_file_in_any_order() && other.removes_a_file_in_any_order()
    }

    /// Whether it removes a folder, in which nothing counts any more.
    fn removes_a_folder(&self) -> bool {
        self.step.action == Action::Remove && self.step.kind == EntryKind::Folder
    }

    fn removes_a_file_in_any_order(&self) -> bool {
        self.is_free && self.step.action == Action::Remove && self.step.kind == EntryKind::File
    }

    /// What is written.
    pub(crate) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Does those that [go with](Self::goes_with) each other, durably. What is gone already needn't be removed: somebody else was
    /// faster. Gives for each whether there was something to do.
    pub(crate) fn run_all(some: &[Self], storage: &dyn Storage) -> Vec<Result<bool>> {
        match some {
            [one] => vec![one.run(storage)],
            [one, ..] if one.removes_a_file_in_any_order() => {
                let paths: Vec<&str> = some.iter().map(|planned| planned.step.path.as_str()).collect();
                storage.remove_files(&paths).into_iter().map(was_there).collect()
            }
            some => {
                let folders: Vec<&str> = some.iter().map(|planned| planned.step.path.as_str()).collect();
                storage.remove_folders(&folders).into_iter().map(was_there).collect()
            }
        }
    }

    /// Does it, durably; see [`run_all`](Self::run_all).
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

/// Whether there was something to remove.
fn was_there(removed: tdb_storage::Result<()>) -> Result<bool> {
    match removed {
        Err(error) if error.is_not_found() => Ok(false),
        other => Ok(other.map(|()| true)?),
    }
}
