//! Shards: files with several chunks, and an index of their positions.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tdb_array::tdb_types::saturating_len;

use crate::cells::Cells;
use crate::codecs::Sharding;
use crate::coder::Coder;
use crate::element::Form;
use crate::error::{Error, Result};
use crate::files;

/// Maximum number of cached indices. At least one index is cached, whatever its size.
const KEPT_SHARDS: u64 = 16;
/// Maximum number of chunks in the cached indices, with 16 bytes each.
const KEPT_CHUNKS: u64 = 1 << 20;
/// Index entry of a missing chunk, as start and as length.
const ABSENT: u64 = u64::MAX;
/// Bytes of an index entry.
const ENTRY: usize = 16;

/// Layout of the shards of an array.
pub(crate) struct Shards {
    /// Number of chunks per shard along each dimension.
    shape: Vec<u64>,
    index: Coder,
    index_len: u64,
    is_at_start: bool,
    kept: Mutex<HashMap<Vec<u64>, Arc<Index>>>,
    most_kept: usize,
}

/// Ranges of the chunks in a shard's file. `None` for missing chunks.
struct Index(Vec<Option<Range<u64>>>);

impl Shards {
    /// Prepares the index codecs. `shape` is the number of chunks per shard along each dimension.
    ///
    /// # Errors
    /// An index codec is unknown.
    pub(crate) fn new(path: &Path, sharding: &Sharding, shape: Vec<u64>) -> Result<Self> {
        let of_index: Vec<u64> = shape.iter().copied().chain([2]).collect();
        let index = Coder::new(path, &of_index, Form::Unsigned(8), &ABSENT.to_le_bytes(), &sharding.index_codecs)?;
        let no_length = || Error::metadata(path, "the shard index has no fixed length");
        let index_len = index.packed_len().ok_or_else(no_length)?;
        let chunks = shape.iter().product::<u64>().max(1);
        Ok(Self {
            shape,
            index,
            index_len,
            is_at_start: sharding.is_at_start,
            kept: Mutex::default(),
            most_kept: saturating_len((KEPT_CHUNKS / chunks).clamp(1, KEPT_SHARDS)),
        })
    }

    /// Returns the shard of a chunk, and the chunk's index within the shard.
    pub(crate) fn shard_of(&self, chunk: &[u64]) -> (Vec<u64>, usize) {
        let shard = chunk.iter().zip(&self.shape).map(|(number, len)| number / len).collect();
        let places = chunk.iter().zip(&self.shape);
        let within = places.fold(0, |within, (number, len)| within * len + number % len);
        (shard, saturating_len(within))
    }

    /// Reads chunk number `within` of a shard in the file `path`. Returns `None` if the file or the
    /// chunk does not exist.
    ///
    /// # Errors
    /// Returns the reason, for example that the index places any chunk beyond the end of the file.
    pub(crate) fn read(
        &self,
        path: &Path,
        (shard, within): (&[u64], usize),
        limit: u64,
    ) -> Result<Option<Vec<u8>>, String> {
        let Some(index) = self.kept_index(path, shard)? else { return Ok(None) };
        let Some(Some(place)) = index.0.get(within) else { return Ok(None) };
        let read = files::read_part(path, place.clone(), limit).map_err(|error| error.to_string())?;
        read.map(Some).ok_or_else(|| "the file is gone".to_owned())
    }

    /// Calls `each` for the existing chunks of a shard, with their indices in the array.
    ///
    /// # Errors
    /// The index is unreadable, or `each` fails.
    pub(crate) fn each_chunk<E>(
        &self,
        path: &Path,
        shard: &[u64],
        mut each: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<Result<(), E>, String> {
        let Some(index) = self.read_index(path)? else { return Ok(Ok(())) };
        let first: Vec<u64> = shard.iter().zip(&self.shape).map(|(number, len)| number * len).collect();
        let mut within = vec![0; first.len()];
        for place in &index.0 {
            // The last shard may extend beyond the end of the array, up to the maximum index.
            let chunk: Vec<u64> = first.iter().zip(&within).map(|(at, within)| at.saturating_add(*within)).collect();
            if place.is_some()
                && let Err(error) = each(&chunk)
            {
                return Ok(Err(error));
            }
            // Advances in row-major order.
            for (within, len) in within.iter_mut().zip(&self.shape).rev() {
                *within += 1;
                if *within < *len {
                    break;
                }
                *within = 0;
            }
        }
        Ok(Ok(()))
    }

    fn kept_index(&self, path: &Path, shard: &[u64]) -> Result<Option<Arc<Index>>, String> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = kept().get(shard) {
            return Ok(Some(Arc::clone(index)));
        }
        let Some(index) = self.read_index(path)?.map(Arc::new) else { return Ok(None) };
        let mut kept = kept();
        if kept.len() >= self.most_kept {
            kept.clear();
        }
        kept.insert(shard.to_vec(), Arc::clone(&index));
        Ok(Some(index))
    }

    fn read_index(&self, path: &Path) -> Result<Option<Index>, String> {
        let Some((_, size)) = files::open(path).map_err(|error| error.to_string())? else { return Ok(None) };
        let cut = || format!("{size} bytes are too few for the index of {} bytes", self.index_len);
        let start = if self.is_at_start { 0 } else { size.checked_sub(self.index_len).ok_or_else(cut)? };
        let end = Some(start + self.index_len).filter(|end| *end <= size).ok_or_else(cut)?;
        let packed = files::read_part(path, start..end, self.index_len).map_err(|error| error.to_string())?;
        let cells =
            self.index.decode(packed.ok_or("the file is gone")?).map_err(|why| format!("invalid index: {why}"))?;
        Index::of(&cells, size).map(Some)
    }
}

impl Index {
    /// Parses an index. Checks that each chunk is within the file.
    fn of(cells: &Cells, size: u64) -> Result<Self, String> {
        let (entries, _) = cells.values.as_chunks::<ENTRY>();
        let place = |(number, entry): (usize, &[u8; ENTRY])| {
            let (words, _) = entry.as_chunks::<8>();
            let (start, len) = (u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1]));
            if (start, len) == (ABSENT, ABSENT) {
                return Ok(None);
            }
            let end = start.checked_add(len).filter(|end| *end <= size);
            let outside = || {
                format!(
                    "invalid index: chunk {number} at offset {start} with {len} bytes is outside of the file of {size} bytes"
                )
            };
            end.map(|end| Some(start..end)).ok_or_else(outside)
        };
        entries.iter().enumerate().map(place).collect::<Result<_, _>>().map(Self)
    }
}
