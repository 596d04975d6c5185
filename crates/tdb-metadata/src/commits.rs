//! Commit files, and those in which commits are gathered.

use tdb_types::{ByteReader, ByteWriter, DecodeError, names};

use crate::paths::line;

/// What a file among the commits says, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommitKind {
    /// A fragment was written: `.wrt`, before format 12 `.ok`.
    Write,
    /// Cells were deleted by a condition: `.del`.
    Delete,
    /// Cells were updated by a condition: `.upd`. Described by the format, but no release writes it.
    Update,
    /// Commits gathered in one file: `.con`.
    Consolidated,
    /// Gathered commits to ignore: `.ign`.
    Ignore,
    /// Fragments that a consolidated one replaces: `.vac`.
    Vacuum,
}

impl CommitKind {
    /// What a file of this name is, if it is any of these.
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

    /// Whether the file names other files, so that its contents decide what counts.
    #[must_use]
    pub fn lists_files(self) -> bool {
        matches!(self, Self::Consolidated | Self::Ignore | Self::Vacuum)
    }

    /// Whether the bytes of such a commit are embedded where it is gathered with others: those of deletes. (The format's
    /// description says the same of updates; but the reference library, which writes none, wouldn't read it so.)
    #[must_use]
    pub fn is_embedded(self) -> bool {
        self == Self::Delete
    }
}

/// A commit in a `.con` file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsolidatedCommit<'a> {
    /// The path of the commit file, below the array's folder and without a leading slash. The file itself may be gone.
    pub path: &'a str,
    /// The bytes of the commit file, if it is of a kind that is [embedded](CommitKind::is_embedded).
    pub commit: Option<&'a [u8]>,
    /// Where these bytes begin in the `.con` file.
    pub offset: u64,
}

impl<'a> ConsolidatedCommit<'a> {
    /// Reads the entry that comes next: a path, a newline (which the last one may lack, as the reference library reads it),
    /// and for a commit with a condition a `u64` length and the commit file.
    ///
    /// # Errors
    /// Truncated, or a path that is not UTF-8.
    pub fn parse(reader: &mut ByteReader<'a>) -> Result<Self, DecodeError> {
        let start = reader.offset();
        let path = line(reader)?;
        let path =
            std::str::from_utf8(path).map_err(|_| DecodeError::invalid("path", start, "other bytes", "UTF-8"))?;
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

    /// Writes what [`parse`](Self::parse) reads.
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

/// A `.con` file: commits gathered in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsolidatedCommits<'a> {
    /// The commits, in the order of the file, which says nothing.
    pub entries: Vec<ConsolidatedCommit<'a>>,
}

impl<'a> ConsolidatedCommits<'a> {
    /// Reads all that is left.
    ///
    /// # Errors
    /// As [`ConsolidatedCommit::parse`].
    pub fn parse(reader: &mut ByteReader<'a>) -> Result<Self, DecodeError> {
        let mut entries = Vec::new();
        Self::for_each(reader, |entry| entries.push(entry))?;
        Ok(Self { entries })
    }

    /// Reads all that is left and hands over one commit after the other, without keeping them: short lines take much less
    /// room in the file than in memory.
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

    /// Writes what [`parse`](Self::parse) reads.
    pub fn write(&self, writer: &mut ByteWriter) {
        self.entries.iter().for_each(|entry| entry.write(writer));
    }
}
