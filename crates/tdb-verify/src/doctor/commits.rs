//! Commits of missing fragments.

use tdb_array::{Array, CommittedFragment};

use tdb_storage::EntryKind;
use tdb_types::names::FRAGMENT_METADATA;

use super::diagnosis::{Diagnosis, Remedy};
use tdb_job::Result;

const WHAT: &str = "the commit of a missing fragment";
const WHAT_CONSOLIDATED: &str = "consolidated commits of missing fragments";
const WHY: &str = "the fragment was lost, or a deletion was interrupted; readers fail until the repair, and ignore the cells of the fragment afterwards. If a copy of the fragment exists, restore the copy instead";

pub(super) fn look(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**array.storage();
    // Read the commits first. The folder of a fragment exists before its commit. If a fragment is
    // deleted in the meantime, the search is repeated.
    let inventory = array.commit_inventory(&array.listing()?)?;
    let mut gone: Vec<(&CommittedFragment, &str)> = Vec::new();
    for fragment in &inventory.fragments {
        if let Some(commit) = &fragment.commit
            && !storage.exists(&fragment.entry.folder)?
        {
            gone.push((fragment, commit));
        }
    }
    for fragment in &inventory.fragments {
        let folder = &fragment.entry.folder;
        if storage.exists(folder)? && !storage.exists(&format!("{folder}/{FRAGMENT_METADATA}"))? {
            let why = format!(
                "readers fail on it; run `tdb doctor --rebuild {}` to rebuild the metadata",
                fragment.entry.name
            );
            let one = Diagnosis::file(folder.clone(), 0, "a fragment without metadata", why).with(Remedy::None);
            found.push(one.of(EntryKind::Folder));
        }
    }
    for (fragment, commit) in &gone {
        if storage.exists(commit)? {
            let one = Diagnosis::file(*commit, 0, WHAT, format!("{}: {WHY}", fragment.entry.folder));
            found.push(one.with(Remedy::Reveal));
        }
    }
    for list in &inventory.consolidated {
        let is_gone = |name: &&String| gone.iter().any(|(fragment, commit)| fragment.is_consolidated && commit == name);
        let commits: Vec<String> = list.names.iter().filter(is_gone).cloned().collect();
        if !commits.is_empty() {
            let why = format!("{} of them, first {}: {WHY}", commits.len(), commits[0]);
            let one = Diagnosis::file(list.path.clone(), list.size, WHAT_CONSOLIDATED, why);
            found.push(one.with(Remedy::Ignore { commits }));
        }
    }
    Ok(())
}
