//! What a run was about to do, for the next one to finish or to undo.
//!
//! The journal is written when the new fragments are there, uncommitted, and removed when all is done. In between the new
//! fragments are committed, and after that the vacuum file says that they take the place of others.

use std::collections::BTreeSet;
use std::sync::Arc;

use tdb_array::{Array, JOURNAL_PREFIX, NewFragmentPlace};
use tdb_storage::{Storage, StorageError};

use crate::{MaintainError, Result};

const SUFFIX: &str = ".tmp";
const TITLE: &str = "tdb journal of joined fragments 1";

/// What is being done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Journal {
    /// The folders of the new fragments, and the files that commit them alone, if any do.
    pub(super) outputs: Vec<(String, String)>,
    /// The path of the vacuum file, and what it will say.
    pub(super) vacuum: String,
    pub(super) list: Vec<u8>,
}

impl Journal {
    pub(super) fn new(outputs: &[NewFragmentPlace], vacuum: String, list: Vec<u8>) -> Self {
        let place = |place: &NewFragmentPlace| (place.folder.clone(), place.commit.clone().unwrap_or_default());
        Self { outputs: outputs.iter().map(place).collect(), vacuum, list }
    }

    /// Where it lies; `unique` is what no other name has.
    pub(super) fn path(unique: &str) -> String {
        // Underscores would make it a fragment for some readers.
        let unique: String = unique.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{JOURNAL_PREFIX}{unique}{SUFFIX}")
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut text = format!("{TITLE}\nvacuum {}\n", self.vacuum);
        for (folder, commit) in &self.outputs {
            text.push_str(&format!("output {folder} {commit}\n"));
        }
        text.push('\n');
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.list);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n")?;
        let text = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = text.lines();
        if lines.next()? != TITLE {
            return None;
        }
        let vacuum = lines.next()?.strip_prefix("vacuum ")?.to_owned();
        let output = |line: &str| {
            let (folder, commit) = line.strip_prefix("output ")?.split_once(' ')?;
            Some((folder.to_owned(), commit.to_owned()))
        };
        let outputs = lines.map(output).collect::<Option<_>>()?;
        Some(Self { outputs, vacuum, list: bytes[end + 2..].to_vec() })
    }
}

/// Finishes or undoes what interrupted runs were about to do. Only for those who have the lock. How many there were.
pub(crate) fn recover(array: &Array) -> Result<usize> {
    let storage = array.storage();
    let entries = storage.list("").map_err(MaintainError::from)?;
    let journals =
        entries.into_iter().filter(|entry| entry.name.starts_with(JOURNAL_PREFIX) && entry.name.ends_with(SUFFIX));
    let paths: Vec<String> = journals.map(|entry| entry.name).collect();
    for path in &paths {
        let bytes = storage.read_up_to(path, array.limits().commit_bytes)?;
        // It is there whole or not at all; what isn't one of ours is left alone.
        if let Some(journal) = Journal::parse(&bytes) {
            finish(array, &journal)?;
            storage.remove_file(path)?;
        }
    }
    Ok(paths.len())
}

fn finish(array: &Array, journal: &Journal) -> Result<()> {
    let storage = array.storage();
    let now = array.reopened()?;
    let directory = now.directory();
    let committed = directory.fragments.iter().chain(&directory.replaced);
    let committed: BTreeSet<&str> = committed.map(|entry| entry.folder.as_str()).collect();
    let is_committed = |output: &&(String, String)| committed.contains(output.0.as_str());
    if storage.exists(&journal.vacuum)? {
        return Ok(());
    }
    if journal.outputs.iter().all(|output| is_committed(&output)) {
        return publish(storage, journal);
    }
    // One after the other they may have been committed in part; the fragments that they come from still count.
    for (_, commit) in journal.outputs.iter().rev().filter(is_committed) {
        if !commit.is_empty() && storage.exists(commit)? {
            storage.remove_file(commit)?;
        }
    }
    for (folder, _) in &journal.outputs {
        if storage.exists(folder)? {
            storage.remove_folder(folder)?;
        }
    }
    Ok(())
}

/// Says which fragments the new ones take the place of.
pub(super) fn publish(storage: &Arc<dyn Storage>, journal: &Journal) -> Result<()> {
    match storage.create_new(&journal.vacuum, &journal.list) {
        Err(StorageError::AlreadyExists { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let journal = Journal {
            outputs: vec![("__fragments/a".to_owned(), "__commits/a.wrt".to_owned()), ("b".to_owned(), String::new())],
            vacuum: "__commits/a.vac".to_owned(),
            list: b"/__fragments/x\n\n/y\n".to_vec(),
        };
        assert_eq!(Journal::parse(&journal.write()), Some(journal.clone()));
        assert_eq!(Journal::parse(b"tdb journal\n\n"), None);
        let none = Journal { outputs: Vec::new(), list: Vec::new(), ..journal };
        assert_eq!(Journal::parse(&none.write()), Some(none));
        let path = Journal::path("__1_2_0af_22");
        assert!(tdb_storage::is_temporary(&path) && !path.contains('_'), "{path}");
    }
}
