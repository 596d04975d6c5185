//! Files that list missing or moved files.

use tdb_array::{Array, ArrayError};
use tdb_metadata::PathList;
use tdb_storage::Storage;
use tdb_types::names::{
    CONSOLIDATED_EXTENSION, FRAGMENTS_FOLDER, GROUP_FOLDER, IGNORE_EXTENSION, METADATA_FOLDER, VACUUM_EXTENSION,
};
use tdb_types::{ByteReader, TimestampedName};

use super::diagnosis::{Diagnosis, Remedy};
use tdb_job::Result;
use tdb_job::footer_files;
use tdb_job::{Target, list};
use tdb_maintain::Reason;
use tdb_maintain::{MetadataList, Vacuum, fragment_lists, metadata_lists};

const VACUUM: &str = "a vacuum file";
const NOTHING_LEFT: &str = "a vacuum was interrupted; all listed files are deleted";

pub(super) fn look(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    look_at_commits(array, found)?;
    look_at_vacuums(array, found)?;
    look_at_footers(array, found)
}

/// Reports superseded consolidated commits first, then superfluous ignore files. In the opposite
/// order, ignored commits would become visible again.
fn look_at_commits(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    for step in Vacuum::commits().plan(array)?.steps() {
        let why = match step.path.rsplit_once('.').map(|(_, extension)| extension) {
            Some(CONSOLIDATED_EXTENSION) => "other files contain all of its commits",
            Some(IGNORE_EXTENSION) => "no consolidated commits file contains the ignored commits",
            _ => continue,
        };
        found.push(Diagnosis::file(step.path.clone(), step.bytes, step.what, why).harmless());
    }
    Ok(())
}

fn look_at_vacuums(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**array.storage();
    for list in fragment_lists(array)? {
        let one = |why: String| Diagnosis::file(list.path.clone(), list.bytes, VACUUM, why);
        match &list.verdict {
            Ok(()) if list.targets > 0 => {}
            Ok(()) if storage.exists(&list.folder)? && !is_committed(array, &list.folder)? => {
                // Only the owner of the array can know whether the fragment is complete.
                let why = format!(
                    "the listed fragments are deleted, and their replacement {} was never committed: it may be the only copy",
                    list.folder
                );
                found.push(one(why).with(Remedy::None));
            }
            Ok(()) => found.push(one(NOTHING_LEFT.to_owned()).harmless()),
            Err(Reason::NoReplacement) => {
                let why = format!(
                    "{}, which replaces {} fragments, is missing: readers ignore the replaced fragments, and read their cells again without this file. If {0} was deleted on purpose, keep the file",
                    list.folder, list.targets
                );
                found.push(one(why).with(Remedy::Reveal));
            }
            Err(reason) => found.push(one(reason.to_string()).with(Remedy::None)),
        }
    }
    Ok(())
}

fn is_committed(array: &Array, folder: &str) -> Result<bool> {
    let inventory = array.commit_inventory(&array.listing()?)?;
    Ok(inventory.fragments.iter().any(|fragment| fragment.entry.folder == folder))
}

fn look_at_footers(array: &Array, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**array.storage();
    let in_folder = list(storage, FRAGMENTS_FOLDER)?;
    let listing = array.listing()?;
    let is_there = |name: &str| in_folder.iter().chain(&listing.root).any(|entry| entry.name == name);
    for file in footer_files(&listing) {
        let one = |why: String| Diagnosis::file(file.path.clone(), file.bytes, "consolidated fragment metadata", why);
        match array.small_files().read_footers(&file.path) {
            Ok(footers) if footers.iter().any(|(name, _)| is_there(name)) => {}
            Ok(_) => found.push(one("all fragments are deleted".to_owned()).harmless()),
            Err(ArrayError::Storage(error)) if error.is_not_found() => {}
            Err(error) => found.push(one(Reason::Unreadable(Box::new(error)).to_string()).with(Remedy::None)),
        }
    }
    Ok(())
}

/// Reports vacuum files of metadata, in arrays and groups.
pub(super) fn look_at_metadata(target: &Target, found: &mut Vec<Diagnosis>) -> Result<()> {
    for MetadataList { path, bytes, targets, verdict, .. } in metadata_lists(target)? {
        let one = |why: String| Diagnosis::file(path.clone(), bytes, "the vacuum file of metadata", why);
        match verdict {
            Ok(()) if targets > 0 => found.extend(moved(target, &path, bytes)?),
            Ok(()) => found.push(one(NOTHING_LEFT.to_owned()).harmless()),
            Err(Reason::NoReplacement) => {
                let why = format!(
                    "the consolidated metadata that replaces {targets} files is missing: readers ignore the replaced files, and read their metadata again without this file"
                );
                found.push(one(why).with(Remedy::Reveal));
            }
            Err(reason) => found.push(one(reason.to_string()).with(Remedy::None)),
        }
    }
    Ok(())
}

/// Reports a vacuum file that contains URIs from before the group was moved. Vacuum files of arrays
/// are not affected, because only the end of their URIs matters.
fn moved(target: &Target, path: &str, bytes: u64) -> Result<Option<Diagnosis>> {
    let (Target::Group(group), Some(here)) = (target, target.storage().uri("")) else { return Ok(None) };
    let content = group.small_files().read_list(path)?;
    let Ok(list) = PathList::parse(&mut ByteReader::new(&content)) else { return Ok(None) };
    let lies_here = |line: &String| line.strip_prefix(&here).is_some_and(|rest| rest.starts_with('/'));
    Ok((!list.paths.iter().all(lies_here)).then(|| {
        let why = "lists files by the former path of the group: the reference library still reads the files as metadata, with the same result; run `tdb vacuum` to delete the files and the list";
        Diagnosis::file(path, bytes, "the vacuum file of metadata", why).with(Remedy::None).harmless()
    }))
}

/// Returns `true` if a file with this name belongs in `folder`, which is the metadata or the group
/// folder.
pub(super) fn is_known_list(folder: &str, name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let is_vacuum = folder == METADATA_FOLDER && extension == Some(VACUUM_EXTENSION);
    debug_assert!(folder == METADATA_FOLDER || folder == GROUP_FOLDER, "{folder}");
    TimestampedName::is_one(name) && (extension.is_none() || is_vacuum)
}
