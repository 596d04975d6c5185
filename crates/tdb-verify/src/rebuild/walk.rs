//! Offsets of the tiles in a data file. They follow from the chunk headers, without unfiltering.

use tdb_array::tdb_filters::ChunkHeader;
use tdb_storage::{ReadAt, StorageError};

/// Maximum number of tiles per file, to bound memory.
const MOST_TILES: usize = 1 << 24;

/// Sizes of a stored tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    /// Size in the file, in bytes.
    pub(super) stored: u64,
    /// Size before filtering, in bytes.
    pub(super) unfiltered: u64,
}

/// The first incomplete tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) offset: u64,
    pub(super) what: &'static str,
}

/// Returns the sizes of the tiles of a file, up to the first incomplete tile, and a description of
/// the incomplete tile.
pub(super) fn walk(file: &dyn ReadAt) -> Result<(Vec<Stored>, Option<Cut>), StorageError> {
    let (mut tiles, mut offset) = (Vec::new(), 0);
    while offset < file.size() {
        let what = match tile(file, offset)? {
            Ok(_) if tiles.len() == MOST_TILES => "the file has too many tiles",
            Ok(stored) => {
                tiles.push(stored);
                offset += stored.stored;
                continue;
            }
            Err(what) => what,
        };
        return Ok((tiles, Some(Cut { offset, what })));
    }
    Ok((tiles, None))
}

/// Reads the chunk headers of the tile at an offset. Returns the problem if the tile is incomplete.
fn tile(file: &dyn ReadAt, offset: u64) -> Result<Result<Stored, &'static str>, StorageError> {
    const ENDS: &str = "the file ends within the tile";
    let size = file.size();
    let mut place = offset.saturating_add(ChunkHeader::COUNT_LEN as u64);
    if place > size {
        return Ok(Err(ENDS));
    }
    let mut count = [0; ChunkHeader::COUNT_LEN];
    file.read_into(offset, &mut count)?;
    let count = u64::from_le_bytes(count);
    if count > (size - place) / ChunkHeader::LEN as u64 {
        return Ok(Err("the tile has more chunks than the remaining bytes can contain"));
    }
    let mut unfiltered = 0u64;
    for _ in 0..count {
        let data = place.saturating_add(ChunkHeader::LEN as u64);
        if data > size {
            return Ok(Err(ENDS));
        }
        let mut header = [0; ChunkHeader::LEN];
        file.read_into(place, &mut header)?;
        let header = ChunkHeader::parse(&header);
        place = data.saturating_add(header.payload());
        unfiltered = unfiltered.saturating_add(u64::from(header.original));
        if place > size {
            return Ok(Err(ENDS));
        }
    }
    Ok(Ok(Stored { stored: place - offset, unfiltered }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_storage::{MemoryStorage, Storage};

    use super::*;

    fn walked(bytes: &[u8]) -> (Vec<Stored>, Option<Cut>) {
        let storage = MemoryStorage::new();
        storage.insert("f", bytes.to_vec()).unwrap();
        walk(&*storage.open("f").unwrap()).unwrap()
    }

    fn one(chunks: &[&[u8]]) -> Vec<u8> {
        let mut bytes = (chunks.len() as u64).to_le_bytes().to_vec();
        for chunk in chunks {
            let len = u32::try_from(chunk.len()).unwrap();
            bytes.extend(ChunkHeader { original: 2 * len, filtered: len, metadata: 0 }.to_bytes());
            bytes.extend(*chunk);
        }
        bytes
    }

    #[test]
    fn tiles_are_found_up_to_a_cut() {
        let file = [one(&[b"abc", b"de"]), one(&[]), one(&[b"f"])].concat();
        let expected = [(37, 10), (8, 0), (21, 2)].map(|(stored, unfiltered)| Stored { stored, unfiltered });
        assert_eq!(walked(&file), (expected.to_vec(), None));
        for end in 0..file.len() {
            let (tiles, cut) = walked(&file[..end]);
            let whole = [37, 45, 66].iter().filter(|place| **place <= end).count();
            assert_eq!((tiles.len(), cut.is_none()), (whole, [0, 37, 45].contains(&end)), "{end}");
        }
        assert!(walked(&[0xff; 100]).1.is_some());
    }

    /// The walk ends within the file for any bytes.
    #[test]
    fn any_bytes() {
        let mut random = tdb_testkit::hostile::SplitMix64::new(5);
        for round in 0..20_000 {
            let mut file = [one(&[b"abc", b"de"]), one(&[]), one(&[b"f"])].concat();
            for _ in 0..=round % 4 {
                let place = random.below(file.len());
                file[place] = u8::try_from(random.below(256)).unwrap();
            }
            let (tiles, cut) = walked(&file);
            let sum: u64 = tiles.iter().map(|tile| tile.stored).sum();
            assert_eq!(sum, cut.map_or(file.len() as u64, |cut| cut.offset));
        }
    }
}
