//! Coordinate bounds of blocks of cells within tiles.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tdb_types::{PhysicalType, ordered_keys};

/// The number of cells in a block. Small enough that a block in global order covers a small part of
/// the domain. Large enough that the bounds of 8-byte coordinates take only a five-hundredth of the
/// memory of the coordinates.
pub const BLOCK: usize = 1024;

/// The bounds of an unexamined block.
const UNKNOWN: (u64, u64) = (0, u64::MAX);

/// The remaining capacity of an open array for block bounds: the number of blocks, summed over
/// dimensions. Clones share the count.
#[derive(Clone, Debug)]
pub struct BlockRoom(Arc<AtomicUsize>);

impl Default for BlockRoom {
    fn default() -> Self {
        /// 2 MiB of bounds, plus about as much overhead for small tiles.
        const BLOCKS: usize = (2 << 20) / size_of::<(u64, u64)>();
        Self(Arc::new(AtomicUsize::new(BLOCKS)))
    }
}

impl BlockRoom {
    fn has(&self, blocks: usize) -> bool {
        self.0.load(Ordering::Relaxed) >= blocks
    }

    fn take(&self, blocks: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(blocks)).is_ok()
    }
}

/// The minimum and maximum key of each block of a tile.
type TileBounds = Arc<[(u64, u64)]>;

/// The minimum and maximum coordinate of blocks of a dimension's tiles, as ordered keys.
///
/// Bounds are computed only from fully unfiltered blocks. Stored cell order is never trusted.
#[derive(Debug, Default)]
pub struct BlockBounds {
    room: BlockRoom,
    tiles: Mutex<HashMap<u64, TileBounds>>,
}

impl BlockBounds {
    pub(crate) fn new(room: BlockRoom) -> Self {
        Self { room, tiles: Mutex::default() }
    }

    /// Returns the bounds of each block of a tile, if any block is known. Unknown blocks cover all
    /// keys.
    pub fn of(&self, tile: u64) -> Option<TileBounds> {
        self.tiles.lock().unwrap_or_else(PoisonError::into_inner).get(&tile).cloned()
    }

    /// Computes the bounds of the unknown blocks within `runs` of a tile with `cells` cells. Values
    /// in these runs must be unfiltered. `keys` is reusable memory.
    pub fn learn(
        &self,
        (tile, cells): (u64, usize),
        runs: &[Range<usize>],
        (physical, values): (PhysicalType, &[u8]),
        keys: &mut Vec<u64>,
    ) {
        let (known, count) = (self.of(tile), cells.div_ceil(BLOCK));
        let is_unknown = |block: &usize| known.as_ref().is_none_or(|known| known.get(*block) == Some(&UNKNOWN));
        let whole =
            |run: &Range<usize>| run.start.div_ceil(BLOCK)..if run.end == cells { count } else { run.end / BLOCK };
        let new: Vec<usize> = runs.iter().flat_map(whole).filter(is_unknown).collect();
        if new.is_empty() || known.is_none() && !self.room.has(count) {
            return;
        }
        let mut bounds = known.as_ref().map_or_else(|| vec![UNKNOWN; count], |known| known.to_vec());
        for block in new {
            let cells = block * BLOCK..cells.min((block + 1) * BLOCK);
            keys.clear();
            ordered_keys(physical, &values[cells.start * physical.size()..cells.end * physical.size()], keys);
            bounds[block] = keys.iter().fold((u64::MAX, 0), |(low, high), key| (low.min(*key), high.max(*key)));
        }
        // The last of two concurrent results stays. Missing bounds are computed again.
        let mut tiles = self.tiles.lock().unwrap_or_else(PoisonError::into_inner);
        if tiles.contains_key(&tile) || self.room.take(count) {
            tiles.insert(tile, bounds.into());
        }
    }
}
