//! Data and metadata between filters.

use crate::FilterError;

/// The output of a decoding filter: the caller's memory for the pipeline's first filter, otherwise
/// a buffer read by the next filter.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    /// The caller's memory. Every byte must be written.
    Final(&'a mut [u8]),
    /// A buffer that grows up to a budget in bytes, with the number of bytes taken.
    Scratch { buffer: &'a mut Vec<u8>, budget: u64, taken: usize },
}

impl Sink<'_> {
    /// Returns room for the filter's output. Every byte must be written.
    pub(crate) fn take(&mut self, len: u64) -> Result<&mut [u8], FilterError> {
        match self {
            Self::Final(out) => {
                let expected = out.len() as u64;
                let wrong = FilterError::WrongSize { what: "unfiltered chunk", expected, found: len };
                if expected == len { Ok(out) } else { Err(wrong) }
            }
            Self::Scratch { buffer, budget, taken } => {
                let room = room(buffer, len, *budget)?;
                *taken = room.len();
                Ok(room)
            }
        }
    }
}

/// Returns the first `len` bytes of a buffer, which grows if necessary. The buffer never shrinks,
/// so that bytes are zeroed only once.
pub(crate) fn room(buffer: &mut Vec<u8>, len: u64, budget: u64) -> Result<&mut [u8], FilterError> {
    let exceeded = FilterError::ImplausibleGrowth { asked: len, max: budget };
    if len > budget {
        return Err(exceeded);
    }
    let Ok(len) = usize::try_from(len) else { return Err(exceeded) };
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

/// The metadata produced so far during encoding.
///
/// Most filters prepend metadata. To avoid moving bytes, parts are stored in order of creation, and
/// [`latest_first`](Self::latest_first) returns them in the order of the format.
#[derive(Debug)]
pub(crate) struct Metadata<'a> {
    bytes: &'a mut Vec<u8>,
    ends: &'a mut Vec<usize>,
}

impl<'a> Metadata<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>, ends: &'a mut Vec<usize>) -> Self {
        bytes.clear();
        ends.clear();
        Self { bytes, ends }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the bytes that `write` appends, as one part.
    pub(crate) fn add<T>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<T, FilterError>,
    ) -> Result<T, FilterError> {
        let result = write(self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(result)
    }

    pub(crate) fn parts(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn latest_first(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).rev().map(|index| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.bytes[start..self.ends[index]]
        })
    }
}

/// Appends a `u32` of a filter's header.
pub(crate) fn put_u32(out: &mut Vec<u8>, what: &'static str, value: usize) -> Result<(), FilterError> {
    out.extend_from_slice(&crate::length_u32(what, value)?.to_le_bytes());
    Ok(())
}

/// Splits off the next `len` bytes of `data`.
pub(crate) fn split<'a>(data: &mut &'a [u8], filter: &'static str, len: u64) -> Result<&'a [u8], FilterError> {
    let parts = usize::try_from(len).ok().and_then(|len| data.split_at_checked(len));
    match parts {
        Some((taken, rest)) => {
            *data = rest;
            Ok(taken)
        }
        None => Err(FilterError::Corrupt { filter, what: "the parts are longer than the data" }),
    }
}

/// Splits off the next `len` bytes of `out`.
pub(crate) fn split_mut<'a>(
    out: &mut &'a mut [u8],
    filter: &'static str,
    len: u64,
) -> Result<&'a mut [u8], FilterError> {
    usize::try_from(len)
        .ok()
        .and_then(|len| out.split_off_mut(..len))
        .ok_or(FilterError::Corrupt { filter, what: "the parts are longer than the stated length" })
}

/// Checks that all of `data` was consumed.
pub(crate) fn finish(data: &[u8], filter: &'static str) -> Result<(), FilterError> {
    if data.is_empty() { Ok(()) } else { Err(FilterError::Corrupt { filter, what: "unexpected bytes after the data" }) }
}
