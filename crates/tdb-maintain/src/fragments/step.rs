//! One step of a consolidation, safe against a crash at any moment.
//!
//! 1. Write the new fragments without commits.
//! 2. Check again: the chosen fragments must exist, and no new fragment may conflict.
//! 3. Write the journal.
//! 4. Commit the new fragments.
//! 5. Write the vacuum file with the superseded fragments.
//! 6. Delete the journal.
//!
//! Between steps 4 and 5 the old and the new fragments are visible. Only readers of arrays with
//! duplicates see cells twice. In the opposite order, cells would be missing and could be lost
//! permanently.

use std::collections::BTreeSet;

use tdb_array::{Array, ConsolidatedFragments};
use tdb_metadata::PathList;
use tdb_storage::{Storage, StorageError};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENTS_FOLDER, VACUUM_EXTENSION};
use tdb_types::{ByteWriter, Feature, TimestampedName};

use super::facts::Facts;
use super::sound::{Asked, check};
use super::{ConsolidateFragments, ConsolidatedStep};
use tdb_job::journal::{Journal, publish};
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Refusal, Result};

impl ConsolidateFragments {
    /// Consolidates the chosen fragments.
    pub(super) fn join(&self, array: &Array, chosen: &[&Facts], lock: &Lock) -> Result<ConsolidatedStep> {
        let names: Vec<TimestampedName> = chosen.iter().map(|facts| facts.name.clone()).collect();
        let mut join = array.join(&names)?.ids(self.names.clone()).budget(self.budget);
        if let Some(bytes) = self.max_fragment_size {
            join = join.max_fragment_size(bytes);
        }
        if self.asked.purge {
            join = join.purge()?;
        }
        let joined = join.write()?;
        self.look_again(array, &names)?;
        publish_joined(array, chosen, (joined, names), lock)
    }

    /// Checks that the chosen fragments still exist, and that no new fragment conflicts with them.
    fn look_again(&self, array: &Array, names: &[TimestampedName]) -> Result<()> {
        let now = array.reopened_after(array)?;
        let all = Facts::of_all(&now)?;
        let conflict = |what: String| MaintainError::Conflict { path: array.storage().describe(""), what };
        let known: BTreeSet<&TimestampedName> = all.iter().map(|facts| &facts.name).collect();
        if let Some(gone) = names.iter().find(|name| !known.contains(name)) {
            return Err(conflict(format!("fragment {gone} was removed or replaced in the meantime")));
        }
        let chosen: Vec<&Facts> = all.iter().filter(|facts| names.contains(&facts.name)).collect();
        // Attributes that were dropped in the meantime are no conflict, because the new fragment
        // still contains them.
        match check(&now, &all, &chosen, Asked { flatten_history: true, ..self.asked }) {
            None => Ok(()),
            Some(why) => Err(conflict(why.to_string())),
        }
    }
}

/// Commits new fragments and lists the superseded fragments.
fn publish_joined(
    array: &Array,
    chosen: &[&Facts],
    (joined, names): (ConsolidatedFragments, Vec<TimestampedName>),
    lock: &Lock,
) -> Result<ConsolidatedStep> {
    let storage = array.storage();
    let (version, outputs) = (joined.version(), joined.fragments());
    let name = match outputs.first() {
        Some(first) => first.name.clone(),
        None => joined.unused_name()?,
    };
    let folder = if version.has(Feature::CommitsFolder) { format!("{COMMITS_FOLDER}/") } else { String::new() };
    let vacuum = format!("{folder}{name}.{VACUUM_EXTENSION}");
    let line = |folder: &str| match version.has(Feature::RelativeVacuum) {
        true => Ok(format!("/{folder}")),
        false => storage
            .uri(folder)
            .ok_or_else(|| MaintainError::Refused { path: storage.describe(""), why: Refusal::NoUri }),
    };
    let mut paths: Vec<String> = chosen.iter().map(|facts| line(&facts.folder)).collect::<Result<_>>()?;
    if outputs.is_empty() {
        // No cell is left, and no fragment was written. The list includes the name of a fragment
        // that does not exist. Readers ignore this name. From this name, a vacuum concludes that no
        // cell was lost.
        let place =
            if version.has(Feature::CommitsFolder) { format!("{FRAGMENTS_FOLDER}/{name}") } else { name.to_string() };
        paths.push(line(&place)?);
    }
    let mut list = ByteWriter::new();
    PathList { paths }.write(&mut list);
    let journal = Journal::new(&outputs, vacuum, list.into_bytes());
    let path = Journal::path(name.as_str());
    if version.has(Feature::CommitsFolder) {
        storage.create_folder(COMMITS_FOLDER)?;
    }
    let bytes = journal.write();
    let (size, limit) = (bytes.len() as u64, array.limits().commit_bytes);
    if size > limit {
        // Readers would reject the vacuum file, and the next run would reject the journal.
        return Err(StorageError::OverLimit { path: storage.describe(&journal.vacuum), size, limit }.into());
    }
    storage.create_new(&path, &bytes)?;
    // After a takeover of the lock, the new owner may have rolled back and deleted the new
    // fragments.
    if let Err(error) = lock.check().and_then(|()| is_there(&**storage, &path)) {
        // The journal must be deleted before `joined` is dropped and deletes the new fragments. A
        // job that has read the journal then has nothing to roll back.
        let _ = storage.remove_file(&path);
        return Err(error);
    }
    let (cells, tiles) = (joined.cells(), joined.tiles());
    if let Err(error) = joined.commit() {
        // The commit may have succeeded despite the error. The recovery checks which fragments are
        // committed.
        let _ = tdb_job::journal::recover(array);
        return Err(error.into());
    }
    publish(storage, &journal)?;
    storage.remove_file(&path)?;
    let fragments = outputs.into_iter().map(|output| output.name).collect();
    Ok(ConsolidatedStep { replaced: names, fragments, cells, tiles, vacuum_file: journal.vacuum })
}

/// Fails if the journal no longer exists, because another process has treated this run as
/// interrupted.
fn is_there(storage: &dyn Storage, path: &str) -> Result<()> {
    if storage.exists(path)? {
        return Ok(());
    }
    let what = format!("another process has removed {path}");
    Err(MaintainError::Conflict { path: storage.describe(""), what })
}
