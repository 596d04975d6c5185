//! The wanted bytes of a tile, chunk by chunk.

use std::ops::Range;

/// The wanted bytes of a tile, with destinations. Positions in the tile are in bytes.
pub trait Wanted {
    /// Returns the range from the first to the last wanted byte.
    fn bounds(&self) -> Range<u64>;

    /// Returns the approximate number of wanted bytes in [`bounds`](Self::bounds).
    fn amount(&self) -> u64;

    /// Advances to the next chunk of the tile. Returns the wanted share of the chunk.
    fn enter(&mut self, chunk: Range<u64>) -> Share;

    /// Copies the wanted bytes out of `range` of the tile. `bytes` begins with the contents of
    /// `range`. The range covers the chunk entered last, or all chunks since the last call.
    fn take(&mut self, range: Range<u64>, bytes: &[u8], result: &mut [u8]);

    /// Returns the preferred number of bytes per call of [`take`](Self::take). 0 means chunk by
    /// chunk.
    fn stride(&self) -> usize {
        0
    }

    /// Returns to the position before the first chunk.
    fn restart(&mut self);
}

/// The wanted share of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// No byte is wanted.
    Nothing,
    /// All bytes are wanted, as a single run that starts at this position of the result.
    Whole(usize),
    /// The wanted bytes are within this range of the tile, part of the chunk.
    Part(Range<u64>),
    /// A value straddles two chunks, and the whole tile is needed.
    Straddling,
}

/// Bytes consecutive both in a tile and in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRun {
    /// The position of the first byte in the tile.
    pub from: u64,
    /// The number of bytes.
    pub len: u64,
    /// The position of the first byte in the result.
    pub to: usize,
}

/// Runs of bytes to copy out of a tile.
#[derive(Debug)]
pub struct ByteRuns<'a> {
    /// Non-empty runs, sorted by start in the tile.
    runs: &'a [ByteRun],
    /// The first run starting after the entered chunk.
    next: usize,
    /// The first run starting in the entered chunk.
    begin: usize,
    /// Earlier runs extending into the entered chunk.
    reaching: Vec<usize>,
}

impl<'a> ByteRuns<'a> {
    /// Creates the request. `runs` must be sorted by start in the tile.
    pub fn new(runs: &'a [ByteRun]) -> Self {
        Self { runs, next: 0, begin: 0, reaching: Vec::new() }
    }

    fn inside(&self) -> impl Iterator<Item = &'a ByteRun> {
        let runs = self.runs;
        self.reaching.iter().map(|&index| &runs[index]).chain(&runs[self.begin..self.next])
    }
}

impl Wanted for ByteRuns<'_> {
    fn bounds(&self) -> Range<u64> {
        let first = self.runs.first().map_or(0, |run| run.from);
        first..self.runs.iter().map(|run| run.from + run.len).max().unwrap_or(0)
    }

    fn amount(&self) -> u64 {
        self.runs.iter().map(|run| run.len).fold(0, u64::saturating_add)
    }

    fn enter(&mut self, chunk: Range<u64>) -> Share {
        let runs = self.runs;
        let reaches = |index: &usize| runs[*index].from + runs[*index].len > chunk.start;
        self.reaching.retain(reaches);
        self.reaching.extend((self.begin..self.next).filter(reaches));
        self.begin = self.next;
        let behind = self.runs[self.next..].iter().take_while(|run| run.from < chunk.end).count();
        self.next += behind;
        match (&self.reaching[..], self.next - self.begin) {
            ([], 0) => Share::Nothing,
            (&[index], 0) if chunk.end <= runs[index].from + runs[index].len => {
                Share::Whole(runs[index].to + (chunk.start - runs[index].from) as usize)
            }
            ([], 1) if runs[self.begin].from == chunk.start && chunk.end - chunk.start <= runs[self.begin].len => {
                Share::Whole(runs[self.begin].to)
            }
            ([], _) => Share::Part(runs[self.begin].from..chunk.end),
            _ => Share::Part(chunk),
        }
    }

    fn take(&mut self, range: Range<u64>, bytes: &[u8], result: &mut [u8]) {
        for run in self.inside() {
            let from = run.from.max(range.start);
            let end = (run.from + run.len).min(range.end);
            let (len, to) = ((end - from) as usize, run.to + (from - run.from) as usize);
            let bytes = &bytes[(from - range.start) as usize..][..len];
            result[to..][..len].copy_from_slice(bytes);
        }
    }

    fn restart(&mut self) {
        (self.next, self.begin) = (0, 0);
        self.reaching.clear();
    }
}
