//! Slices of the global order, for unordered fragments.
//!
//! Tiles of an unordered fragment may overlap. In the worst case, all tiles overlap. If the tiles
//! do not fit into memory together, the merge proceeds slice by slice. Each tile is unfiltered once
//! per slice that it intersects, and only the cells within the slice are kept. Sorting then takes
//! more time instead of more memory or temporary files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tdb_cells::order::key::Key;
use tdb_snapshot::ArrayError;

use super::input::{Input, Stop};
use super::slice::Slice;

/// Start keys of the slices, except for the first.
#[derive(Debug, Default)]
pub(super) struct Slices<K>(Vec<K>);

/// A tile of an unordered source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread<K> {
    pub(super) source: usize,
    pub(super) tile: u64,
    pub(super) low: K,
    high: K,
    memory: usize,
}

/// Maximum number of samples per tile and slice.
const SAMPLES: usize = 8;

impl<K: Key> Spread<K> {
    /// Returns `true` if the tile may have cells within the slice.
    pub(super) fn meets(&self, slice: Slice<K>) -> bool {
        slice.from <= self.high && slice.below.is_none_or(|below| self.low < below)
    }
}

impl<K: Key> Slices<K> {
    /// Chooses slices of about `input.memory` bytes, or of the size of the largest tile if that is
    /// larger. Chooses a single slice if overlapping tiles always fit into this memory.
    pub(super) fn of(input: &Input<'_>, tiles: &[Spread<K>]) -> Result<Self, Stop> {
        let largest = tiles.iter().map(|tile| tile.memory).max().unwrap_or(0);
        let most = input.memory.max(largest);
        if most_at_once(tiles) <= most {
            return Ok(Self(Vec::new()));
        }
        let samples = samples(input, tiles, most)?;
        let (mut starts, mut memory) = (Vec::new(), 0_usize);
        for (key, weight) in samples {
            if memory.saturating_add(weight) > most && starts.last().is_none_or(|last| *last < key) {
                starts.push(key);
                memory = 0;
            }
            memory = memory.saturating_add(weight);
        }
        Ok(Self(starts))
    }

    /// Returns the slice with this number, if it exists.
    pub(super) fn get(&self, number: usize) -> Option<Slice<K>> {
        let from = match number.checked_sub(1) {
            Some(before) => *self.0.get(before)?,
            None => K::default(),
        };
        Some(Slice { from, below: self.0.get(number).copied() })
    }
}

/// Returns the tiles of unordered sources.
pub(super) fn spreads<K: Key>(input: &Input<'_>) -> Result<Vec<Spread<K>>, ArrayError> {
    let mut tiles = Vec::new();
    for &index in input.unordered {
        let source = &input.sources[index];
        for tile in 0..source.tile_count() {
            let (low, high) = input.rules.order.ends::<K>(&source.bounds(tile)?.0);
            tiles.push(Spread { source: index, tile, low, high, memory: source.memory_of(tile) });
        }
    }
    Ok(tiles)
}

/// Returns the peak memory in bytes of a merge that keeps each tile in memory from its first key to
/// its last key.
fn most_at_once<K: Key>(tiles: &[Spread<K>]) -> usize {
    let mut by_low: Vec<&Spread<K>> = tiles.iter().collect();
    by_low.sort_unstable_by_key(|tile| tile.low);
    let mut open: BinaryHeap<Reverse<(K, usize)>> = BinaryHeap::new();
    let (mut memory, mut most) = (0_usize, 0);
    for tile in by_low {
        while let Some(Reverse((high, bytes))) = open.peek().copied()
            && high < tile.low
        {
            memory -= bytes;
            open.pop();
        }
        // The value is saturated here, so that the same value is subtracted later.
        let bytes = tile.memory.min(usize::MAX - memory);
        memory += bytes;
        open.push(Reverse((tile.high, bytes)));
        most = most.max(memory);
    }
    most
}

/// Returns sampled keys of the tiles in order. Each key has the size in bytes of the cells that it
/// represents.
fn samples<K: Key>(input: &Input<'_>, tiles: &[Spread<K>], most: usize) -> Result<Vec<(K, usize)>, Stop> {
    let whole = tiles.iter().fold(0_usize, |sum, tile| sum.saturating_add(tile.memory));
    let wanted = SAMPLES.saturating_mul(whole.div_ceil(most.max(1)));
    let room = input.memory / size_of::<(K, usize)>() / tiles.len().max(1);
    let wanted = wanted.min(room).max(1);
    let mut samples = Vec::new();
    for tile in tiles {
        input.array.workers().check()?;
        let columns = input.sources[tile.source].load(input.array, tile.tile, false)?;
        let mut keys = input.rules.order.keys::<K>(&columns.coordinates, columns.cells);
        keys.sort_unstable();
        let count = wanted.min(keys.len());
        // Sample the last key of each part.
        let at = |part: usize| (part + 1) * keys.len() / count - 1;
        samples.extend((0..count).map(|part| (keys[at(part)], tile.memory / count)));
    }
    samples.sort_unstable();
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(low: u64, high: u64, memory: usize) -> Spread<u64> {
        Spread { source: 0, tile: 0, low, high, memory }
    }

    #[test]
    fn peak_memory_counts_overlapping_tiles() {
        assert_eq!(most_at_once::<u64>(&[]), 0);
        assert_eq!(most_at_once(&[spread(0, 4, 10), spread(5, 9, 20), spread(10, 12, 5)]), 20);
        assert_eq!(most_at_once(&[spread(5, 9, 20), spread(0, 5, 10), spread(9, 12, 5)]), 30);
        assert_eq!(most_at_once(&[spread(0, 9, usize::MAX), spread(1, 2, 7), spread(3, 4, 7)]), usize::MAX);
    }

    #[test]
    fn slices_follow_each_other() {
        let slices = Slices(vec![10_u64, 20]);
        let all: Vec<_> = (0..).map_while(|number| slices.get(number)).collect();
        let ends: Vec<_> = all.iter().map(|slice| (slice.from, slice.below)).collect();
        assert_eq!(ends, [(0, Some(10)), (10, Some(20)), (20, None)]);
        for key in [0, 9, 10, 19, 20, u64::MAX] {
            assert_eq!(all.iter().filter(|slice| slice.contains(key)).count(), 1, "{key}");
        }
        let met = |low, high| all.iter().map(|slice| spread(low, high, 1).meets(*slice)).collect::<Vec<_>>();
        assert_eq!(met(3, 9), [true, false, false]);
        assert_eq!(met(9, 10), [true, true, false]);
        assert_eq!(met(20, 30), [false, false, true]);
        assert_eq!(Slices::<u64>::default().get(0), Some(Slice::all()));
    }
}
