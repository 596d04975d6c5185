//! Locations of group members.

use std::path::{Component, Path};

use tdb_storage::check_path;

/// The location of a group member, relative to the group's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberPlace {
    /// Inside the group's folder, at this relative path. The empty path refers to the group itself.
    Inside(String),
    /// Outside of the group's folder, at this local path. The URI is absolute, or relative with
    /// `..`. After the group was moved, the absolute URI of a member inside the folder also leads
    /// outside.
    Outside(String),
    /// Not on the local file system, or at an unknown location.
    Elsewhere,
}

impl MemberPlace {
    /// Resolves a URI in a group. `folder` is the group's local folder, if any.
    pub(super) fn of(uri: &str, relative: bool, folder: Option<&Path>) -> Self {
        if relative {
            return match inside(uri) {
                Some(path) if check_path(&path).is_ok() => Self::Inside(path),
                Some(_) => Self::Elsewhere,
                None => match folder {
                    // A lossy conversion of a path that is not UTF-8 would lead to another folder.
                    Some(folder) => {
                        folder.join(uri).to_str().map_or(Self::Elsewhere, |path| Self::Outside(path.to_owned()))
                    }
                    None => Self::Elsewhere,
                },
            };
        }
        let path = uri.strip_prefix("file://").unwrap_or(uri).trim_end_matches('/');
        if !path.starts_with('/') || path.contains('\0') {
            return Self::Elsewhere;
        }
        let has_parents = Path::new(path).components().any(|component| component == Component::ParentDir);
        let below = folder.filter(|_| !has_parents).and_then(|folder| Path::new(path).strip_prefix(folder).ok());
        match below.and_then(Path::to_str) {
            Some(below) if check_path(below).is_ok() => Self::Inside(below.to_owned()),
            _ => Self::Outside(path.to_owned()),
        }
    }

    /// Returns `true` if the member is in the group's folder.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        matches!(self, Self::Inside(_))
    }
}

/// Resolves empty components, `.` and `..` in a relative path. Returns `None` if the path leaves
/// the base folder.
fn inside(path: &str) -> Option<String> {
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            name => components.push(name),
        }
    }
    Some(components.join("/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(uri: &str, relative: bool) -> MemberPlace {
        MemberPlace::of(uri, relative, Some(Path::new("/data/group")))
    }

    #[test]
    fn relative_uris_leave_the_group_only_by_dots() {
        let inside = |path: &str| MemberPlace::Inside(path.to_owned());
        assert_eq!(place("a", true), inside("a"));
        assert_eq!(place("./a//b/../c/", true), inside("a/c"));
        assert_eq!(place("", true), inside(""));
        assert_eq!(place("a/..", true), inside(""));
        assert_eq!(place("../b", true), MemberPlace::Outside("/data/group/../b".to_owned()));
        assert_eq!(place("a/../../b", true), MemberPlace::Outside("/data/group/a/../../b".to_owned()));
        assert_eq!(MemberPlace::of("../b", true, None), MemberPlace::Elsewhere);
        assert_eq!(place("a\\..\\..", true), MemberPlace::Elsewhere);
        assert_eq!(place("a\0", true), MemberPlace::Elsewhere);
    }

    proptest! {
        #[test]
        fn member_names_are_not_decoded(name in "[ -.0-9;-[\\]-~é語]{1,12}|%[0-9A-F]{2}") {
            prop_assume!(name != "." && name != "..");
            let inside = MemberPlace::Inside(name.clone());
            prop_assert_eq!(place(&name, true), inside.clone());
            prop_assert_eq!(place(&format!("file:///data/group/{name}"), false), inside);
            prop_assert_eq!(place(&format!("/data/group/{name}"), false), MemberPlace::Inside(name));
        }
    }

    #[test]
    fn absolute_uris_into_the_folder_are_inside() {
        let inside = |path: &str| MemberPlace::Inside(path.to_owned());
        let outside = |path: &str| MemberPlace::Outside(path.to_owned());
        assert_eq!(place("file:///data/group/a/b", false), inside("a/b"));
        assert_eq!(place("/data/group/a/", false), inside("a"));
        assert_eq!(place("file:///data/group", false), inside(""));
        assert_eq!(place("file:///data/groups/a", false), outside("/data/groups/a"));
        assert_eq!(place("/data/group/../x", false), outside("/data/group/../x"));
        assert_eq!(place("file:///data/group/a%20b", false), inside("a%20b"));
        assert_eq!(place("file:///data/a%20b#c?d", false), outside("/data/a%20b#c?d"));
        assert_eq!(place("s3://bucket/a", false), MemberPlace::Elsewhere);
        assert_eq!(place("a", false), MemberPlace::Elsewhere);
    }
}
