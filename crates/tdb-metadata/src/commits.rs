//! Commit files and consolidated commits files.

use tdb_types::{ByteReader, ByteWriter, DecodeError, names};

use crate::paths::line;

/// The kind of a commit, consolidated commits, ignore or vacuum file, by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommitKind {
    /// A committed fragment: `.wrt`, or `.ok` before format 12.
    Write,
    /// A delete condition, which deletes the matching cells: `.del`.
    Delete,
    /// An update condition: `.upd`. The format specification describes update conditions, but no
    /// release of the reference library writes them.
    Update,
    /// Consolidated commits: `.con`.
    Consolidated,
    /// A list of the commits to ignore in consolidated commits files: `.ign`.
    Ignore,
    /// A list of the fragments or metadata files that consolidation has superseded: `.vac`.
    Vacuum,
}

impl CommitKind {
    /// Returns the kind of a file with this name, or `None` if the extension is missing or unknown.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Some(match name.rsplit_once('.')?.1 {
            names::WRITE_EXTENSION | names::OK_EXTENSION => Self::Write,
            names::DELETE_EXTENSION => Self::Delete,
            names::UPDATE_EXTENSION => Self::Update,
            names::CONSOLIDATED_EXTENSION => Self::Consolidated,
            names::IGNORE_EXTENSION => Self::Ignore,
            names::VACUUM_EXTENSION => Self::Vacuum,
            _ => return None,
        })
    }

    /// Returns `true` if files of this kind list other files.
    #[must_use]
    pub fn lists_files(self) -> bool {
        matches!(self, Self::Consolidated | Self::Ignore | Self::Vacuum)
    }

    /// Returns `true` for delete commits, whose bytes are embedded in a consolidated commits file.
    ///
    /// The format specification also embeds update commits. The reference library does not write
    /// update commits and would not read such a file.
    #[must_use]
    pub fn is_embedded(self) -> bool {
        self == Self::Delete
    }
}

/// A commit in a `.con` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsolidatedCommit<'a> {
    /// The path of the commit file, relative to the array's folder, without a leading slash. The
    /// commit file may no longer exist.
    pub path: &'a str,
    /// The bytes of the commit file for [embedded](CommitKind::is_embedded) kinds, or `None` for
    /// other kinds.
    pub commit: Option<&'a [u8]>,
    /// The offset of these bytes in the `.con` file. For other kinds, the offset of the end of the
    /// entry.
    pub offset: u64,
}

impl<'a> ConsolidatedCommit<'a> {
    /// Reads the next entry: a path, a newline, and for a delete commit a `u64` length and the
    /// commit file.
    ///
    /// The last newline of the file is optional, as in the reference library.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or the path is not UTF-8.
    pub fn parse(reader: &mut ByteReader<'a>) -> Result<Self, DecodeError> {
        let start = reader.offset();
        let path = line(reader)?;
        let path =
            std::str::from_utf8(path).map_err(|_| DecodeError::invalid("path", start, "invalid UTF-8", "UTF-8"))?;
        let commit = match CommitKind::of(path).is_some_and(CommitKind::is_embedded) {
            true => {
                let length = reader.u64("length of the commit")?;
                Some(reader.sub("commit", length)?)
            }
            false => None,
        };
        let offset = commit.as_ref().map_or(reader.offset(), ByteReader::offset);
        Ok(Self { path, commit: commit.map(|commit| commit.rest()), offset })
    }

    /// Writes the entry, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.bytes(self.path.as_bytes());
        writer.u8(b'\n');
        if CommitKind::of(self.path).is_some_and(CommitKind::is_embedded) {
            let commit = self.commit.unwrap_or_default();
            writer.u64(commit.len() as u64);
            writer.bytes(commit);
        }
    }
}

/// A consolidated commits file (`.con`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsolidatedCommits<'a> {
    /// The commits in file order, which has no meaning.
    pub entries: Vec<ConsolidatedCommit<'a>>,
}

impl<'a> ConsolidatedCommits<'a> {
    /// Reads the commits from all remaining bytes.
    ///
    /// # Errors
    /// As [`ConsolidatedCommit::parse`].
    pub fn parse(reader: &mut ByteReader<'a>) -> Result<Self, DecodeError> {
        let mut entries = Vec::new();
        Self::for_each(reader, |entry| entries.push(entry))?;
        Ok(Self { entries })
    }

    /// Reads all remaining bytes and passes each commit to `take`. This saves memory compared with
    /// [`parse`](Self::parse), because a short entry takes much more space in memory than in the
    /// file.
    ///
    /// # Errors
    /// As [`ConsolidatedCommit::parse`].
    pub fn for_each(
        reader: &mut ByteReader<'a>,
        mut take: impl FnMut(ConsolidatedCommit<'a>),
    ) -> Result<(), DecodeError> {
        let mut index = 0;
        while reader.remaining() > 0 {
            take(ConsolidatedCommit::parse(reader).map_err(|error| error.inside(format!("entry {index}")))?);
            index += 1;
        }
        Ok(())
    }

    /// Writes the commits, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        self.entries.iter().for_each(|entry| entry.write(writer));
    }
}
