//! What is wanted of a tile, chunk by chunk.

use std::borrow::Cow;
use std::ops::Range;

use super::copy::BoxCopy;

/// What of a tile is wanted, and where it goes. Places in the tile are bytes.
pub(super) trait Wanted {
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
pub(super) enum Share {
    /// Nothing.
    Nothing,
    /// All of it, in one row that begins at this byte of the result.
    Whole(usize),
    /// Something; these bytes of the tile, which lie in the chunk, hold it.
    Part(Range<u64>),
    /// A value begins in one chunk and ends in another: it takes the whole tile.
    Straddling,
}

/// Boxes of cells of fixed size.
#[derive(Debug)]
pub(super) struct Boxes<'a> {
    /// In the order of their first cells in the tile, in units.
    copies: Cow<'a, [BoxCopy]>,
    /// Bytes of a unit: 1, 2, 4 or 8.
    unit: usize,
    /// The first copy that begins behind the entered chunk.
    next: usize,
    /// The copies before it that don't end before what is to be taken next.
    active: Vec<usize>,
    /// What was taken ends before this unit.
    taken: u64,
    /// Whether single cells go to single places.
    scattered: bool,
}

/// Bytes that are scattered at once: a few rows of most tiles, so that a line of the result's memory gets several cells at
/// a time, and few enough to stay in the caches meanwhile.
const SCATTERED: usize = 128 << 10;

impl<'a> Boxes<'a> {
    /// `copies` in the order of their first cells, of cells of `cell_size` bytes.
    pub(super) fn new(copies: &'a [BoxCopy], cell_size: usize) -> Self {
        // Cells of other sizes are rows of the largest unit that divides them.
        let unit = 1 << cell_size.trailing_zeros().min(3);
        let copies = match cell_size / unit {
            1 => Cow::Borrowed(copies),
            units => copies.iter().map(|copy| copy.in_units(units)).collect(),
        };
        let scattered = copies.iter().any(BoxCopy::is_scattered);
        Self { copies, unit, next: 0, active: Vec::new(), taken: 0, scattered }
    }

    fn take_units<const N: usize>(&self, range: Range<u64>, bytes: &[u8], result: &mut [u8]) {
        let (cells, _) = bytes.as_chunks::<N>();
        let (result, _) = result.as_chunks_mut::<N>();
        for &index in &self.active {
            self.copies[index].parts_in(range.clone(), &mut |part| part.copy(range.start, cells, result));
        }
    }
}

impl Wanted for Boxes<'_> {
    fn bounds(&self) -> Range<u64> {
        let unit = self.unit as u64;
        let first = self.copies.first().map_or(0, |copy| copy.from);
        let end = self.copies.iter().map(|copy| copy.last() + 1).max().unwrap_or(0);
        first.saturating_mul(unit)..end.saturating_mul(unit)
    }

    fn amount(&self) -> u64 {
        self.copies.iter().map(|copy| (copy.cells() * self.unit) as u64).sum()
    }

    fn enter(&mut self, chunk: Range<u64>) -> Share {
        let unit = self.unit as u64;
        if !chunk.start.is_multiple_of(unit) || !chunk.end.is_multiple_of(unit) {
            return Share::Straddling;
        }
        let window = chunk.start / unit..chunk.end / unit;
        let Self { copies, next, active, taken, .. } = self;
        active.retain(|&index| copies[index].last() >= *taken);
        while let Some(copy) = copies.get(*next).filter(|copy| copy.from < window.end) {
            if copy.last() >= *taken {
                active.push(*next);
            }
            *next += 1;
        }
        let (mut parts, mut first, mut end, mut whole) = (0, u64::MAX, 0, None);
        for &index in &*active {
            copies[index].parts_in(window.clone(), &mut |part| {
                parts += 1;
                first = first.min(part.from);
                end = end.max(part.last() + 1);
                whole = part.as_run().filter(|len| *len as u64 == window.end - window.start).map(|_| part.to);
            });
        }
        if !self.scattered {
            self.taken = window.start;
        }
        match (parts, whole) {
            (0, _) => Share::Nothing,
            (1, Some(to)) => Share::Whole(to * self.unit),
            _ => Share::Part(first * unit..end * unit),
        }
    }

    fn take(&mut self, range: Range<u64>, bytes: &[u8], result: &mut [u8]) {
        let unit = self.unit as u64;
        let range = range.start / unit..range.end / unit;
        self.taken = range.end;
        match self.unit {
            1 => self.take_units::<1>(range, bytes, result),
            2 => self.take_units::<2>(range, bytes, result),
            4 => self.take_units::<4>(range, bytes, result),
            _ => self.take_units::<8>(range, bytes, result),
        }
    }

    fn stride(&self) -> usize {
        if self.scattered { SCATTERED } else { 0 }
    }

    fn restart(&mut self) {
        (self.next, self.taken) = (0, 0);
        self.active.clear();
    }
}

/// A row of bytes of cells of variable length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Its first byte in the tile.
    pub(super) from: u64,
    /// How many bytes it has.
    pub(super) len: u64,
    /// Where it goes.
    pub(super) to: usize,
}

/// Rows of bytes of cells of variable length.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    /// In the order in which they begin in the tile; none is empty.
    runs: &'a [Run],
    /// The first run that begins behind the entered chunk.
    next: usize,
    /// The first run that begins in the entered chunk.
    begin: usize,
    /// The runs before that one that reach into the entered chunk.
    reaching: Vec<usize>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(runs: &'a [Run]) -> Self {
        Self { runs, next: 0, begin: 0, reaching: Vec::new() }
    }

    fn inside(&self) -> impl Iterator<Item = &'a Run> {
        let runs = self.runs;
        self.reaching.iter().map(|&index| &runs[index]).chain(&runs[self.begin..self.next])
    }
}

impl Wanted for Runs<'_> {
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
