//! The progress of a single query.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use tdb_storage::CancelToken;

use super::Monitor;
use crate::Cancelled;

/// A monitored query, with its plan and the planned tiles already read.
#[derive(Debug)]
pub struct Watch {
    monitor: Monitor,
    tally: Mutex<Tally>,
}

/// Planned and finished work.
#[derive(Debug, Default)]
struct Tally {
    /// The tiles read, by fragment.
    fragments: Vec<Bits>,
    /// The planned and finished reads, by path of the data file.
    files: HashMap<String, FileTally>,
    tiles_left: u64,
    bytes_left: u64,
}

#[derive(Debug)]
struct FileTally {
    /// The index of the fragment.
    fragment: usize,
    /// The planned byte ranges, ascending and disjoint.
    ranges: Vec<Range<u64>>,
    /// The tiles read.
    seen: Bits,
}

/// A set of small numbers.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Watch {
    /// Creates the watch of a query without planned work.
    pub fn new(monitor: &Monitor) -> Self {
        Self { monitor: monitor.clone(), tally: Mutex::default() }
    }

    /// Returns an error after cancellation.
    ///
    /// # Errors
    /// The query was cancelled.
    #[inline]
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// Returns `true` after cancellation of the query.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.monitor.is_cancelled()
    }

    /// Returns the cancellation token of the monitor.
    pub fn cancel_token(&self) -> &CancelToken {
        self.monitor.cancel_token()
    }

    /// Returns `true` if the monitor needs a plan to report progress.
    pub fn wants_plan(&self) -> bool {
        self.monitor.has_progress()
    }

    /// Adds the planned work of a fragment: the number of tiles, and the ascending byte ranges of
    /// each data file.
    pub fn plan(&self, tiles: u64, files: impl IntoIterator<Item = (String, Vec<Range<u64>>)>) {
        let Ok(mut tally) = self.tally.lock() else { return };
        let fragment = tally.fragments.len();
        tally.fragments.push(Bits::default());
        let mut bytes = 0_u64;
        for (file, ranges) in files {
            bytes = ranges.iter().map(|range| range.end - range.start).fold(bytes, u64::saturating_add);
            tally.files.insert(file, FileTally { fragment, ranges, seen: Bits::default() });
        }
        tally.tiles_left += tiles;
        tally.bytes_left = tally.bytes_left.saturating_add(bytes);
        self.monitor.plan(tiles, bytes);
    }

    /// Records the read of a tile in this range of a data file. Ignores repeated reads, and ranges
    /// that are not planned.
    pub fn read(&self, file: &str, tile: u64, range: &Range<u64>) {
        if !self.wants_plan() {
            return;
        }
        let Ok(mut tally) = self.tally.lock() else { return };
        let Tally { fragments, files, tiles_left, bytes_left } = &mut *tally;
        let Some(file) = files.get_mut(file).filter(|file| file.plans(range)) else { return };
        if !file.seen.insert(tile) {
            return;
        }
        let is_new = fragments.get_mut(file.fragment).is_some_and(|fragment| fragment.insert(tile));
        let (tiles, bytes) = (u64::from(is_new).min(*tiles_left), (range.end - range.start).min(*bytes_left));
        *tiles_left -= tiles;
        *bytes_left -= bytes;
        self.monitor.advance(tiles, bytes);
    }

    /// Records the end of the query. The rest of the plan counts as unneeded.
    pub fn finish(&self) {
        let Ok(mut tally) = self.tally.lock() else { return };
        let Tally { tiles_left, bytes_left, .. } = std::mem::take(&mut *tally);
        self.monitor.spare(tiles_left, bytes_left);
    }
}

impl FileTally {
    /// Returns `true` if the range is within a planned range.
    fn plans(&self, range: &Range<u64>) -> bool {
        let behind = self.ranges.partition_point(|planned| planned.start <= range.start);
        self.ranges[..behind].last().is_some_and(|planned| range.end <= planned.end)
    }
}

impl Bits {
    /// Adds a number. Returns `true` if the number is new.
    fn insert(&mut self, number: u64) -> bool {
        let Ok(word) = usize::try_from(number / 64) else { return false };
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let bit = 1 << (number % 64);
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_tiles_count_once() {
        let monitor = Monitor::new();
        let watch = Watch::new(&monitor);
        watch.plan(2, [("a".to_owned(), vec![0..10, 20..30]), ("b".to_owned(), vec![5..6, 7..8])]);
        let done = || (monitor.progress().tiles, monitor.progress().bytes);
        for (file, tile, range, expected) in [
            ("a", 1, 10..20, (0, 0)), // not planned
            ("c", 0, 0..10, (0, 0)),  // not planned either
            ("a", 0, 0..10, (1, 10)),
            ("a", 0, 0..10, (1, 10)), // again
            ("b", 0, 5..6, (1, 11)),  // the same tile, another field
            ("a", 2, 20..25, (2, 16)),
        ] {
            watch.read(file, tile, &range);
            assert_eq!(done(), expected, "tile {tile} of {file}");
        }
        watch.finish();
        watch.finish();
        let progress = monitor.progress();
        assert_eq!((progress.tiles, progress.planned_tiles), (2, 2));
        assert_eq!((progress.bytes, progress.planned_bytes), (22, 22));
        assert_eq!((progress.unneeded_tiles, progress.unneeded_bytes), (0, 6));
    }
}
