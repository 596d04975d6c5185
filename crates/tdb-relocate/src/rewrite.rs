//! Rewriting of files with absolute URIs for a copy.

use tdb_array::tdb_fragment::ConsolidatedFooters;
use tdb_metadata::tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_metadata::{GroupDetails, GroupMember, PathList};
use tdb_types::names::{FOOTERS_EXTENSION, GROUP_FOLDER, VACUUM_EXTENSION, file_name};
use tdb_types::{ByteReader, ByteWriter, FormatVersion, Limits, TimestampedName};

/// URIs of the source and of the copy.
#[derive(Clone, Debug)]
pub struct Places {
    /// URI of the source.
    pub from: String,
    /// URI of the copy.
    pub to: String,
}

/// Form of a file in the copy.
#[derive(Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// Unchanged.
    Same,
    /// Changed content.
    Bytes(Vec<u8>),
    /// Left out of the copy: a file of consolidated footers that cannot be rewritten.
    LeftOut,
}

/// Kinds of files that may contain absolute URIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A vacuum file.
    Vacuum,
    /// A file of consolidated footers, with the URI of each fragment.
    Footers(FormatVersion),
    /// A file with members of a group.
    Details,
}

impl Kind {
    /// Returns the kind of a file. Returns `None` if files with this name contain no URIs.
    pub fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parsed = TimestampedName::parse(name)?;
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some(VACUUM_EXTENSION) => Some(Self::Vacuum),
            // From format 9 on, fragments are listed by name.
            Some(FOOTERS_EXTENSION) => {
                let version = parsed.fragment_version().ok()?;
                (version.number() < 9).then_some(Self::Footers(version))
            }
            None if file_name(folder) == GROUP_FOLDER => Some(Self::Details),
            _ => None,
        }
    }
}

impl Places {
    /// Returns the form of a file in the copy.
    pub fn rewrite(&self, path: &str, kind: Kind, bytes: &[u8]) -> Rewritten {
        match kind {
            Kind::Vacuum => self.vacuum(bytes),
            Kind::Footers(version) => self.footers(path, version, bytes),
            Kind::Details => self.details(path, bytes),
        }
    }

    /// Returns the path below the source, or `None` for a URI outside of the source.
    fn below<'u>(&self, uri: &'u str) -> Option<&'u str> {
        let plain = self.from.strip_prefix("file://").unwrap_or(&self.from);
        let rest = uri.strip_prefix(self.from.as_str()).or_else(|| uri.strip_prefix(plain))?;
        if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
    }

    /// Returns the new URI for a URI below the source.
    pub(super) fn moved(&self, uri: &str) -> Option<String> {
        let below = self.below(uri.trim_end_matches('/'))?;
        Some(format!("{}/{below}", self.to).trim_end_matches('/').to_owned())
    }

    fn vacuum(&self, bytes: &[u8]) -> Rewritten {
        let Ok(list) = PathList::parse(&mut ByteReader::new(bytes)) else { return Rewritten::Same };
        let mut is_other = false;
        let line = |line: String| match self.below(&line) {
            Some(rest) => {
                is_other = true;
                format!("{}/{rest}", self.to)
            }
            None => line,
        };
        let paths = list.paths.into_iter().map(line).collect();
        let mut file = ByteWriter::new();
        PathList { paths }.write(&mut file);
        if is_other { Rewritten::Bytes(file.into_bytes()) } else { Rewritten::Same }
    }

    /// Rewrites consolidated footers. A reader without a consolidated footer uses the footer in the
    /// fragment.
    fn footers(&self, path: &str, version: FormatVersion, bytes: &[u8]) -> Rewritten {
        let mut decoder = GenericTileDecoder::new(Limits::default());
        let Ok(footers) = ConsolidatedFooters::parse_file(bytes, &mut decoder, None) else { return Rewritten::LeftOut };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let base = if folder.is_empty() { self.to.clone() } else { format!("{}/{folder}", self.to) };
        let named: Vec<(String, &[u8])> =
            footers.iter().map(|(name, footer)| (format!("{base}/{name}"), footer.rest())).collect();
        let named: Vec<(&str, &[u8])> = named.iter().map(|(name, footer)| (name.as_str(), *footer)).collect();
        match ConsolidatedFooters::write_file(&named, &mut GenericTileEncoder::new(version)) {
            Ok(bytes) => Rewritten::Bytes(bytes),
            Err(_) => Rewritten::LeftOut,
        }
    }

    /// Rewrites members of a group. Members in the group's folder become relative, and copied
    /// members elsewhere get new URIs.
    fn details(&self, path: &str, bytes: &[u8]) -> Rewritten {
        let decoded = GroupDetails::parse_file(bytes, &mut GenericTileDecoder::new(Limits::default()), None);
        let Ok(mut details) = decoded else { return Rewritten::Same };
        let group =
            path.rsplit_once('/').and_then(|(folder, _)| folder.rsplit_once('/')).map_or("", |(group, _)| group);
        let mut is_other = false;
        for member in details.members.iter_mut().filter(|member| !member.relative) {
            is_other |= self.member(group, member);
        }
        if !is_other {
            return Rewritten::Same;
        }
        let (mut payload, mut file) = (ByteWriter::new(), ByteWriter::new());
        details.write(&mut payload);
        match GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload.as_slice(), &mut file) {
            Ok(_) => Rewritten::Bytes(file.into_bytes()),
            Err(_) => Rewritten::Same,
        }
    }

    /// Updates an absolute member of the group at the path `group` in the source. Returns `true` if
    /// the member was changed.
    pub fn member(&self, group: &str, member: &mut GroupMember) -> bool {
        let Some(below) = self.below(member.uri.trim_end_matches('/')) else { return false };
        let inside = if group.is_empty() {
            Some(below)
        } else {
            below.strip_prefix(group).and_then(|rest| rest.strip_prefix('/'))
        };
        match inside.filter(|inside| !inside.is_empty()) {
            Some(inside) => {
                member.uri = inside.to_owned();
                member.relative = true;
            }
            None => match self.moved(&member.uri) {
                Some(uri) => member.uri = uri,
                None => return false,
            },
        }
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_array::MemberKind;
    use tdb_metadata::DetailsVersion;

    use super::*;

    fn places() -> Places {
        Places { from: "file:///old/a".to_owned(), to: "file:///new/b".to_owned() }
    }

    #[test]
    fn vacuum_files_name_the_copy() {
        let of = |text: &str| places().rewrite("__meta/__1_1_a.vac", Kind::Vacuum, text.as_bytes());
        assert_eq!(
            of("file:///old/a/__meta/x\n/__meta/y\n"),
            Rewritten::Bytes(b"file:///new/b/__meta/x\n/__meta/y\n".to_vec())
        );
        assert_eq!(of("file:///old/ab/__meta/x\n"), Rewritten::Same);
        assert_eq!(of("/__meta/y\n"), Rewritten::Same);
    }

    #[test]
    fn kinds() {
        assert_eq!(Kind::of("__meta/__1_1_0123456789abcdef0123456789abcdef.vac"), Some(Kind::Vacuum));
        assert_eq!(Kind::of("__1_1_0123456789abcdef0123456789abcdef_9.meta"), None);
        assert!(matches!(Kind::of("__1_1_0123456789abcdef0123456789abcdef_8.meta"), Some(Kind::Footers(_))));
        assert_eq!(Kind::of("g/__group/__1_1_0123456789abcdef0123456789abcdef_2"), Some(Kind::Details));
        assert_eq!(Kind::of("g/__1_1_0123456789abcdef0123456789abcdef_2"), None);
    }

    #[test]
    fn members_get_the_uris_of_the_copy() {
        let changed = |group: &str, uri: &str| {
            let (name, kind, version) = (None, MemberKind::Array, DetailsVersion::Changes);
            let mut member = GroupMember { kind, relative: false, uri: uri.to_owned(), name, deleted: false, version };
            let is_changed = places().member(group, &mut member);
            (is_changed, member.relative, member.uri)
        };
        assert_eq!(changed("", "file:///old/a/x/y"), (true, true, "x/y".to_owned()));
        assert_eq!(changed("", "/old/a/x/"), (true, true, "x".to_owned()));
        assert_eq!(changed("g", "file:///old/a/g/y"), (true, true, "y".to_owned()));
        assert_eq!(changed("g", "file:///old/a/h"), (true, false, "file:///new/b/h".to_owned()));
        assert_eq!(changed("g", "file:///old/a/gh"), (true, false, "file:///new/b/gh".to_owned()));
        assert_eq!(changed("", "file:///old/other"), (false, false, "file:///old/other".to_owned()));
    }
}
