//! The detail files of a group: its members, and how they changed.

use std::collections::BTreeMap;
use std::fmt;

use tdb_generic_tile::{GenericTileDecoder, GenericTileError};
use tdb_types::{ByteReader, ByteWriter, DecodeError, Spans};

/// What a member of a group is, as the group says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// Neither: nothing lay at the member's place when it was added.
    Invalid,
    /// A group.
    Group,
    /// An array.
    Array,
}

impl MemberKind {
    const ALL: [Self; 3] = [Self::Invalid, Self::Group, Self::Array];

    /// In the format's words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Group => "group",
            Self::Array => "array",
        }
    }
}

impl fmt::Display for MemberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The versions of detail files and of members in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DetailsVersion {
    /// Releases 2.8 to 2.14: each file is a complete list.
    Complete,
    /// From release 2.15 on: each file changes what the files before it came to, and may delete members.
    Changes,
}

impl DetailsVersion {
    fn read(reader: &mut ByteReader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let offset = reader.offset();
        match reader.u32(field)? {
            1 => Ok(Self::Complete),
            2 => Ok(Self::Changes),
            other => Err(DecodeError::invalid(field, offset, other, "1 or 2")),
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Complete => 1,
            Self::Changes => 2,
        }
    }
}

/// A member of a group, or the deletion of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// What it is.
    pub kind: MemberKind,
    /// Whether the URI is relative to the group's folder.
    pub relative: bool,
    /// Where it is.
    pub uri: String,
    /// What it is called in the group, if it has a name.
    pub name: Option<String>,
    /// Whether the member was removed. Members of version 1 can't say so.
    pub deleted: bool,
    /// The version of the member's own layout.
    pub version: DetailsVersion,
}

impl GroupMember {
    /// Least bytes of a member.
    const MIN_LEN: u64 = 15;

    /// What identifies a member of a group: the name, else the URI.
    #[must_use]
    pub fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }

    fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let version = DetailsVersion::read(reader, "member version")?;
        let kind = |code: u8| MemberKind::ALL.get(usize::from(code)).copied();
        let kind = reader.code("kind", "0 (invalid), 1 (group) or 2 (array)", kind)?;
        let relative = reader.bool("relative")?;
        let uri = reader.string_u64("URI")?;
        let name = if reader.bool("has a name")? { Some(reader.string_u64("name")?) } else { None };
        let deleted = version == DetailsVersion::Changes && reader.bool("deleted")?;
        Ok(Self { kind, relative, uri, name, deleted, version })
    }

    fn write(&self, writer: &mut ByteWriter) {
        writer.u32(self.version.number());
        writer.u8(self.kind as u8);
        writer.bool(self.relative);
        writer.string_u64(&self.uri);
        writer.bool(self.name.is_some());
        if let Some(name) = &self.name {
            writer.string_u64(name);
        }
        if self.version == DetailsVersion::Changes {
            writer.bool(self.deleted);
        }
    }
}

/// A detail file of a group.
///
/// ```text
/// u32 version | u64 member count | members
/// member: u32 version | u8 kind | u8 relative | u64 length | URI | u8 named | named: u64 length | name
///         | version 2: u8 deleted
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetails {
    /// Whether this is a complete list or changes one.
    pub version: DetailsVersion,
    /// The members, in no particular order.
    pub members: Vec<GroupMember>,
}

impl GroupDetails {
    /// Reads a whole file, which is one generic tile; recording into `spans` if there are any.
    ///
    /// # Errors
    /// The tile or its payload is damaged, or the key is wanted or wrong.
    pub fn parse_file(
        bytes: &[u8],
        decoder: &mut GenericTileDecoder,
        spans: Option<&Spans>,
    ) -> Result<Self, GenericTileError> {
        let tile = decoder.decode_file(bytes, spans)?;
        Ok(tile.parse_payload(spans, Self::parse)?)
    }

    /// Reads the payload.
    ///
    /// # Errors
    /// Truncated, an unknown version or kind, a flag that is neither 0 nor 1, text that is not UTF-8.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let version = DetailsVersion::read(reader, "details version")?;
        let count = reader.u64("member count")?;
        let count = reader.count("members", count, GroupMember::MIN_LEN)?;
        let members = (0..count).map(|index| reader.group(|| format!("member {index}"), GroupMember::parse));
        Ok(Self { version, members: members.collect::<Result<_, _>>()? })
    }

    /// Writes what [`parse`](Self::parse) reads.
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.u32(self.version.number());
        writer.u64(self.members.len() as u64);
        self.members.iter().for_each(|member| member.write(writer));
    }

    /// Changes `members`, by their [keys](GroupMember::key), to what they are after this file.
    ///
    /// A complete list after or between files of changes counts as what it is; the reference library refuses such groups.
    pub fn apply(self, members: &mut BTreeMap<String, GroupMember>) {
        if self.version == DetailsVersion::Complete {
            members.clear();
        }
        for member in self.members {
            let key = member.key().to_owned();
            match member.deleted {
                true => members.remove(&key),
                false => members.insert(key, member),
            };
        }
    }
}
