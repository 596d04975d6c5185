//! Location of the footer, derived from the last bytes of the file without I/O.

use std::ops::Range;

use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, DecodeError, Feature, FormatVersion};

use crate::error::{FragmentError, Result};
use crate::field::FieldSlots;
use crate::header::fixed_domain_len;
use crate::layout::Lists;

/// The number of bytes to read first from the end of the file. The whole footer fits for up to
/// about 80 fields, so a single read suffices for most fragments.
pub const FIRST_READ: u64 = 8 << 10;

/// The size of the length after a footer, in bytes.
const LENGTH_LEN: u64 = 8;

/// The next step to find the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Read these bytes, which always include the end of the file, and call [`locate`] again.
    Need(Range<u64>),
    /// The range of the footer, contained in the bytes read.
    Footer(Range<u64>),
    /// The file has no footer. It is a single generic tile (formats 1 and 2), and `tail` contains
    /// the whole file. See [`FragmentFile`](crate::FragmentFile).
    Legacy,
}

/// Returns the range to read first, at the end of the file.
#[must_use]
pub fn first_read(file_size: u64) -> Range<u64> {
    file_size.saturating_sub(FIRST_READ)..file_size
}

/// Locates the footer in a `__fragment_metadata.tdb` of `file_size` bytes.
///
/// `tail` has the last bytes of the file, any number of them (see [`first_read`]). `version` is the
/// version in the fragment's *name*.
///
/// From format 10 on, the last 8 bytes of the file are the length of the footer. Earlier formats
/// store the length only if the schema has a variable-size dimension. Otherwise the footer ends the
/// file, and the schema determines its length. Earlier formats therefore need `schema`.
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
/// Fails with [`SchemaNeeded`](FragmentError::SchemaNeeded) if the schema is needed but missing.
/// Also fails if the file is too short for a footer, or if the stored length exceeds the file.
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

/// Returns `true` if the footer is followed by its length.
///
/// # Errors
/// Fails with [`SchemaNeeded`](FragmentError::SchemaNeeded) if the schema is needed but missing.
pub(crate) fn has_length(version: FormatVersion, schema: Option<&ArraySchema>) -> Result<bool> {
    Ok(fixed_len(version, schema)?.is_none())
}

/// Returns the footer's length, or `None` if the schema does not determine the length.
fn fixed_len(version: FormatVersion, schema: Option<&ArraySchema>) -> Result<Option<u64>> {
    if version.has(Feature::FooterLength) {
        return Ok(None);
    }
    let schema = schema.ok_or(FragmentError::SchemaNeeded { version })?;
    let Some(domain) = fixed_domain_len(schema) else { return Ok(None) };
    let slots = FieldSlots::new(version, schema.attributes().len(), schema.dim_count(), false, false);
    // The parts of `FooterHeader::write`: version, two flags, non-empty domain, sparse tile count,
    // cells of the last tile.
    Ok(Some(4 + 2 + domain + 16 + Lists::serialized_len(version, &slots)))
}

#[cold]
fn too_long(file_size: u64, len: u64, offset: u64) -> DecodeError {
    let expected = "a footer within the file, followed by its length";
    DecodeError::invalid("footer length", offset, len, expected)
        .inside(format!("fragment metadata of {file_size} bytes"))
}
