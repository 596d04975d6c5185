//! Deletion of cells by a condition, and of fragments by time.

use tdb_condition::{Condition, ConditionError};
use tdb_metadata::{CommitKind, ConsolidatedCommit, ConsolidatedCommits, PathList};
use tdb_snapshot::{ArrayError, CommittedFragment, Environment, Result, Snapshot, TimeRange};
use tdb_storage::Storage;
use tdb_types::names::{COMMITS_FOLDER, CONSOLIDATED_EXTENSION, DELETE_EXTENSION, FRAGMENT_METADATA, IGNORE_EXTENSION};
use tdb_types::{ArrayType, ByteWriter, Feature, Limits, NameForm};

use crate::WriteIds;

/// Deletes the cells of a sparse array that meet a condition and were written up to the time of the
/// deletion. `names` determines this time, by default the current time. Cells written later stay.
/// The format defines that in a delete, a comparison of a field is also true for cells whose field
/// is null, and for all cells of fragments without the field.
///
/// # Errors
/// - The array is dense, or its format version does not support deletes.
/// - The condition does not fit the array.
/// - The condition tests for null, which the format cannot store.
/// - The condition exceeds the array's limits, so that readers would reject it.
/// - The time of the deletion is within the time range of a fragment with a format before 15.
///   Readers could not apply the deletion to only some cells of this fragment.
/// - The clock or random bytes are not available, or the storage fails.
///
/// No cell is then deleted.
pub fn delete_cells(array: &Snapshot, condition: &Condition, names: &WriteIds) -> Result<()> {
    let version = array.schema().version();
    let refuse = |why: String| Err(ArrayError::Write(why));
    if array.schema().array_type() == ArrayType::Dense {
        return refuse("cannot delete cells of a dense array; overwrite them with other values".to_owned());
    }
    if !version.has(Feature::DeleteCommits) {
        let since = Feature::DeleteCommits.row().since;
        return refuse(format!(
            "format version {version} does not support deleting cells; use version {since} or later"
        ));
    }
    let failed = ArrayError::NewDelete;
    let enumerations = |name: &str| array.enumeration(name).ok();
    condition.bind(array.schema(), enumerations).map_err(failed)?;
    let name = names.next(NameForm::Versioned(version.number()), &array.access().environment)?;
    let has_no_times = |fragment: &&tdb_snapshot::Fragment| !fragment.version().has(Feature::PartialTimeOverlap);
    let mut old = array.fragments()?.iter().filter(has_no_times).map(tdb_snapshot::Fragment::name);
    if let Some(fragment) = old.find(|old| old.start() < name.start() && name.start() < old.end()) {
        return refuse(format!(
            "fragment {fragment} has no cell timestamps and its time range contains the time of the deletion; choose a later time"
        ));
    }
    // The file stores the condition that remaining cells meet.
    let stays = condition.negation().without_not();
    let stays = stays.to_stored(array.schema(), enumerations).map_err(failed)?;
    is_read_again(&stays, array.limits()).map_err(failed)?;
    let mut payload = ByteWriter::new();
    stays.write(&mut payload).map_err(failed)?;
    let mut file = ByteWriter::new();
    let encoded = array.access().encoder(version)?.encode(payload.as_slice(), &mut file);
    encoded.map_err(|source| failed(ConditionError::from(source)))?;
    array.storage().create_folder(COMMITS_FOLDER)?;
    let path = format!("{COMMITS_FOLDER}/{name}.{DELETE_EXTENSION}");
    Ok(array.storage().create_new(&path, file.as_slice())?)
}

/// Deletes the fragments written within a time range in milliseconds, both ends included. Also
/// deletes superseded fragments in this range. Fragments whose time range extends beyond the given
/// range stay. Returns the number of deleted fragments.
///
/// If all deleted fragments have format 12 or later, the deletion is atomic for readers and after a
/// crash. Otherwise the fragments are deleted one by one, newest first.
///
/// # Errors
/// A commit file cannot be read, the clock or random bytes are not available, or the storage fails.
/// Some of the fragments may then already be deleted.
pub fn delete_fragments(array: &Snapshot, time: TimeRange) -> Result<usize> {
    let storage = array.storage();
    let within = |files: &CommittedFragment| time.contains(files.entry.name.start(), files.entry.name.end());
    let mut fragments: Vec<_> = array.fragment_files()?.into_iter().filter(within).collect();
    fragments.sort_by(|a, b| b.entry.name.as_str().cmp(a.entry.name.as_str()));
    let at_once =
        |files: &CommittedFragment| files.commit.as_deref().is_some_and(|path| path.starts_with(COMMITS_FOLDER));
    let consolidated = fragments.iter().any(|files| files.is_consolidated);
    if consolidated || fragments.len() > 1 && fragments.iter().all(at_once) {
        forget_together(&**storage, &fragments, &array.access().environment)?;
    }
    for files in &fragments {
        let metadata = format!("{}/{FRAGMENT_METADATA}", files.entry.folder);
        // Remove the commit first.
        let commit = files.commit.as_deref().unwrap_or(&metadata);
        if storage.exists(commit)? {
            storage.remove_file(commit)?;
        }
        if storage.exists(&files.entry.folder)? {
            storage.remove_folder(&files.entry.folder)?;
        }
    }
    Ok(fragments.len())
}

/// Checks that readers with these limits accept a delete commit with this condition. A rejected
/// commit would make the whole array unreadable.
fn is_read_again(stays: &Condition, limits: &Limits) -> Result<(), ConditionError> {
    let measures = [
        ("levels", stays.depth(), limits.depth),
        ("comparisons and combinations", stays.node_count(), limits.condition_nodes),
    ];
    match measures.into_iter().find(|(_, found, most)| found > most) {
        Some((what, found, most)) => Err(ConditionError::TooLarge { what, found, most }),
        None => Ok(()),
    }
}

/// Invalidates several commits atomically. First writes the commits to one consolidated commits
/// file, then removes the separate commit files, then adds an ignore file for the consolidated
/// commits. Both new files are superfluous, but harmless, once the fragments are deleted.
fn forget_together(storage: &dyn Storage, fragments: &[CommittedFragment], environment: &Environment) -> Result<()> {
    let paths: Vec<&str> = fragments.iter().filter_map(|files| files.commit.as_deref()).collect();
    let (Some(first), Some(last)) = (fragments.last(), fragments.first()) else { return Ok(()) };
    // Readers ignore the timestamps in the names of both files.
    let name = |extension: &str| -> Result<String> {
        let uuid = environment.uuid_v7()?;
        let form = NameForm::Versioned(tdb_types::FormatVersion::DEFAULT.number());
        let (start, end) = (first.entry.name.start(), last.entry.name.end().max(first.entry.name.start()));
        Ok(format!("{COMMITS_FOLDER}/{}.{extension}", tdb_types::TimestampedName::new(form, start, end, uuid)))
    };
    let entries = paths.iter().map(|path| ConsolidatedCommit { path, commit: None, offset: 0 }).collect();
    let mut file = ByteWriter::new();
    ConsolidatedCommits { entries }.write(&mut file);
    storage.create_new(&name(CONSOLIDATED_EXTENSION)?, file.as_slice())?;
    for path in paths.iter().filter(|path| CommitKind::of(path) == Some(CommitKind::Write)) {
        if storage.exists(path)? {
            storage.remove_file(path)?;
        }
    }
    let mut file = ByteWriter::new();
    PathList { paths: paths.iter().map(|path| (*path).to_owned()).collect() }.write(&mut file);
    Ok(storage.create_new(&name(IGNORE_EXTENSION)?, file.as_slice())?)
}
