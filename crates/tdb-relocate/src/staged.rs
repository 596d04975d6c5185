//! Staging: a new array or group appears at the destination only when it is complete.

use std::sync::Arc;

use tdb_array::MemberKind;
use tdb_storage::{EntryKind, Storage, check_path};
use tdb_types::names::{GROUP_FOLDER, GROUP_MARKER, LEGACY_SCHEMA, SCHEMA_FOLDER};

use tdb_job::PlaceProblem;
use tdb_job::kind_of;
use tdb_job::links::is_link;
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Result};

/// Entries that make a folder an array or a group.
const MAKES_IT: [&str; 4] = [SCHEMA_FOLDER, LEGACY_SCHEMA, GROUP_FOLDER, GROUP_MARKER];

/// Subfolder of the temporary folder that becomes the array or group.
const CONTENT: &str = "content";

/// File with the names of the entries that the job creates at the destination. After an
/// interruption, the next run deletes these entries.
const UNFINISHED: &str = ".tdb-unfinished.tmp";

/// Maximum size of [`UNFINISHED`].
const LIST_BYTES: u64 = 64 << 20;

/// Checks that a copy is possible.
pub fn check(from: &Arc<dyn Storage>, parent: &Arc<dyn Storage>, name: &str) -> Result<()> {
    let problem = |path: String, why: PlaceProblem| Err(MaintainError::Place { path, why });
    if name.is_empty() || name.contains('/') || check_path(name).is_err() {
        return problem(parent.describe(name), PlaceProblem::NoName);
    }
    if kind_of(from)? == MemberKind::Invalid {
        return problem(from.describe(""), PlaceProblem::Neither);
    }
    if let (Some(from), Some(to)) = (from.uri(""), parent.uri(""))
        && (to == from || to.starts_with(&format!("{from}/")))
    {
        return problem(parent.describe(name), PlaceProblem::InSource);
    }
    if parent.exists(name)? && !is_unfinished(parent, name)? {
        return problem(parent.describe(name), PlaceProblem::Occupied);
    }
    if parent.exists("")? && kind_of(parent)? == MemberKind::Array {
        return problem(parent.describe(name), PlaceProblem::InArray);
    }
    Ok(())
}

/// Returns the name of the temporary folder.
fn staging(name: &str) -> String {
    format!(".tdb-copy-{name}.tmp")
}

/// Fills a temporary folder next to the destination and moves the content to the destination, after
/// a check of the source and the destination.
pub fn staged<T>(
    from: &Arc<dyn Storage>,
    parent: &Arc<dyn Storage>,
    name: &str,
    take_over: bool,
    fill: impl FnOnce(&Arc<dyn Storage>) -> Result<T>,
) -> Result<T> {
    check(from, parent, name)?;
    clear_unfinished(parent, name)?;
    let staging = staging(name);
    let created = parent.create_folder(&staging);
    // The target of a link may belong to someone else or not exist.
    if is_link(&**parent, &staging) {
        return Err(MaintainError::Place { path: parent.describe(&staging), why: PlaceProblem::LinkedTemporary });
    }
    created?;
    let place = parent.sub(&staging)?;
    let lock = Lock::take(&place, take_over)?;
    let made = begin(&place).and_then(|content| fill(&content)).and_then(|made| {
        if parent.exists(name)? {
            return Err(MaintainError::Place { path: parent.describe(name), why: PlaceProblem::Occupied });
        }
        publish(&**parent, &format!("{staging}/{CONTENT}"), name)?;
        Ok(made)
    });
    drop(lock);
    // After an error, the first error is reported. After success, the folder is empty.
    let _ = parent.remove_folder(&staging);
    made
}

fn begin(place: &Arc<dyn Storage>) -> Result<Arc<dyn Storage>> {
    if place.exists(CONTENT)? {
        // Leftovers of an interrupted run.
        place.remove_folder(CONTENT)?;
    }
    place.create_folder(CONTENT)?;
    Ok(place.sub(CONTENT)?)
}

/// Moves the content to the destination. An object store renames file by file. The entries that
/// make the folder an array or group come last. Until then, a marker file identifies the incomplete
/// folder.
fn publish(parent: &dyn Storage, content: &str, name: &str) -> Result<()> {
    if !parent.profile().is_remote() {
        return Ok(parent.rename(content, name)?);
    }
    let entries = parent.list(content)?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let unfinished = format!("{name}/{UNFINISHED}");
    parent.create_new(&unfinished, names.join("\n").as_bytes())?;
    let makes_it = |name: &str| MAKES_IT.contains(&name);
    let (last, first): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| makes_it(&entry.name));
    for entry in first.into_iter().chain(last) {
        match parent.rename(&format!("{content}/{}", entry.name), &format!("{name}/{}", entry.name)) {
            // Some object stores list folders even after all their files are deleted.
            Err(error) if error.is_not_found() && entry.kind == EntryKind::Folder && !makes_it(&entry.name) => {}
            renamed => renamed?,
        }
    }
    Ok(parent.remove_file(&unfinished)?)
}

/// Returns `true` if the destination has leftovers of an interrupted [publication](publish).
pub(crate) fn is_unfinished(parent: &Arc<dyn Storage>, name: &str) -> Result<bool> {
    if !parent.profile().is_remote() {
        return Ok(false);
    }
    let place = parent.sub(name)?;
    if !place.exists(UNFINISHED)? {
        return Ok(false);
    }
    // The last renames move the files of a folder one by one.
    let content = parent.sub(&format!("{}/{CONTENT}", staging(name)))?;
    let remains = |last: &str| -> Result<bool> {
        Ok(match content.kind(last)? {
            Some(EntryKind::Folder) => content.list(last)?.iter().any(|entry| entry.kind == EntryKind::File),
            Some(EntryKind::File) => true,
            None => false,
        })
    };
    for last in MAKES_IT {
        if remains(last)? {
            return Ok(true);
        }
    }
    Ok(kind_of(&place)? == MemberKind::Invalid)
}

/// Deletes leftovers of an interrupted publication. Foreign files stay and block the destination.
fn clear_unfinished(parent: &Arc<dyn Storage>, name: &str) -> Result<()> {
    if !is_unfinished(parent, name)? {
        return Ok(());
    }
    let place = parent.sub(name)?;
    let names = place.read_up_to(UNFINISHED, LIST_BYTES)?;
    for own in String::from_utf8_lossy(&names).lines().filter(|own| check_path(own).is_ok() && !own.contains('/')) {
        match place.kind(own)? {
            Some(EntryKind::File) => place.remove_file(own)?,
            Some(EntryKind::Folder) => place.remove_folder(own)?,
            None => {}
        }
    }
    place.remove_file(UNFINISHED)?;
    match parent.exists(name)? {
        true => Err(MaintainError::Place { path: parent.describe(name), why: PlaceProblem::Occupied }),
        false => Ok(()),
    }
}
