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
use tdb_types::names::{COMMITS_FOLDER, FRAGMENTS_FOLDER, VACUUM_EXTENSION};
use tdb_types::{ByteWriter, Feature, TimestampedName};

use super::facts::Facts;
use super::journal::{Journal, publish};
use super::sound::check;
use super::{ConsolidateFragments, JoinedStep};
use crate::{MaintainError, Refusal, Result};

impl ConsolidateFragments {
    /// Joins fragments that were chosen.
    pub(super) fn join(&self, array: &Array, chosen: &[&Facts]) -> Result<JoinedStep> {
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
        publish_joined(array, chosen, joined, names)
    }

    /// Whether what was chosen is still there, and nothing has come in between.
    fn look_again(&self, array: &Array, names: &[TimestampedName]) -> Result<()> {
        let now = array.reopened()?;
        let all = Facts::of_all(&now)?;
        let conflict = |what: String| MaintainError::Conflict { path: array.storage().describe(""), what };
        let known: BTreeSet<&TimestampedName> = all.iter().map(|facts| &facts.name).collect();
        if let Some(gone) = names.iter().find(|name| !known.contains(name)) {
            return Err(conflict(format!("fragment {gone} was removed or replaced meanwhile")));
        }
        let chosen: Vec<&Facts> = all.iter().filter(|facts| names.contains(&facts.name)).collect();
        match check(&now, &all, &chosen, self.asked) {
            // Attributes that were dropped meanwhile are still in the new fragment.
            None | Some(Refusal::DroppedAttributes { .. }) => Ok(()),
            Some(why) => Err(conflict(why.to_string())),
        }
    }
}

/// Makes new fragments take the place of others.
fn publish_joined(array: &Array, chosen: &[&Facts], joined: Joined, names: Vec<TimestampedName>) -> Result<JoinedStep> {
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
    storage.create_new(&path, &journal.write())?;
    let cells = joined.cells();
    if let Err(error) = joined.commit() {
        // What is committed of them, if anything, is seen by whoever looks.
        let _ = super::journal::recover(array);
        return Err(error.into());
    }
    publish(storage, &journal)?;
    storage.remove_file(&path)?;
    let fragments = outputs.into_iter().map(|output| output.name).collect();
    Ok(JoinedStep { replaced: names, fragments, cells, vacuum_file: journal.vacuum })
}
