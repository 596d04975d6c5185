//! Requests for boxes of fixed-size cells.

use std::borrow::Cow;
use std::ops::Range;

use tdb_snapshot::tiles::{Share, Wanted};

use crate::copy::BoxCopy;

/// Boxes of fixed-size cells to copy from a tile.
#[derive(Debug)]
pub(super) struct Boxes<'a> {
    /// Sorted by first cell in the tile. Lengths are in units.
    copies: Cow<'a, [BoxCopy]>,
    /// Bytes per unit: 1, 2, 4 or 8.
    unit: usize,
    /// Index of the first copy that begins after the entered chunk.
    next: usize,
    /// Earlier copies extending beyond the cells taken so far.
    active: Vec<usize>,
    /// End of the cells taken so far, in units.
    taken: u64,
    /// `true` if consecutive cells of the tile go to separate places.
    scattered: bool,
}

/// Bytes to scatter at once. Covers a few rows of most tiles. A cache line of the result then
/// receives several cells. Small enough to stay in the caches.
const SCATTERED: usize = 128 << 10;

impl<'a> Boxes<'a> {
    /// Creates the request. `copies` must be sorted by first cell. `cell_size` is in bytes.
    pub(super) fn new(copies: &'a [BoxCopy], cell_size: usize) -> Self {
        // Cells of another size become rows of the largest unit that divides the size.
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
