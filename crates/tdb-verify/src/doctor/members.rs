//! Problems of groups: leftover files, and members whose paths are not valid, or will not be valid
//! after the group is moved.

use tdb_array::{Group, Member, MemberKind, MemberPlace};
use tdb_storage::{EntryKind, check_path, is_temporary};
use tdb_types::names::{GROUP_FOLDER, MAINTENANCE_LOCK, METADATA_FOLDER, is_of_maintenance};

use super::diagnosis::{Diagnosis, Remedy};
use super::locks;
use tdb_job::Result;
use tdb_job::{kind_of, list};

pub(super) fn look(group: &Group, found: &mut Vec<Diagnosis>) -> Result<()> {
    let storage = &**group.storage();
    for folder in ["", GROUP_FOLDER, METADATA_FOLDER] {
        for entry in list(storage, folder)? {
            let is_lock = folder.is_empty() && is_of_maintenance(&entry.name);
            if is_lock && (entry.kind == EntryKind::File || entry.name == MAINTENANCE_LOCK) {
                found.push(locks::look(storage, &entry)?);
            } else if entry.kind == EntryKind::File && is_temporary(&entry.name) {
                let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                let what = "a file of an interrupted write";
                let why = "a write is in progress or was interrupted; readers ignore the file";
                found.push(Diagnosis::file(path, entry.size, what, why).harmless());
            }
        }
    }
    if group.is_legacy() {
        return Ok(());
    }
    let mut places: Vec<(&MemberPlace, &str)> = Vec::new();
    for member in group.members() {
        found.extend(of_member(group, member)?);
        let twice = places.iter().find(|(place, _)| **place == member.place && **place != MemberPlace::Elsewhere);
        if let Some((_, other)) = twice {
            let why = format!("{other} is the same array or group; run `tdb group remove` to remove one of the two");
            found.push(of(member, "a duplicate member", why, Remedy::None).harmless());
        }
        places.push((&member.place, member.key()));
    }
    Ok(())
}

fn of(member: &Member, what: &'static str, why: String, remedy: Remedy) -> Diagnosis {
    Diagnosis::file(member.key(), 0, what, why).with(remedy).of(EntryKind::Folder)
}

fn of_member(group: &Group, member: &Member) -> Result<Option<Diagnosis>> {
    let inside = |path: &str| -> Result<bool> { Ok(kind_of(&group.storage().sub(path)?)? != MemberKind::Invalid) };
    match &member.place {
        MemberPlace::Elsewhere => Ok(None),
        MemberPlace::Inside(path) if path.is_empty() => Ok(Some(of(
            member,
            "a member that is the group itself",
            "walking the group does not terminate".to_owned(),
            Remedy::None,
        ))),
        MemberPlace::Inside(path) if inside(path)? => Ok((!member.relative).then(|| {
            let why =
                format!("the member is in the group's folder, at {path}, and will be lost when the group is moved");
            of(member, "a member with an absolute path", why, relative(group, member, path))
        })),
        MemberPlace::Inside(_) => Ok(Some(missing(member))),
        MemberPlace::Outside(_) => {
            // Only local storages can reach paths outside of the group.
            let Ok(storage) = group.member_storage(member) else { return Ok(None) };
            if kind_of(&storage)? != MemberKind::Invalid {
                return Ok(None);
            }
            Ok(Some(match moved_to(group, member)? {
                Some(path) => {
                    let why = format!(
                        "neither an array nor a group, but one is at {path} in the group's folder: the group was moved"
                    );
                    of(member, "a member with an outdated path", why, relative(group, member, &path))
                }
                None => missing(member),
            }))
        }
        _ => Ok(None),
    }
}

fn missing(member: &Member) -> Diagnosis {
    let why = format!("neither an array nor a group is at {}; restore it, or run `tdb group remove`", member.uri);
    of(member, "a missing member", why, Remedy::None)
}

/// Returns the remedy for a member with an absolute path. If the relative path is already the key
/// of another member, the remedy removes the member.
fn relative(group: &Group, member: &Member, path: &str) -> Remedy {
    let is_taken = member.name.is_none() && group.member(path).is_some_and(|other| other != member);
    Remedy::Relative { key: member.key().to_owned(), path: (!is_taken).then(|| path.to_owned()) }
}

/// Finds the new path of a moved member: the longest suffix of the old path that leads to an object
/// of the same kind. Returns `None` if there is none.
fn moved_to(group: &Group, member: &Member) -> Result<Option<String>> {
    let path = member.uri.split_once("://").map_or(member.uri.as_str(), |(_, path)| path);
    let components: Vec<&str> = path.split('/').filter(|component| !component.is_empty()).collect();
    for start in 1..components.len() {
        let end = components[start..].join("/");
        if check_path(&end).is_ok() && kind_of(&group.storage().sub(&end)?)? == member.kind {
            return Ok(Some(end));
        }
    }
    Ok(None)
}
