//! What is wanted of a tile, chunk by chunk.

use std::ops::Range;

/// What of a tile is wanted, and where it goes. Places in the tile are bytes.
pub trait Wanted {
    /// From the first to the last byte that is wanted.
    fn bounds(&self) -> Range<u64>;

    /// About how many bytes of [`bounds`](Self::bounds) are wanted.
    fn amount(&self) -> u64;

    /// Moves on to a chunk, which begins where the last one ended, and says what of it is wanted.
    fn enter(&mut self, chunk: Range<u64>) -> Share;

    /// Takes what is wanted of the tile's bytes `range`, which `bytes` begin with: of the chunk that was entered last, or
    /// of all since the last that something was taken of.
    fn take(&mut self, range: Range<u64>, bytes: &[u8], result: &mut [u8]);

    /// How many bytes of a tile are best taken at once; 0 if chunk by chunk is as good.
    fn stride(&self) -> usize {
        0
    }

    /// Moves back to before the first chunk.
    fn restart(&mut self);
}

/// What of a chunk is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nothing.
    Nothing,
    /// All of it, in one row that begins at this byte of the result.
    Whole(usize),
    /// Something; these bytes of the tile, which lie in the chunk, hold it.
    Part(Range<u64>),
    /// A value begins in one chunk and ends in another: it takes the whole tile.
    Straddling,
}

/// Consecutive bytes of a tile that are consecutive in the result as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRun {
    /// The first byte in the tile.
    pub from: u64,
    /// How many bytes.
    pub len: u64,
    /// Where they go.
    pub to: usize,
}

/// Runs of bytes.
#[derive(Debug)]
pub struct ByteRuns<'a> {
    /// In the order in which they begin in the tile; none is empty.
    runs: &'a [ByteRun],
    /// The first run that begins behind the entered chunk.
    next: usize,
    /// The first run that begins in the entered chunk.
    begin: usize,
    /// The runs before that one that reach into the entered chunk.
    reaching: Vec<usize>,
}

impl<'a> ByteRuns<'a> {
    /// Runs of bytes in the order in which they begin.
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
