//! Consolidation of the commits of writes and deletes.

use std::collections::HashSet;

use tdb_array::{Array, CommitInventory, CommitList, TimeRange, WriteIds};
use tdb_metadata::{CommitKind, ConsolidatedCommit, ConsolidatedCommits};
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, file_name};
use tdb_types::{ByteReader, ByteWriter, Feature, NameForm, TimestampedName};

use crate::draft::{Draft, Savings};
use crate::ignoring::ignoring;
use crate::own_commits::own_commits;
use crate::step::Planned;
use tdb_job::{MaintainError, Result};

const WHAT: &str = "consolidated commits";

/// A visible commit.
struct Commit<'a> {
    name: TimestampedName,
    path: &'a str,
    /// The content of a delete commit. `None` for a write commit.
    bytes: Option<Vec<u8>>,
}

pub(crate) fn draft(array: &Array, names: &WriteIds) -> Result<Draft> {
    let files = array.small_files();
    let version = files.version();
    if !version.has(Feature::CommitsFolder) {
        let (path, since) = (files.storage().describe(""), Feature::CommitsFolder.row().since);
        return Err(MaintainError::NotInFormat { path, what: WHAT, version, since });
    }
    let listing = array.listing()?;
    let inventory = array.commit_inventory(&listing)?;
    // A separate commit makes a write visible, even if an ignore file lists the commit. In a new
    // consolidated file, the ignore file would hide the commit. Therefore leave out ignored
    // commits.
    let ignored: HashSet<&str> = inventory.ignored.iter().flat_map(|list| &list.names).map(String::as_str).collect();
    let mut commits = Vec::new();
    for path in inventory.paths.iter().map(String::as_str) {
        let kind = CommitKind::of(path);
        // The reference library does not support consolidated update commits, and no release has
        // written update commits.
        let is_consolidated = match kind {
            Some(CommitKind::Write) => !ignored.contains(path),
            kind => kind == Some(CommitKind::Delete),
        };
        let Some(name) = TimestampedName::parse(file_name(path)).filter(|_| is_consolidated) else { continue };
        let bytes = match (kind, inventory.embedded.get(path)) {
            (Some(CommitKind::Delete), Some(embedded)) => Some(embedded.bytes.to_vec()),
            (Some(CommitKind::Delete), None) => Some(files.read_delete(path)?),
            _ => None,
        };
        commits.push(Commit { name, path, bytes });
    }
    commits.sort_by(|a, b| (&a.name, a.path).cmp(&(&b.name, b.path)));
    let ends = commits.iter().map(|commit| commit.name.end()).max();
    let (Some(first), Some(end)) = (commits.first(), ends) else { return Ok(Draft::default()) };
    if commits.len() < 2 || inventory.consolidated.iter().any(|list| is_all(list, &commits)) {
        return Ok(Draft::default());
    }
    let time = TimeRange { start: first.name.start(), end };
    let name = files.new_name(names, NameForm::Versioned(version.number()), time)?;
    let path = format!("{COMMITS_FOLDER}/{name}.{CONSOLIDATED_EXTENSION}");
    let mut file = ByteWriter::new();
    let entries = commits.iter();
    let entries =
        entries.map(|commit| ConsolidatedCommit { path: commit.path, commit: commit.bytes.as_deref(), offset: 0 });
    ConsolidatedCommits { entries: entries.collect() }.write(&mut file);
    let steps = vec![Planned::write(path, file.into_bytes(), WHAT, commits.len())];
    Ok(Draft { steps, savings: savings(&inventory, own_commits(&listing).map(|own| own.path)), ..Draft::default() })
}

/// Returns an ignore file for write commits whose separate files were deleted during the
/// consolidation.
///
/// The fragments of these commits were deleted too, and only the new consolidated file still lists
/// the commits.
pub(crate) fn settle(array: &Array, names: &WriteIds, done: &Draft) -> Result<Option<Planned>> {
    let Some(written) = done.steps.first() else { return Ok(None) };
    let listing = array.listing()?;
    let mut there: HashSet<String> = own_commits(&listing).map(|own| own.path).collect();
    let is_there = |entry: &ConsolidatedCommit<'_>| {
        CommitKind::of(entry.path) != Some(CommitKind::Write) || there.contains(entry.path)
    };
    let file = ConsolidatedCommits::parse(&mut ByteReader::new(written.content()));
    if file.is_ok_and(|file| file.entries.iter().all(is_there)) {
        return Ok(None);
    }
    let inventory = array.commit_inventory(&listing)?;
    let (new, others): (Vec<&CommitList>, Vec<&CommitList>) =
        inventory.consolidated.iter().partition(|list| list.path == written.step.path);
    there.extend(others.into_iter().flat_map(|list| &list.names).cloned());
    let consolidated = new.into_iter().flat_map(|list| &list.names);
    let gone = consolidated.filter(|path| CommitKind::of(path) == Some(CommitKind::Write) && !there.contains(*path));
    ignoring(array, names, gone.cloned().collect())
}

/// Returns `true` if a consolidated file contains all of these commits and is in the folder that
/// both libraries read.
fn is_all(list: &CommitList, commits: &[Commit<'_>]) -> bool {
    let names: HashSet<&str> = list.names.iter().map(String::as_str).collect();
    let has = |commit: &Commit<'_>| {
        names.contains(commit.path) && list.deletes.get(commit.path).map(|bytes| &**bytes) == commit.bytes.as_deref()
    };
    list.path.starts_with(COMMITS_FOLDER) && commits.iter().all(has)
}

/// Returns the savings. After a vacuum, the new file and the separate delete commits remain.
fn savings(inventory: &CommitInventory, own: impl Iterator<Item = String>) -> Savings {
    let lists = (inventory.consolidated.len() + inventory.ignored.len()) as u64;
    let (mut names, mut reads) = (lists, lists);
    for path in own {
        match CommitKind::of(&path) {
            Some(CommitKind::Write) => names += 1,
            Some(CommitKind::Delete) if !inventory.embedded.contains_key(&path) => reads += 1,
            _ => {}
        }
    }
    Savings { names: names.saturating_sub(1), reads: reads.saturating_sub(1) }
}
