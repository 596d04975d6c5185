//! What the doctor doesn't know, and leaves alone.

use tdb_metadata::CommitKind;
use tdb_storage::{Entry, EntryKind, is_temporary};
use tdb_types::TimestampedName;
use tdb_types::names::{
    COMMITS_FOLDER, ENUMERATIONS_FOLDER, FOOTERS_EXTENSION, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, GROUP_FOLDER,
    GROUP_MARKER, LABELS_FOLDER, LEGACY_SCHEMA, LOCK_FILE, METADATA_FOLDER, SCHEMA_FOLDER,
};

use super::aside::ASIDE;
use super::diagnosis::Diagnosis;
use super::lists::is_known_list;
use crate::Result;
use crate::target::{Target, list};

const OF_ARRAY: [&str; 6] =
    [SCHEMA_FOLDER, FRAGMENTS_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER, LABELS_FOLDER, METADATA_FOLDER];

pub(super) fn look(target: &Target, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**target.storage();
    let folders: &[&str] = match target {
        Target::Array(_) => {
            &["", SCHEMA_FOLDER, FRAGMENTS_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER, METADATA_FOLDER]
        }
        Target::Group(_) => &["", GROUP_FOLDER, METADATA_FOLDER],
    };
    for folder in folders {
        for entry in list(storage, folder)? {
            let is_temporary = entry.kind == EntryKind::File && is_temporary(&entry.name);
            if is_temporary || is_known(target, folder, &entry) {
                continue;
            }
            let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            found.push(Diagnosis::note(path, &entry, "nothing that is known", "it is left alone"));
        }
    }
    Ok(())
}

fn is_known(target: &Target, folder: &str, entry: &Entry) -> bool {
    let name = entry.name.as_str();
    let is_file = entry.kind == EntryKind::File;
    let has_time = TimestampedName::is_one(name);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    match (target, folder) {
        // Members may lie in folders of any name.
        (Target::Group(_), "") if !is_file => true,
        (Target::Group(_), "") => name == GROUP_MARKER,
        (Target::Array(_), "") if is_file => {
            let is_list = CommitKind::of(name).is_some() || extension == Some(FOOTERS_EXTENSION);
            matches!(name, LEGACY_SCHEMA | LOCK_FILE) || has_time && is_list
        }
        (Target::Array(_), "") => OF_ARRAY.contains(&name) || name == ASIDE || has_time && extension.is_none(),
        (_, SCHEMA_FOLDER) => {
            if is_file {
                has_time
            } else {
                name == ENUMERATIONS_FOLDER
            }
        }
        (_, FRAGMENTS_FOLDER) => !is_file && has_time && extension.is_none(),
        (_, COMMITS_FOLDER) => is_file && has_time && CommitKind::of(name).is_some(),
        (_, FRAGMENT_META_FOLDER) => is_file && has_time && extension == Some(FOOTERS_EXTENSION),
        (_, folder) => is_file && is_known_list(folder, name),
    }
}
