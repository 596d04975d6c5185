//! Dictionary: the number of each string among the distinct ones, which stand in the metadata.
//!
//! After the [common metadata](super::strings) come a `u32` length in bytes, and the distinct strings in the order of
//! their first appearance, each with its length before it.

use std::collections::HashMap;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, put_u32, split};
use crate::stage::strings::{Cells, Header, Strings, Width};

pub(crate) const FILTER: &str = "dictionary";

/// The distinct strings.
struct Dictionary<'a> {
    bytes: &'a [u8],
    /// Where each begins in these, and how long it is.
    places: Vec<(u32, u32)>,
}

impl<'a> Dictionary<'a> {
    fn read(meta: &mut ByteReader<'a>, length_width: Width) -> Result<Self, FilterError> {
        let len = meta.u32("bytes of the dictionary")?;
        let bytes = meta.bytes("dictionary", u64::from(len))?;
        let mut rest = bytes;
        let mut places = Vec::new();
        while !rest.is_empty() {
            let Some(length) = length_width.take(&mut rest) else { return corrupt("the dictionary is cut off") };
            let start = bytes.len() - rest.len();
            let string = split(&mut rest, FILTER, length)?;
            // The whole has no more bytes than 32 bits can count.
            places.push((
                crate::length_u32("a place in the dictionary", start)?,
                crate::length_u32("a string", string.len())?,
            ));
        }
        Ok(Self { bytes, places })
    }

    /// Puts the strings of these numbers, each of `WIDTH` bytes.
    fn put<const WIDTH: usize>(&self, data: &[u8], strings: &mut Strings<'_>) -> Result<(), FilterError> {
        let (numbers, rest) = data.as_chunks::<WIDTH>();
        if !rest.is_empty() {
            return corrupt("the last number is cut off");
        }
        strings.expect(numbers.len() as u64, FILTER)?;
        for number in numbers {
            let number = number.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
            let place = usize::try_from(number).ok().and_then(|number| self.places.get(number));
            let Some((start, len)) = place else { return corrupt("a number is not in the dictionary") };
            strings.push_part(self.bytes, (*start as usize, *len as usize), FILTER)?;
        }
        Ok(())
    }
}

#[cold]
fn corrupt<T>(what: &'static str) -> Result<T, FilterError> {
    Err(FilterError::Corrupt { filter: FILTER, what })
}

pub(crate) fn decode(
    header: &Header,
    meta: &mut ByteReader<'_>,
    data: &[u8],
    strings: &mut Strings<'_>,
) -> Result<(), FilterError> {
    let dictionary = Dictionary::read(meta, header.length_width)?;
    match header.count_width {
        Width::One => dictionary.put::<1>(data, strings),
        Width::Two => dictionary.put::<2>(data, strings),
        Width::Four => dictionary.put::<4>(data, strings),
        Width::Eight => dictionary.put::<8>(data, strings),
    }
}

pub(crate) fn encode(cells: Cells<'_>, meta: &mut Metadata<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let mut numbers = HashMap::new();
    let mut entries = Vec::new();
    // As wide as the number of cells needs, however few strings are distinct.
    let count_width = Width::of(cells.len());
    let start = out.len();
    for string in cells.iter() {
        let number = *numbers.entry(string).or_insert_with(|| {
            entries.push(string);
            entries.len() - 1
        });
        count_width.put(number, out);
    }
    let longest = entries.iter().map(|entry| entry.len()).max().unwrap_or(0);
    let header = Header { count_width, length_width: Width::of(longest) };
    meta.clear();
    meta.add(|bytes| {
        header.write(bytes, cells, out.len() - start)?;
        let entry_bytes = |entry: &&[u8]| header.length_width as usize + entry.len();
        put_u32(bytes, "bytes of the dictionary", entries.iter().map(entry_bytes).sum())?;
        for entry in &entries {
            header.length_width.put(entry.len(), bytes);
            bytes.extend_from_slice(entry);
        }
        Ok(())
    })
}
