//! Common parts of the string filters: [`string_rle`](super::string_rle) and
//! [`dictionary`](super::dictionary).
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | metadata parts: 0 |
//! | `u32` | data parts: 1 |
//! | `u32` | length of the strings |
//! | `u32` | length of the data |
//! | `u32` | 8 times the number of strings |
//! | `u8` | size of a run length or dictionary index |
//! | `u8` | size of a string's length |
//!
//! A dictionary follows. Integers in the data and in the dictionary are big-endian.

use tdb_types::{ByteReader, saturating_len};

use crate::FilterError;
use crate::flow::put_u32;

/// The output of decoded strings: their bytes and start offsets.
#[derive(Debug)]
pub(crate) struct Strings<'a> {
    values: &'a mut [u8],
    written: usize,
    /// Total length of earlier chunks, added to every offset.
    base: u64,
    offsets: &'a mut Vec<u64>,
    /// Number of strings still expected.
    cells_left: u64,
}

/// Strings to encode: their bytes and start offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<'a> {
    pub(crate) values: &'a [u8],
    pub(crate) offsets: &'a [u64],
}

/// Maximum length of a short string, in bytes. Most strings are short.
pub(crate) const SHORT: usize = 16;

/// A string with its first bytes as a number. Short strings are copied and compared without a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// The first [`SHORT`] bytes in little-endian order, padded with zeros.
    pub(crate) head: u128,
    pub(crate) string: &'a [u8],
}

/// Metadata common to both filters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Width of a run length or dictionary index.
    pub(crate) count_width: Width,
    pub(crate) length_width: Width,
}

/// Width of an integer in the data, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    One = 1,
    Two = 2,
    Four = 4,
    Eight = 8,
}

impl<'a> Strings<'a> {
    pub(crate) fn new(values: &'a mut [u8], base: u64, offsets: &'a mut Vec<u64>, cells_left: u64) -> Self {
        Self { values, written: 0, base, offsets, cells_left }
    }

    /// Reserves `count` of the expected strings.
    pub(crate) fn expect(&mut self, count: u64, filter: &'static str) -> Result<(), FilterError> {
        match self.cells_left.checked_sub(count) {
            Some(left) => self.cells_left = left,
            None => return Err(FilterError::Corrupt { filter, what: "more strings than cells" }),
        }
        // Bounded by the number of cells, which the caller has checked.
        self.offsets.reserve(saturating_len(count));
        Ok(())
    }

    /// Appends a string `count` times.
    pub(crate) fn push(&mut self, entry: Entry<'_>, count: u64, filter: &'static str) -> Result<(), FilterError> {
        self.expect(count, filter)?;
        let Ok(count) = usize::try_from(count) else { return Err(too_long(filter)) };
        let start = self.base + self.written as u64;
        if entry.string.is_empty() {
            self.offsets.extend(std::iter::repeat_n(start, count));
            return Ok(());
        }
        let rest = self.values.get_mut(self.written..).unwrap_or_default();
        let Some(run) = entry.len().checked_mul(count).filter(|len| *len <= rest.len()) else {
            return Err(too_long(filter));
        };
        fill(rest, entry, run);
        self.written += run;
        let step = entry.len() as u64;
        // `step_by` would need a division to compute the length.
        let mut next = start;
        let places = std::iter::repeat_with(|| {
            let place = next;
            next += step;
            place
        });
        self.offsets.extend(places.take(count));
        Ok(())
    }

    /// Appends the string returned by `entry` for each of `numbers`. The strings must be reserved
    /// with [`expect`](Self::expect).
    pub(crate) fn push_each<'e, T>(
        &mut self,
        numbers: &[T],
        filter: &'static str,
        mut entry: impl FnMut(&T) -> Result<Entry<'e>, FilterError>,
    ) -> Result<(), FilterError> {
        let first = self.offsets.len();
        self.offsets.resize(first + numbers.len(), 0);
        let mut written = self.written;
        for (number, offset) in numbers.iter().zip(&mut self.offsets[first..]) {
            let entry = entry(number)?;
            *offset = self.base + written as u64;
            let room = self.values.get_mut(written..).unwrap_or_default();
            match room.first_chunk_mut::<SHORT>() {
                // A copy of constant length is fast. The next string overwrites the surplus bytes.
                Some(room) if entry.len() <= SHORT => *room = entry.head.to_le_bytes(),
                _ => room.get_mut(..entry.len()).ok_or_else(|| too_long(filter))?.copy_from_slice(entry.string),
            }
            written += entry.len();
        }
        self.written = written;
        Ok(())
    }

    /// Checks that all bytes were written, and returns the number of missing strings. The caller
    /// checks this number over all chunks.
    pub(crate) fn finish(self, filter: &'static str) -> Result<u64, FilterError> {
        if self.written == self.values.len() {
            Ok(self.cells_left)
        } else {
            Err(FilterError::Corrupt { filter, what: "the strings end before the data" })
        }
    }
}

impl<'a> Entry<'a> {
    /// Returns the string of `len` bytes at the start of `bytes`, or `None` if they are too short.
    #[inline(always)]
    pub(crate) fn at_start(bytes: &'a [u8], len: usize) -> Option<Self> {
        let string = bytes.get(..len)?;
        let head = match bytes.first_chunk::<SHORT>() {
            Some(head) if len > 0 => u128::from_le_bytes(*head) & (u128::MAX >> (8 * SHORT.saturating_sub(len))),
            _ => {
                let mut head = [0; SHORT];
                let short = len.min(SHORT);
                head[..short].copy_from_slice(&string[..short]);
                u128::from_le_bytes(head)
            }
        };
        Some(Self { head, string })
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.string.len()
    }
}

impl PartialEq for Entry<'_> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head
            && self.len() == other.len()
            && (self.len() <= SHORT || self.string[SHORT..] == other.string[SHORT..])
    }
}

/// Repeats a non-empty string over the first `run` bytes, a multiple of its length. Bytes after the
/// run may be overwritten too.
fn fill(bytes: &mut [u8], entry: Entry<'_>, run: usize) {
    let mut at = 0;
    if entry.len() <= SHORT {
        let head = entry.head.to_le_bytes();
        while at < run
            && let Some(room) = bytes[at..].first_chunk_mut::<SHORT>()
        {
            *room = head;
            at += entry.len();
        }
    }
    for to in bytes[at.min(run)..run].chunks_exact_mut(entry.len()) {
        to.copy_from_slice(entry.string);
    }
}

#[cold]
fn too_long(filter: &'static str) -> FilterError {
    FilterError::Corrupt { filter, what: "the strings are longer than the stated length" }
}

impl<'a> Cells<'a> {
    /// Checks that the offsets start at 0, ascend, and stay within the values, so that each value
    /// belongs to a cell.
    pub(crate) fn new(values: &'a [u8], offsets: &'a [u64]) -> Result<Self, FilterError> {
        if offsets.is_empty() && !values.is_empty() {
            let (what, found) = ("values without cells", values.len() as u64);
            return Err(FilterError::WrongSize { what, expected: 0, found });
        }
        let mut last = 0;
        for (index, &offset) in offsets.iter().enumerate() {
            if offset < last || offset > values.len() as u64 || (index == 0 && offset != 0) {
                return Err(FilterError::InvalidOffset { index: index as u64, offset, len: values.len() as u64 });
            }
            last = offset;
        }
        Ok(Self { values, offsets })
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Iterates over the cells in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.entries().map(|entry| entry.string)
    }

    /// Iterates over the cells in order, with their first bytes as numbers.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let values = self.values;
        let ends = self.offsets.iter().skip(1).copied().chain([values.len() as u64]);
        self.offsets.iter().zip(ends).map(move |(&start, end)| {
            let bytes = values.get(saturating_len(start)..).unwrap_or_default();
            // The range was checked to be within the values.
            Entry::at_start(bytes, saturating_len(end - start)).unwrap_or(Entry { head: 0, string: &[] })
        })
    }
}

impl Header {
    pub(crate) fn read(
        meta: &mut ByteReader<'_>,
        data: &[u8],
        strings: &Strings<'_>,
        filter: &'static str,
    ) -> Result<Self, FilterError> {
        let parts = (meta.u32("number of metadata parts")?, meta.u32("number of data parts")?);
        let values_len = meta.u32("bytes of strings")?;
        let data_len = meta.u32("bytes of encoded strings")?;
        // The number of strings is checked during decoding.
        meta.u32("bytes of offsets")?;
        let corrupt = |what| Err(FilterError::Corrupt { filter, what });
        if parts != (0, 1) {
            return corrupt("the number of parts is wrong, expected one data part");
        }
        if u64::from(values_len) != strings.values.len() as u64 {
            return corrupt("the length of the strings differs from that of the chunk");
        }
        if u64::from(data_len) != data.len() as u64 {
            return corrupt("the length of the encoded strings differs from the header");
        }
        Ok(Self { count_width: Width::read(meta)?, length_width: Width::read(meta)? })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, cells: Cells<'_>, data: usize) -> Result<(), FilterError> {
        put_u32(out, "number of metadata parts", 0)?;
        put_u32(out, "number of data parts", 1)?;
        put_u32(out, "bytes of strings", cells.values.len())?;
        put_u32(out, "bytes of encoded strings", data)?;
        put_u32(out, "bytes of offsets", cells.len().saturating_mul(8))?;
        out.extend_from_slice(&[self.count_width as u8, self.length_width as u8]);
        Ok(())
    }
}

impl Width {
    /// Returns the minimum width for `value`.
    pub(crate) fn of(value: usize) -> Self {
        match value as u64 {
            0..=0xff => Self::One,
            0x100..=0xffff => Self::Two,
            0x1_0000..=0xffff_ffff => Self::Four,
            _ => Self::Eight,
        }
    }

    fn read(meta: &mut ByteReader<'_>) -> Result<Self, FilterError> {
        Ok(meta.code("width", "1, 2, 4 or 8", |code| {
            Some(match code {
                1 => Self::One,
                2 => Self::Two,
                4 => Self::Four,
                8 => Self::Eight,
                _ => return None,
            })
        })?)
    }

    /// Reads a big-endian integer from the front of `bytes`.
    #[inline(always)]
    pub(crate) fn take(self, bytes: &mut &[u8]) -> Option<u64> {
        let (taken, rest) = bytes.split_at_checked(self as usize)?;
        *bytes = rest;
        Some(taken.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(crate) fn put(self, value: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&(value as u64).to_be_bytes()[8 - self as usize..]);
    }
}
