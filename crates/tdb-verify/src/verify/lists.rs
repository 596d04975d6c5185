//! Verification of vacuum files and other lists of files.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, SmallFiles};
use tdb_metadata::{CommitKind, PathList};
use tdb_storage::{EntryKind, Storage};
use tdb_types::names::{COMMITS_FOLDER, METADATA_FOLDER, VACUUM_EXTENSION, file_name};
use tdb_types::{ByteReader, TimestampedName};

use super::finding::{Finding, FindingKind, unreadable};
use tdb_job::MaintainError;
use tdb_job::{Target, list};
use tdb_maintain::{Reason, Retained};
use tdb_maintain::{Vacuum, metadata_lists};

/// Checks that superseded fragments and metadata files of an array or group have sound
/// replacements, and that vacuum files are valid.
pub(super) fn check_lists(target: &Target, found: &mut Vec<Finding>) {
    if let Target::Array(array) = target {
        check_drafted(array, found);
    }
    check_metadata(target, found);
    let folders: &[&str] = match target {
        Target::Array(_) => &["", COMMITS_FOLDER, METADATA_FOLDER],
        Target::Group(_) => &[METADATA_FOLDER],
    };
    for folder in folders {
        check_lines(&target.small_files(), folder, found);
    }
}

/// Checks that consolidated fragments exist and are sound.
fn check_drafted(array: &Array, found: &mut Vec<Finding>) {
    match Vacuum::fragments().plan(array) {
        Ok(plan) => {
            let left = plan.retained().filter(|left| !matches!(left.why, Reason::Link));
            found.extend(left.map(|Retained { path, why, .. }| hides(array.storage(), path, why)));
        }
        Err(error) => unread(&array.storage().describe(""), &error, found),
    }
}

/// Checks that consolidated metadata exists and is sound.
fn check_metadata(target: &Target, found: &mut Vec<Finding>) {
    let lists = match metadata_lists(target) {
        Ok(lists) => lists,
        Err(error) => return unread(&target.storage().describe(""), &error, found),
    };
    for list in lists {
        match (list.verdict, list.renamed) {
            (Err(why), _) => found.push(hides(target.storage(), &list.path, &why)),
            (Ok(()), Some(name)) if list.targets > 0 => {
                let what = format!(
                    "the UUID differs from the UUID of the consolidated file {name}, as written by release 2.21.1"
                );
                let file = target.storage().describe(&list.path);
                found.push(Finding::note(FindingKind::Replacement, file, what));
            }
            _ => {}
        }
    }
}

/// Creates a finding about a vacuum file that hides files without a sound replacement.
fn hides(storage: &Arc<dyn Storage>, path: &str, why: &Reason) -> Finding {
    let what = format!("readers ignore the listed files, but {why}");
    Finding::wrong(FindingKind::Replacement, storage.describe(path), what)
}

/// Reports an unreadable file, unless it is already reported.
pub(super) fn unread(file: &str, error: &MaintainError, found: &mut Vec<Finding>) {
    let finding = unreadable(file, error);
    if !found.iter().any(|other| other.what == finding.what) {
        found.push(finding);
    }
}

/// Checks that each line of the vacuum files in a folder is valid. Readers skip invalid lines, and
/// the files in these lines become visible again.
fn check_lines(files: &SmallFiles, folder: &str, found: &mut Vec<Finding>) {
    let entries = match list(&**files.storage(), folder) {
        Ok(entries) => entries,
        Err(error) => return found.push(unreadable(&files.storage().describe(folder), &error)),
    };
    let is_list =
        |name: &str| CommitKind::of(name) == Some(CommitKind::Vacuum) && TimestampedName::parse(name).is_some();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File && is_list(&entry.name)) {
        let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
        let file = files.storage().describe(&path);
        let bytes = match files.read_list(&path) {
            Ok(bytes) => bytes,
            // The vacuum file was deleted in the meantime.
            Err(ArrayError::Storage(error)) if error.is_not_found() => continue,
            Err(error) => {
                unread(&file, &error.into(), found);
                continue;
            }
        };
        let (mut lines, mut first_wrong) = (0_u64, None);
        let look = |line: std::borrow::Cow<'_, str>| {
            lines += 1;
            // Damage to a line break, such as a zero byte, merges two lines.
            let is_one = !line.contains('\0') && TimestampedName::is_one(file_name(PathList::target(&line)));
            if !is_one && first_wrong.is_none() {
                first_wrong = Some(lines);
            }
        };
        if let Err(source) = PathList::for_each(&mut ByteReader::new(&bytes), look) {
            unread(&file, &ArrayError::Commits { file: file.clone(), source }.into(), found);
            continue;
        }
        let named_after = entry.name.strip_suffix(&format!(".{VACUUM_EXTENSION}")).unwrap_or(&entry.name);
        let is_joined = || folder != METADATA_FOLDER || entries.iter().any(|other| other.name == named_after);
        found.extend(match first_wrong {
            Some(line) => {
                let what =
                    format!("line {line} names neither a fragment nor a file, and the original entry is visible again");
                Some(Finding::wrong(FindingKind::Replacement, file, what))
            }
            None if lines == 0 && is_joined() => {
                let what = "the list is empty, and the formerly listed files are visible again";
                Some(Finding::wrong(FindingKind::Replacement, file, what))
            }
            None if lines == 0 => {
                let what = "the list is empty, as releases up to 2.25 write it without metadata to consolidate";
                Some(Finding::note(FindingKind::Unused, file, what))
            }
            None => None,
        });
    }
}
