//! One step: from fragments to the one that takes their place, in an order that a crash at any moment does no harm to.
//!
//! 1. The new fragments are written, uncommitted. 2. The array is looked at once more: what was chosen must still be there, and
//!    nothing new in the way. 3. A journal says what comes. 4. The new fragments are committed. 5. The vacuum file says what they
//!    replace. 6. The journal is removed.
//!
//! Between 4 and 5 both the old and the new fragments count: the same cells, for all but those who read an array with
//! duplicates. The other way round cells would be missing, and could be removed for good.

use std::collections::BTreeSet;

use tdb_array::{Array, Joined};
use tdb_metadata::PathList;
use tdb_storage::{Storage, StorageError};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENTS_FOLDER, VACUUM_EXTENSION};
use tdb_types::{ByteWriter, Feature, TimestampedName};

use super::facts::Facts;
use super::sound::{Asked, check};
use super::{ConsolidateFragments, JoinedStep};
use tdb_job::journal::{Journal, publish};
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Refusal, Result};

impl ConsolidateFragments {
    /// Joins fragments that were chosen.
    pub(super) fn join(&self, array: &Array, chosen: &[&Facts], lock: &Lock) -> Result<JoinedStep> {
        let names: Vec<TimestampedName> = chosen.iter().map(|facts| facts.name.clone()).collect();
        let mut join = array.join(&names)?.names(self.names.clone()).budget(self.budget);
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

    /// Whether what was chosen is still there, and nothing has come in between.
    fn look_again(&self, array: &Array, names: &[TimestampedName]) -> Result<()> {
        let now = array.reopened_after(array)?;
        let all = Facts::of_all(&now)?;
        let conflict = |what: String| MaintainError::Conflict { path: array.storage().describe(""), what };
        let known: BTreeSet<&TimestampedName> = all.iter().map(|facts| &facts.name).collect();
        if let Some(gone) = names.iter().find(|name| !known.contains(name)) {
            return Err(conflict(format!("fragment {gone} was removed or replaced meanwhile")));
        }
        let chosen: Vec<&Facts> = all.iter().filter(|facts| names.contains(&facts.name)).collect();
        // Attributes that were dropped meanwhile are still in the new fragment.
        match check(&now, &all, &chosen, Asked { flatten_history: true, ..self.asked }) {
            None => Ok(()),
            Some(why) => Err(conflict(why.to_string())),
        }
    }
}

/// Makes new fragments take the place of others.
fn publish_joined(
    array: &Array,
    chosen: &[&Facts],
    (joined, names): (Joined, Vec<TimestampedName>),
    lock: &Lock,
) -> Result<JoinedStep> {
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
        // No cell was left, so that there is no fragment. The list names it all the same, which no reader minds: this tells
        // a vacuum that nothing was lost.
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
        // No reader would take the vacuum file, nor the next run the journal.
        return Err(StorageError::OverLimit { path: storage.describe(&journal.vacuum), size, limit }.into());
    }
    storage.create_new(&path, &bytes)?;
    // Whoever has taken the lock over may have undone what the journal says, and removed the new fragments.
    if let Err(error) = lock.check().and_then(|()| is_there(&**storage, &path)) {
        // Before the journal's subject goes, with `joined`: whoever reads it has nothing to do then.
        let _ = storage.remove_file(&path);
        return Err(error);
    }
    let (cells, tiles) = (joined.cells(), joined.tiles());
    if let Err(error) = joined.commit() {
        // What is committed of them, if anything, is seen by whoever looks.
        let _ = tdb_job::journal::recover(array);
        return Err(error.into());
    }
    publish(storage, &journal)?;
    storage.remove_file(&path)?;
    let fragments = outputs.into_iter().map(|output| output.name).collect();
    Ok(JoinedStep { replaced: names, fragments, cells, tiles, vacuum_file: journal.vacuum })
}

/// A journal that is gone was taken for that of an interrupted run.
fn is_there(storage: &dyn Storage, path: &str) -> Result<()> {
    match storage.exists(path)? {
        true => Ok(()),
        false => {
            let what = format!("somebody else has removed {path}");
            Err(MaintainError::Conflict { path: storage.describe(""), what })
        }
    }
}
