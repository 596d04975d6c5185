//! Member arrays and groups inside of a group's folder.

use std::collections::{BTreeMap, BTreeSet};

use tdb_array::{Group, GroupOptions, Member, MemberKind, TimeRange};
use tdb_filters::EncryptionKey;

use tdb_job::Result;
use tdb_job::kind_of;

/// Members by path below the group's folder.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Groups, opened for all times. The path of the root is empty.
    pub(super) groups: BTreeMap<String, Group>,
    pub(super) arrays: BTreeSet<String>,
    /// URIs of external and missing members.
    pub(super) left: Vec<String>,
}

impl Members {
    pub(super) fn of(group: &Group, key: Option<&EncryptionKey>) -> Result<Self> {
        let root = group.storage();
        let here = root.uri("");
        let mut found = Self::default();
        let mut open = vec![String::new()];
        while let Some(path) = open.pop() {
            if found.groups.contains_key(&path) {
                continue;
            }
            let options = GroupOptions::new().between(TimeRange::ALL).key(key.cloned());
            let group = options.open_on(root.sub(&path)?)?;
            for member in group.members() {
                let kind = match place_of(&path, member, here.as_deref()) {
                    Some(place) => Some((kind_of(&root.sub(&place)?)?, place)),
                    None => None,
                };
                match kind {
                    Some((MemberKind::Array, place)) => drop(found.arrays.insert(place)),
                    Some((MemberKind::Group, place)) => open.push(place),
                    _ => found.left.push(member.uri.clone()),
                }
            }
            found.groups.insert(path, group);
        }
        // Arrays inside of an array are migrated with the outer array.
        let arrays = found.arrays.clone();
        found.arrays.retain(|path| !is_below(path, |above| arrays.contains(above)));
        Ok(found)
    }
}

/// Returns `true` if the condition holds for a parent folder of the path.
pub(super) fn is_below(path: &str, is_one: impl Fn(&str) -> bool) -> bool {
    path.match_indices('/').any(|(end, _)| is_one(&path[..end]))
}

/// Returns the path of a member below the root. Returns `None` for an external member. `here` is
/// the URI of the root.
fn place_of(group: &str, member: &Member, here: Option<&str>) -> Option<String> {
    if member.relative {
        return plain(group, &member.uri);
    }
    let here = here?;
    let bare = here.strip_prefix("file://").unwrap_or(here);
    let rest = member.uri.strip_prefix(here).or_else(|| member.uri.strip_prefix(bare))?;
    plain("", rest.strip_prefix('/')?)
}

/// Joins two paths and removes empty components, `.` and `..`. Returns `None` if the result is
/// outside of the root.
fn plain(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    tdb_storage::check_path(&path).is_ok().then_some(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn places() {
        assert_eq!(plain("a/b", "../c//./d").unwrap(), "a/c/d");
        assert_eq!(plain("a", "..").unwrap(), "");
        assert_eq!(plain("a", "../../c"), None);
        let member = |uri: &str, relative| Member {
            kind: MemberKind::Array,
            name: None,
            uri: uri.to_owned(),
            relative,
            place: tdb_array::MemberPlace::Elsewhere,
        };
        let place = |uri: &str, relative| place_of("g", &member(uri, relative), Some("file:///place"));
        assert_eq!(place("../a", true).unwrap(), "a");
        assert_eq!(place("file:///place/g/x", false).unwrap(), "g/x");
        assert_eq!(place("/place/h/", false).unwrap(), "h");
        assert_eq!((place("/places/h", false), place("s3://b/a", false)), (None, None));
        assert!(is_below("a/b/c", |path| path == "a/b") && !is_below("a/b", |path| path == "a/b"));
    }
}
