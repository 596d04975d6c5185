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

pub(crate) fn decode(
    header: &Header,
    meta: &mut ByteReader<'_>,
    mut data: &[u8],
    strings: &mut Strings<'_>,
) -> Result<(), FilterError> {
    let corrupt = |what| FilterError::Corrupt { filter: FILTER, what };
    let len = meta.u32("bytes of the dictionary")?;
    let mut bytes = meta.bytes("dictionary", u64::from(len))?;
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let length = header.length_width.take(&mut bytes).ok_or_else(|| corrupt("the dictionary is cut off"))?;
        entries.push(split(&mut bytes, FILTER, length)?);
    }
    while !data.is_empty() {
        let number = header.count_width.take(&mut data).ok_or_else(|| corrupt("the last number is cut off"))?;
        let entry = usize::try_from(number).ok().and_then(|number| entries.get(number));
        let entry = entry.ok_or_else(|| corrupt("a number is not in the dictionary"))?;
        strings.push(entry, 1, FILTER)?;
    }
    Ok(())
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
