//! Where in the file the footer lies, worked out from the last bytes without any I/O.

use std::ops::Range;

use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, DecodeError, Feature, FormatVersion};

use crate::error::{FragmentError, Result};
use crate::field::FieldSlots;
use crate::layout::Lists;

/// Bytes to read from the end of the file at first, so that for most fragments one read gets the whole footer: it holds
/// the footer of about 80 fields.
pub const FIRST_READ: u64 = 8 << 10;

/// The end of a footer that is followed by its length.
const LENGTH_LEN: u64 = 8;

/// What to do next to find the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Read these bytes of the file (its end, always), and ask again.
    Need(Range<u64>),
    /// The footer lies here, wholly within the bytes that were read.
    Footer(Range<u64>),
    /// There is no footer: the whole file, which was read, is one generic tile (formats 1 and 2). See
    /// [`FragmentFile`](crate::FragmentFile).
    Legacy,
}

/// The end of the file to read first.
#[must_use]
pub fn first_read(file_size: u64) -> Range<u64> {
    file_size.saturating_sub(FIRST_READ)..file_size
}

/// Tells where the footer lies in a `__fragment_metadata.tdb` of `file_size` bytes, of which `tail` are the last ones
/// (any number of them; see [`first_read`]).
///
/// `version` is what the fragment's *name* says. From format 10 on the file's last 8 bytes are the footer's length.
/// Before, they are that only if the schema has a dimension of variable size; else the footer ends the file and its
/// length follows from the schema, which those versions need therefore.
///
/// ```
/// # use tdb_fragment::{Step, locate};
/// # use tdb_types::FormatVersion;
/// let version = FormatVersion::new(22)?;
/// // A file of 1000 bytes that ends with the length of its footer, 300.
/// let tail = 300u64.to_le_bytes();
/// assert_eq!(locate(version, None, 1000, &[])?, Step::Need(992..1000));
/// assert_eq!(locate(version, None, 1000, &tail)?, Step::Need(692..1000));
/// let tail = [vec![0; 300], tail.to_vec()].concat();
/// assert_eq!(locate(version, None, 1000, &tail)?, Step::Footer(692..992));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SchemaNeeded`](FragmentError::SchemaNeeded); the file is too short for a footer, or the footer's length leads out
/// of the file.
pub fn locate(version: FormatVersion, schema: Option<&ArraySchema>, file_size: u64, tail: &[u8]) -> Result<Step> {
    let have = file_size.saturating_sub(tail.len() as u64);
    if !version.has(Feature::FragmentFooter) {
        return Ok(if have == 0 { Step::Legacy } else { Step::Need(0..file_size) });
    }
    let footer = match fixed_len(version, schema)? {
        Some(len) => {
            let start = file_size.checked_sub(len).ok_or_else(|| too_long(file_size, len, 0))?;
            start..file_size
        }
        None => {
            let end = file_size.checked_sub(LENGTH_LEN).ok_or_else(|| too_long(file_size, 0, 0))?;
            let Some((_, length)) = tail.split_last_chunk::<8>() else {
                return Ok(Step::Need(end..file_size));
            };
            let len = ByteReader::at(length, end).u64("footer length")?;
            let start = end.checked_sub(len).ok_or_else(|| too_long(file_size, len, end))?;
            start..end
        }
    };
    Ok(if have <= footer.start { Step::Footer(footer) } else { Step::Need(footer.start..file_size) })
}

/// Whether the file ends with the footer's length, after the footer.
///
/// # Errors
/// [`SchemaNeeded`](FragmentError::SchemaNeeded).
pub(crate) fn has_length(version: FormatVersion, schema: Option<&ArraySchema>) -> Result<bool> {
    Ok(fixed_len(version, schema)?.is_none())
}

/// The footer's length, where it follows from the schema.
fn fixed_len(version: FormatVersion, schema: Option<&ArraySchema>) -> Result<Option<u64>> {
    if version.has(Feature::FooterLength) {
        return Ok(None);
    }
    let schema = schema.ok_or(FragmentError::SchemaNeeded { version })?;
    let kinds = schema.domain().kinds();
    if kinds.iter().any(|kind| kind.var) {
        return Ok(None);
    }
    let domain: u64 = kinds.iter().map(|kind| 2 * kind.datatype.size() as u64).sum();
    let slots = FieldSlots::new(version, schema.attributes().len(), kinds.len(), false, false);
    // Version, two flags, non-empty domain, sparse tile count, last tile's cells: what `FooterHeader::write` writes.
    Ok(Some(4 + 2 + domain + 16 + Lists::serialised_len(version, &slots)))
}

#[cold]
fn too_long(file_size: u64, len: u64, offset: u64) -> DecodeError {
    let expected = "a footer within the file, and its length behind it";
    DecodeError::invalid("footer length", offset, len, expected)
        .inside(format!("fragment metadata of {file_size} bytes"))
}
