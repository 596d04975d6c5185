//! The journal of a consolidation of fragments. With the journal, the next job completes or rolls
//! back an interrupted consolidation.
//!
//! Order of steps: write the new fragments without commits, write the journal, commit the
//! fragments, write the vacuum file, delete the journal.
//!
//! Any program may create a file with this name. The content is therefore not trusted. A valid
//! journal replaces at least two fragments with fragments of exactly the same time range. A
//! rollback deletes new fragments only if the original fragments exist. Invalid journals stay
//! untouched and are reported.

use std::collections::BTreeSet;
use std::sync::Arc;

use tdb_array::{Array, NewFragmentPlace};
use tdb_metadata::PathList;
use tdb_storage::{Storage, StorageError};
use tdb_types::names::{
    COMMITS_FOLDER, FRAGMENT_METADATA, FRAGMENTS_FOLDER, JOURNAL_PREFIX, MAINTENANCE_SUFFIX, OK_EXTENSION,
    VACUUM_EXTENSION, WRITE_EXTENSION, file_name,
};
use tdb_types::{ByteReader, Feature, TimestampedName};

use crate::error::Result;

const TITLE: &str = "tdb journal of joined fragments 1";

/// The reason why a file with the name of a journal stays untouched.
pub const NOT_OURS: &str = "not a journal of an interrupted consolidation of this array";

/// Result of [`recover`].
#[derive(Debug, Default)]
pub struct Recovered {
    /// Number of interrupted consolidations that were completed or rolled back.
    pub done: usize,
    /// Paths of the journals that stay untouched.
    pub left: Vec<String>,
}

/// The intended steps of one consolidation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Folder and separate commit file of each new fragment. The commit is empty for a fragment
    /// without a separate commit.
    pub outputs: Vec<(String, String)>,
    /// Path of the vacuum file.
    pub vacuum: String,
    /// Content of the vacuum file.
    pub list: Vec<u8>,
}

impl Journal {
    /// Creates the journal for fragments that are about to be committed.
    #[must_use]
    pub fn new(outputs: &[NewFragmentPlace], vacuum: String, list: Vec<u8>) -> Self {
        let place = |place: &NewFragmentPlace| (place.folder.clone(), place.commit.clone().unwrap_or_default());
        Self { outputs: outputs.iter().map(place).collect(), vacuum, list }
    }

    /// Returns the path of a journal. `unique` must be unique among journals.
    pub fn path(unique: &str) -> String {
        // If the name contained underscores, some readers would take the file for a fragment.
        let unique: String = unique.chars().filter(char::is_ascii_alphanumeric).collect();
        format!("{JOURNAL_PREFIX}{unique}{MAINTENANCE_SUFFIX}")
    }

    /// Serializes the journal.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
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

    /// Returns the folders listed in the vacuum file. Returns `None` if this library cannot have
    /// written the journal.
    fn folders(&self, array: &Array) -> Option<Vec<String>> {
        let storage = array.storage();
        let name = self.name()?;
        let is_relative = name.fragment_version().ok()?.has(Feature::RelativeVacuum);
        let mut listed = Vec::new();
        let mut is_sound = true;
        let take = |line: std::borrow::Cow<'_, str>| {
            let known = name_of(file_name(&line)).and_then(|own| {
                let folder = folder_of(&own)?;
                let is_line = match is_relative {
                    true => line.strip_prefix('/') == Some(&folder),
                    false => storage.uri(&folder).as_deref() == Some(&*line),
                };
                (is_line && !self.outputs.iter().any(|(output, _)| *output == folder)).then_some((own, folder))
            });
            is_sound &= known.is_some();
            listed.extend(known);
        };
        PathList::for_each(&mut ByteReader::new(&self.list), take).ok()?;
        // A purge that keeps no cell writes no fragment. The list then ends with the name of a
        // fragment that does not exist.
        if self.outputs.is_empty() {
            is_sound &= listed.pop().is_some_and(|(last, _)| last == name);
        }
        let distinct: BTreeSet<&str> = listed.iter().map(|(_, folder)| folder.as_str()).collect();
        let first = listed.iter().map(|(own, _)| own.start()).min();
        let last = listed.iter().map(|(own, _)| own.end()).max();
        let is_joined = (first, last) == (Some(name.start()), Some(name.end()));
        let is_meant = is_sound && is_joined && distinct.len() == listed.len() && listed.len() > 1;
        is_meant.then(|| listed.into_iter().map(|(_, folder)| folder).collect())
    }

    /// Returns the name of the vacuum file. Returns `None` if the vacuum file or a new fragment has
    /// a path that this library does not create.
    fn name(&self) -> Option<TimestampedName> {
        let (stem, extension) = file_name(&self.vacuum).rsplit_once('.')?;
        let name = name_of(stem)?;
        let version = name.fragment_version().ok()?;
        let folder = if version.has(Feature::CommitsFolder) { format!("{COMMITS_FOLDER}/") } else { String::new() };
        let is_vacuum = extension == VACUUM_EXTENSION && self.vacuum == format!("{folder}{name}.{VACUUM_EXTENSION}");
        let is_first = self.outputs.first().is_none_or(|(first, _)| file_name(first) == name.as_str());
        let is_output = |(folder, commit): &(String, String)| {
            let place = name_of(file_name(folder)).filter(|own| (own.start(), own.end()) == (name.start(), name.end()));
            place
                .is_some_and(|own| folder_of(&own).as_ref() == Some(folder) && commit_of(&own).as_ref() == Some(commit))
        };
        let is_meant = is_vacuum && is_first && self.outputs.iter().all(is_output);
        is_meant.then_some(name)
    }
}

/// Returns the folder of a fragment, relative to the array. Returns `None` if the name has no known
/// format version.
#[must_use]
pub fn folder_of(name: &TimestampedName) -> Option<String> {
    let in_folder = name.fragment_version().ok()?.has(Feature::CommitsFolder);
    Some(if in_folder { format!("{FRAGMENTS_FOLDER}/{name}") } else { name.to_string() })
}

/// Parses a name without extension. Returns `None` unless the name has the exact form that this
/// library writes.
fn name_of(name: &str) -> Option<TimestampedName> {
    TimestampedName::parse(name).filter(|parsed| parsed.as_str() == name)
}

/// Returns the path of a fragment's separate commit file, or an empty path, as in
/// [`Journal::outputs`]. Returns `None` if the name has no known format version.
fn commit_of(name: &TimestampedName) -> Option<String> {
    let version = name.fragment_version().ok()?;
    Some(match (version.has(Feature::CommitsFolder), version.has(Feature::RootCommits)) {
        (true, _) => format!("{COMMITS_FOLDER}/{name}.{WRITE_EXTENSION}"),
        (false, true) => format!("{name}.{OK_EXTENSION}"),
        (false, false) => String::new(),
    })
}

/// Returns the paths of the journals in an array.
///
/// # Errors
/// The folder of the array does not exist or cannot be listed.
pub fn journals(storage: &dyn Storage) -> Result<Vec<String>> {
    let names = storage.list("")?.into_iter().map(|entry| entry.name);
    Ok(names.filter(|name| is_journal(name)).collect())
}

/// Returns `true` if a file with this name may be a journal.
pub fn is_journal(name: &str) -> bool {
    name.starts_with(JOURNAL_PREFIX) && name.ends_with(MAINTENANCE_SUFFIX)
}

/// Completes or rolls back interrupted consolidations. The caller must hold the lock.
///
/// # Errors
/// The array cannot be read, or a file cannot be written or deleted.
pub fn recover(array: &Array) -> Result<Recovered> {
    let storage = array.storage();
    let mut recovered = Recovered::default();
    for path in journals(&**storage)? {
        let bytes = match storage.read_up_to(&path, array.limits().commit_bytes) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => continue,
            // Journals of this library are files that do not exceed the limit.
            Err(StorageError::OverLimit { .. } | StorageError::NotAFile { .. }) => {
                recovered.left.push(path);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        // Journals are written atomically. An incomplete journal is from another writer.
        let journal = Journal::parse(&bytes);
        let journal = journal.and_then(|journal| Some((journal.folders(array)?, journal)));
        match journal {
            Some((replaced, journal)) if finish(array, &journal, &replaced)? => {
                match storage.remove_file(&path) {
                    // The owner of the journal may still be alive and may have deleted the journal.
                    Err(error) if !error.is_not_found() => return Err(error.into()),
                    _ => recovered.done += 1,
                }
            }
            _ => recovered.left.push(path),
        }
    }
    Ok(recovered)
}

/// Completes or rolls back a consolidation. Returns `false` if neither is possible.
fn finish(array: &Array, journal: &Journal, replaced: &[String]) -> Result<bool> {
    let storage = array.storage();
    let now = array.reopened()?;
    if storage.exists(&journal.vacuum)? {
        return Ok(true);
    }
    let directory = now.directory();
    let shown: BTreeSet<&str> = directory.fragments.iter().map(|entry| entry.folder.as_str()).collect();
    let hidden: BTreeSet<&str> = directory.replaced.iter().map(|entry| entry.folder.as_str()).collect();
    let shows = |folder: &String| shown.contains(folder.as_str());
    let is_there = |folder: &String| shows(folder) || hidden.contains(folder.as_str());
    let committed: Vec<&(String, String)> = journal.outputs.iter().filter(|(folder, _)| is_there(folder)).collect();
    if committed.is_empty() {
        return undo(storage, journal, &[], || replaced.iter().all(is_there));
    }
    if committed.len() == journal.outputs.len() {
        // If no original fragment is visible, no cell counts twice.
        let is_over = !replaced.iter().any(shows);
        let is_whole = journal.outputs.iter().all(|(folder, _)| shows(folder)) && replaced.iter().all(is_there);
        if is_whole && !is_over {
            publish(storage, journal)?;
        }
        return Ok(is_whole || is_over);
    }
    // Before format 12, fragments are committed one by one, and an interrupted consolidation may
    // have committed only the first fragments. The new fragments may be deleted as long as the
    // original fragments are visible. From format 12 on, the commit is atomic. If a commit is
    // missing, it was deleted later.
    let are_at_once = journal.vacuum.starts_with(COMMITS_FOLDER);
    if are_at_once || !replaced.iter().all(shows) {
        return Ok(false);
    }
    undo(storage, journal, &committed, || true)
}

/// Deletes the new fragments if the original fragments exist. Returns `false` otherwise.
///
/// If no new fragment exists, no file is deleted and the result is `true`. This includes a purge
/// that keeps no cell. Such a purge either had no effect yet, or its original fragments have
/// already been vacuumed.
fn undo(
    storage: &Arc<dyn Storage>,
    journal: &Journal,
    committed: &[&(String, String)],
    has_sources: impl Fn() -> bool,
) -> Result<bool> {
    let mut folders = Vec::new();
    for (folder, _) in &journal.outputs {
        if storage.exists(folder)? {
            folders.push(folder);
        }
    }
    if !folders.is_empty() && !has_sources() {
        return Ok(false);
    }
    for (folder, commit) in committed.iter().rev() {
        let commit = if commit.is_empty() { &format!("{folder}/{FRAGMENT_METADATA}") } else { commit };
        if storage.exists(commit)? {
            storage.remove_file(commit)?;
        }
    }
    for folder in folders {
        storage.remove_folder(folder)?;
    }
    Ok(true)
}

/// Writes the vacuum file, which lists the replaced fragments. Does nothing if the file exists.
///
/// # Errors
/// The vacuum file cannot be created.
pub fn publish(storage: &Arc<dyn Storage>, journal: &Journal) -> Result<()> {
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
    fn written_journals_are_parsed_back() {
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
