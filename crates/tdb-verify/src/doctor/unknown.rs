//! Unknown files, which the doctor leaves untouched.

use tdb_metadata::{CommitKind, MemberKind};
use tdb_storage::{Entry, EntryKind, MANIFEST_NAME, Storage, is_temporary};
use tdb_types::TimestampedName;
use tdb_types::names::{
    COMMITS_FOLDER, ENUMERATIONS_FOLDER, FOOTERS_EXTENSION, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, GROUP_FOLDER,
    GROUP_MARKER, LABELS_FOLDER, LEGACY_SCHEMA, LOCK_FILE, MAINTENANCE_LOCK, METADATA_FOLDER, SCHEMA_FOLDER,
};

use super::diagnosis::Diagnosis;
use super::lists::is_known_list;
use super::quarantine::QUARANTINE;
use tdb_job::Result;
use tdb_job::{Target, list};

const OF_ARRAY: [&str; 6] =
    [SCHEMA_FOLDER, FRAGMENTS_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER, LABELS_FOLDER, METADATA_FOLDER];

pub(super) fn look(target: &Target, found: &mut Vec<Diagnosis>) -> Result<()> {
    let kind = match target {
        Target::Array(_) => MemberKind::Array,
        Target::Group(_) => MemberKind::Group,
    };
    for folder in std::iter::once("").chain(folders(kind).iter().copied()) {
        for (path, entry) in unknown_in(&**target.storage(), kind, folder)? {
            found.push(Diagnosis::note(path, &entry, "not part of the format", "no change"));
        }
    }
    Ok(())
}

/// Returns the first path in the folders of an array or group that is not part of the format.
/// Returns `None` if all paths are part of it. Does not examine the entries of the root itself.
///
/// # Errors
/// An existing folder cannot be listed.
pub fn first_unknown(storage: &dyn Storage, kind: MemberKind) -> Result<Option<String>> {
    for folder in folders(kind) {
        if let Some((path, _)) = unknown_in(storage, kind, folder)?.into_iter().next() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns the folders to search, except for the root.
fn folders(kind: MemberKind) -> &'static [&'static str] {
    match kind {
        MemberKind::Group => &[GROUP_FOLDER, METADATA_FOLDER],
        _ => &[SCHEMA_FOLDER, FRAGMENTS_FOLDER, COMMITS_FOLDER, FRAGMENT_META_FOLDER, METADATA_FOLDER],
    }
}

fn unknown_in(storage: &dyn Storage, kind: MemberKind, folder: &str) -> Result<Vec<(String, Entry)>> {
    let entries = list(storage, folder)?.into_iter().filter(|entry| {
        let is_temporary = entry.kind == EntryKind::File && is_temporary(&entry.name);
        // A file with the name of the lock is reported elsewhere.
        let is_lock = folder.is_empty() && entry.name == MAINTENANCE_LOCK;
        !is_temporary && !is_lock && !is_known(kind, folder, entry)
    });
    let path = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    Ok(entries.map(|entry| (path(&entry.name), entry)).collect())
}

fn is_known(kind: MemberKind, folder: &str, entry: &Entry) -> bool {
    let name = entry.name.as_str();
    let is_file = entry.kind == EntryKind::File;
    let has_time = TimestampedName::is_one(name);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    match (kind, folder) {
        (_, "") if is_file && name == MANIFEST_NAME => true,
        // Members may be in folders of any name.
        (MemberKind::Group, "") if !is_file => true,
        (MemberKind::Group, "") => name == GROUP_MARKER,
        (MemberKind::Array, "") if is_file => {
            let is_list = CommitKind::of(name).is_some() || extension == Some(FOOTERS_EXTENSION);
            matches!(name, LEGACY_SCHEMA | LOCK_FILE) || has_time && is_list
        }
        (MemberKind::Array, "") => OF_ARRAY.contains(&name) || name == QUARANTINE || has_time && extension.is_none(),
        (_, SCHEMA_FOLDER) if is_file => has_time,
        (_, SCHEMA_FOLDER) => name == ENUMERATIONS_FOLDER,
        (_, FRAGMENTS_FOLDER) => !is_file && has_time && extension.is_none(),
        (_, COMMITS_FOLDER) => is_file && has_time && CommitKind::of(name).is_some(),
        (_, FRAGMENT_META_FOLDER) => is_file && has_time && extension == Some(FOOTERS_EXTENSION),
        (_, folder) => is_file && is_known_list(folder, name),
    }
}
