//! Messages of Arrow files and streams. Untrusted sizes never determine an allocation.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use arrow_buffer::Buffer;
use arrow_ipc::{Block, Message, MessageHeader, root_as_message};
use tdb_arrow::arrow_schema::ArrowError;

/// Prefix of the message length, except in files of early versions.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Maximum size of a decompressed batch in bytes.
const MAX_UNPACKED: u64 = 1 << 32;

type Result<T> = std::result::Result<T, ArrowError>;

/// A message of a stream, and its body.
pub(super) struct Encoded {
    head: Vec<u8>,
    pub(super) body: Buffer,
}

impl Encoded {
    /// Parses the message.
    ///
    /// # Errors
    /// The encoding is invalid.
    pub(super) fn message(&self) -> Result<Message<'_>> {
        message(&self.head)
    }

    /// Returns the size of message and body in bytes, without the prefix.
    pub(super) fn len(&self) -> u64 {
        (self.head.len() + self.body.len()) as u64
    }
}

/// Reads the next message of a stream. `None` at the end.
///
/// # Errors
/// The message is truncated, or has invalid sizes.
pub(super) fn next(stream: &mut impl Read) -> Result<Option<Encoded>> {
    let mut length = Vec::new();
    if read(stream, 4, &mut length)? == 0 {
        return Ok(None);
    }
    if length == CONTINUATION {
        length.clear();
        exactly(stream, 4, &mut length)?;
    }
    let length = length.first_chunk().map_or(-1, |length| i32::from_le_bytes(*length));
    let length = u64::try_from(length).map_err(|_| invalid("the length of a message is negative"))?;
    if length == 0 {
        return Ok(None);
    }
    let (mut head, mut body) = (Vec::new(), Vec::new());
    exactly(stream, length, &mut head)?;
    let length = message(&head)?.bodyLength();
    let length = u64::try_from(length).map_err(|_| invalid("the length of a message body is negative"))?;
    exactly(stream, length, &mut body)?;
    check(&head, &body)?;
    Ok(Some(Encoded { head, body: body.into() }))
}

/// Reads the whole message of a block in a file of `size` bytes.
///
/// # Errors
/// The block is outside of the file, or has invalid sizes.
pub(super) fn of_block(file: &mut File, size: u64, block: &Block) -> Result<Vec<u8>> {
    let outside = || invalid("a block is outside of the file");
    let number = |number: i64| u64::try_from(number).map_err(|_| outside());
    let (start, metadata) = (number(block.offset())?, number(block.metaDataLength().into())?);
    let length = number(block.bodyLength())?.checked_add(metadata).ok_or_else(outside)?;
    if start.checked_add(length).is_none_or(|end| end > size) {
        return Err(outside());
    }
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    exactly(file, length, &mut bytes)?;
    let (head, body) = bytes.split_at_checked(usize::try_from(metadata).unwrap_or(usize::MAX)).ok_or_else(outside)?;
    let begin = if head.starts_with(&CONTINUATION) { 8 } else { 4 };
    check(head.get(begin..).ok_or_else(outside)?, body)?;
    Ok(bytes)
}

fn message(bytes: &[u8]) -> Result<Message<'_>> {
    root_as_message(bytes).map_err(|error| invalid(&format!("invalid message: {error}")))
}

/// Checks the decompressed sizes in a message.
fn check(head: &[u8], body: &[u8]) -> Result<()> {
    let message = message(head)?;
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(()) };
    let mut unpacked = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let length =
            body.get(start..).and_then(|bytes| bytes.first_chunk()).map_or(0, |length| i64::from_le_bytes(*length));
        // A length of -1 marks an uncompressed buffer.
        unpacked = unpacked.saturating_add(u64::try_from(length).unwrap_or(0));
    }
    if unpacked > MAX_UNPACKED {
        return Err(invalid(&format!(
            "a batch has {unpacked} bytes: expected at most {MAX_UNPACKED} uncompressed bytes"
        )));
    }
    Ok(())
}

/// Reads exactly this number of bytes.
fn exactly(from: &mut impl Read, count: u64, bytes: &mut Vec<u8>) -> Result<()> {
    if read(from, count, bytes)? == count { Ok(()) } else { Err(invalid("the file is truncated")) }
}

/// Reads up to this number of bytes.
fn read(from: &mut impl Read, count: u64, bytes: &mut Vec<u8>) -> Result<u64> {
    Ok(from.take(count).read_to_end(bytes)? as u64)
}

fn invalid(why: &str) -> ArrowError {
    ArrowError::IpcError(why.to_owned())
}
