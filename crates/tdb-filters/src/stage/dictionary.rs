//! Dictionary encoding: each string is replaced by its index among the distinct strings.
//!
//! The [common metadata](super::strings) are followed by the `u32` size of the dictionary in bytes
//! and the distinct strings. They are in order of first appearance, each preceded by its length.

mod distinct;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, put_u32};
use crate::stage::strings::{Cells, Entry, Header, Strings, Width};
use distinct::Distinct;

pub(crate) const FILTER: &str = "dictionary";

/// Reads the distinct strings.
fn read<'a>(meta: &mut ByteReader<'a>, length_width: Width) -> Result<Vec<Entry<'a>>, FilterError> {
    let len = meta.u32("bytes of the dictionary")?;
    let mut rest = meta.bytes("dictionary", u64::from(len))?;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let Some(length) = length_width.take(&mut rest) else { return corrupt("the dictionary is truncated") };
        let entry = usize::try_from(length).ok().and_then(|length| Entry::at_start(rest, length));
        let Some(entry) = entry else { return corrupt("the parts are longer than the data") };
        rest = &rest[entry.len()..];
        entries.push(entry);
    }
    Ok(entries)
}

/// Appends the strings with the indices in `data`. An index has `WIDTH` bytes.
fn put<'a, const WIDTH: usize>(
    entries: &[Entry<'a>],
    data: &[u8],
    strings: &mut Strings<'_>,
) -> Result<(), FilterError> {
    let (numbers, rest) = data.as_chunks::<WIDTH>();
    if !rest.is_empty() {
        return corrupt("the last position is truncated");
    }
    strings.expect(numbers.len() as u64, FILTER)?;
    strings.push_each(numbers, FILTER, |number| {
        let number = number.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let entry = usize::try_from(number).ok().and_then(|number| entries.get(number));
        entry.copied().map_or_else(|| corrupt("a position is not in the dictionary"), Ok)
    })
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
    let entries = read(meta, header.length_width)?;
    match header.count_width {
        Width::One => put::<1>(&entries, data, strings),
        Width::Two => put::<2>(&entries, data, strings),
        Width::Four => put::<4>(&entries, data, strings),
        Width::Eight => put::<8>(&entries, data, strings),
    }
}

pub(crate) fn encode(cells: Cells<'_>, meta: &mut Metadata<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
    // The width depends on the number of cells, even if few strings are distinct.
    let count_width = Width::of(cells.len());
    let start = out.len();
    out.resize(start + cells.len() * count_width as usize, 0);
    let numbers = &mut out[start..];
    let entries = match count_width {
        Width::One => number::<1>(cells, numbers),
        Width::Two => number::<2>(cells, numbers),
        Width::Four => number::<4>(cells, numbers),
        Width::Eight => number::<8>(cells, numbers),
    };
    let longest = entries.iter().map(Entry::len).max().unwrap_or(0);
    let header = Header { count_width, length_width: Width::of(longest) };
    meta.clear();
    meta.add(|bytes| {
        header.write(bytes, cells, out.len() - start)?;
        let entry_bytes = |entry: &Entry<'_>| header.length_width as usize + entry.len();
        put_u32(bytes, "bytes of the dictionary", entries.iter().map(entry_bytes).sum())?;
        for entry in &entries {
            header.length_width.put(entry.len(), bytes);
            bytes.extend_from_slice(entry.string);
        }
        Ok(())
    })
}

/// Writes the index of each cell in `WIDTH` bytes, and returns the distinct strings in order.
fn number<'a, const WIDTH: usize>(cells: Cells<'a>, numbers: &mut [u8]) -> Vec<Entry<'a>> {
    let mut distinct = Distinct::default();
    for (to, cell) in numbers.as_chunks_mut::<WIDTH>().0.iter_mut().zip(cells.entries()) {
        let number = (distinct.number(cell) as u64).to_be_bytes();
        to.copy_from_slice(&number[8 - WIDTH..]);
    }
    distinct.entries
}
