//! What is known of parts of tiles.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tdb_types::{PhysicalType, ordered_keys};

/// Cells of a block: few enough that a block in global order lies in a small box, many enough that what is known of it takes a
/// five-hundredth of its coordinates.
pub const BLOCK: usize = 1024;

/// The least and greatest key of a block that nobody has looked at.
const UNKNOWN: (u64, u64) = (0, u64::MAX);

/// How many more blocks of an open array may be known: of each of its dimensions. Clones share it.
#[derive(Clone, Debug)]
pub struct BlockRoom(Arc<AtomicUsize>);

impl Default for BlockRoom {
    fn default() -> Self {
        /// Two MiB of them, and about as much for what holds those of small tiles.
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

/// The least and greatest key of each block of a tile.
type TileBounds = Arc<[(u64, u64)]>;

/// For blocks of the tiles of one dimension of a fragment the least and greatest coordinate, as ordered keys.
///
/// Nothing is believed of the order of cells: what is known of a block was found when all of it was unfiltered.
#[derive(Debug, Default)]
pub struct BlockBounds {
    room: BlockRoom,
    tiles: Mutex<HashMap<u64, TileBounds>>,
}

impl BlockBounds {
    pub(crate) fn new(room: BlockRoom) -> Self {
        Self { room, tiles: Mutex::default() }
    }

    /// The least and greatest key of each block of a tile, if any of them is known. Those of others include all keys.
    pub fn of(&self, tile: u64) -> Option<TileBounds> {
        self.tiles.lock().unwrap_or_else(PoisonError::into_inner).get(&tile).cloned()
    }

    /// Looks at the blocks of a tile of `cells` cells that lie within `runs`, whose values were unfiltered. `keys` is memory to be
    /// used on the way.
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
        // Of two threads that look at a tile the last one's findings stay; what they lack is found once again.
        let mut tiles = self.tiles.lock().unwrap_or_else(PoisonError::into_inner);
        if tiles.contains_key(&tile) || self.room.take(count) {
            tiles.insert(tile, bounds.into());
        }
    }
}
