//! Group detail files: the members of a group, and changes to the members.

use std::collections::BTreeMap;
use std::fmt;

use tdb_generic_tile::{GenericTileDecoder, GenericTileError};
use tdb_types::{ByteReader, ByteWriter, DecodeError, Spans};

/// The kind of a group member, as recorded in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// Neither a group nor an array. The URI did not exist when the member was added.
    Invalid,
    /// A group.
    Group,
    /// An array.
    Array,
}

impl MemberKind {
    const ALL: [Self; 3] = [Self::Invalid, Self::Group, Self::Array];

    /// Returns the name of the kind, in lower case.
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

/// The version of a detail file, or of a member in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DetailsVersion {
    /// Releases 2.8 to 2.14: each file is a complete list.
    Complete,
    /// Release 2.15 and later: each file changes the result of the preceding files, and may delete
    /// members.
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

/// A member of a group, or the deletion of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The kind of the member.
    pub kind: MemberKind,
    /// `true` if the URI is relative to the group's folder.
    pub relative: bool,
    /// The location of the member.
    pub uri: String,
    /// The member's name in the group, if any.
    pub name: Option<String>,
    /// `true` if the entry deletes the member. Members of version 1 cannot store this flag.
    pub deleted: bool,
    /// The version of the member's layout.
    pub version: DetailsVersion,
}

impl GroupMember {
    /// Minimum size of a member, in bytes.
    const MIN_LEN: u64 = 15;

    /// Returns the identity of a member in the group: the name, or else the URI.
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

/// A group detail file.
///
/// ```text
/// u32 version | u64 member count | members
/// member: u32 version | u8 kind | u8 relative | u64 length | URI | u8 named | named: u64 length | name
///         | version 2: u8 deleted
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetails {
    /// The version of the file: a complete list or changes.
    pub version: DetailsVersion,
    /// The members, in no particular order.
    pub members: Vec<GroupMember>,
}

impl GroupDetails {
    /// Reads an entire file, which is a generic tile. Records the fields into `spans` if given.
    ///
    /// # Errors
    /// Fails if the tile or payload is damaged, unsupported or too large, or if the encryption key
    /// is missing, wrong or not needed.
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
    /// Fails if the bytes are truncated, a version or kind is unknown, a flag is neither 0 nor 1,
    /// or text is not UTF-8.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let version = DetailsVersion::read(reader, "details version")?;
        let count = reader.u64("member count")?;
        let count = reader.count("members", count, GroupMember::MIN_LEN)?;
        let members = (0..count).map(|index| reader.group(|| format!("member {index}"), GroupMember::parse));
        Ok(Self { version, members: members.collect::<Result<_, _>>()? })
    }

    /// Writes the payload, the inverse of [`parse`](Self::parse). Omits
    /// [`deleted`](GroupMember::deleted) for members of version 1.
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.u32(self.version.number());
        writer.u64(self.members.len() as u64);
        self.members.iter().for_each(|member| member.write(writer));
    }

    /// Applies this file to `members`, by [key](GroupMember::key).
    ///
    /// A complete list replaces all members, even members from files with changes. The reference
    /// library rejects groups that mix the two versions.
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
