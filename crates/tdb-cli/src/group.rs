//! Groups: what their detail files say, and the members that come of it.
//!
//! ```text
//! u32 version | u64 member count | members
//! member: u32 version | u8 kind | u8 relative | u64 length | URI | u8 named | named: u64 length | name
//!         | version 2: u8 deleted
//! ```

use std::fmt;
use std::fs;
use std::path::Path;

use tdb_array::ArrayError;
use tdb_generic_tile::{GenericTileDecoder, GenericTileError};
use tdb_types::{ByteReader, DecodeError, Spans, TimestampedName};

use crate::failure::{Failure, Result};
use crate::key::Key;

/// The folder of detail files in a group's folder.
pub(crate) const DETAILS_FOLDER: &str = "__group";
/// The details version since which files hold changes, and members may be deleted.
const WITH_DELETIONS: u32 = 2;

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Array,
    Group,
    Invalid,
}

impl fmt::Display for MemberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Array => "array",
            Self::Group => "group",
            Self::Invalid => "invalid",
        })
    }
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) kind: MemberKind,
    /// Whether the URI is relative to the group's folder.
    pub(crate) relative: bool,
    pub(crate) uri: String,
    pub(crate) name: Option<String>,
    deleted: bool,
}

impl Member {
    /// What tells members apart.
    fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }

    fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let version = reader.u32("member version")?;
        let kind = |code| match code {
            0 => Some(MemberKind::Invalid),
            1 => Some(MemberKind::Group),
            2 => Some(MemberKind::Array),
            _ => None,
        };
        let kind = reader.code("kind", "0 (invalid), 1 (group) or 2 (array)", kind)?;
        let relative = reader.bool("relative")?;
        let uri = reader.string_u64("URI")?;
        let name = if reader.bool("has a name")? { Some(reader.string_u64("name")?) } else { None };
        let deleted = version >= WITH_DELETIONS && reader.bool("deleted")?;
        Ok(Self { kind, relative, uri, name, deleted })
    }
}

/// One detail file.
#[derive(Debug)]
pub(crate) struct Details {
    version: u32,
    members: Vec<Member>,
}

impl Details {
    /// Least bytes of a member.
    const MIN_MEMBER: u64 = 15;

    /// Reads a whole detail file.
    pub(crate) fn parse_file(
        bytes: &[u8],
        decoder: &mut GenericTileDecoder,
        spans: Option<&Spans>,
    ) -> Result<Self, GenericTileError> {
        let tile = decoder.decode_file(bytes, spans)?;
        Ok(tile.parse_payload(spans, |reader| {
            let version = reader.u32("details version")?;
            let count = reader.u64("member count")?;
            let count = reader.count("members", count, Self::MIN_MEMBER)?;
            let members = (0..count).map(|index| reader.group(|| format!("member {index}"), Member::parse));
            Ok(Self { version, members: members.collect::<Result<_, _>>()? })
        })?)
    }
}

/// The members of the group in a folder, sorted by name.
///
/// Files of version 1 are complete lists, of which the latest counts; later ones are replayed in the order of their times.
///
/// # Errors
/// A detail file can't be read.
pub(crate) fn members(group: &Path, key: &Key) -> Result<Vec<Member>> {
    let folder = group.join(DETAILS_FOLDER);
    let mut names = Vec::new();
    match fs::read_dir(&folder) {
        Ok(entries) => names.extend(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::io(folder.display(), &error)),
    }
    let mut files: Vec<_> =
        names.iter().filter_map(|name| TimestampedName::parse(name).map(|time| (time, name))).collect();
    files.sort_by(|(a, _), (b, _)| (a.start(), a.as_str()).cmp(&(b.start(), b.as_str())));
    let mut members: Vec<Member> = Vec::new();
    for (_, name) in files {
        let details = read(&folder.join(name), key)?;
        if details.version < WITH_DELETIONS {
            members.clear();
        }
        for member in details.members {
            members.retain(|known| known.key() != member.key());
            if !member.deleted {
                members.push(member);
            }
        }
    }
    members.sort_by(|a, b| a.key().cmp(b.key()));
    Ok(members)
}

fn read(path: &Path, key: &Key) -> Result<Details> {
    let bytes = fs::read(path).map_err(|error| Failure::io(path.display(), &error))?;
    Details::parse_file(&bytes, &mut key.decoder(), None)
        .map_err(|source| ArrayError::GenericTile { file: path.display().to_string(), source }.blaming_the_key().into())
}
