//! Copies of boxes of cells from a tile to a result.

use std::ops::Range;

use tdb_types::saturating_len;

/// A box of cells of one tile, and its destination.
///
/// Tiles and results are both linear sequences of cells. A box is a nest of loops over both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoxCopy {
    /// Offset of the first cell in the tile.
    pub(super) from: u64,
    /// Offset of the first cell in the result.
    pub(super) to: usize,
    /// The loops, slowest in the tile first. Every loop has at least two rounds, and adjacent loops
    /// cannot be merged.
    strides: Vec<Stride>,
}

/// A loop of a [`BoxCopy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride {
    /// Number of rounds.
    pub(super) len: usize,
    /// Step in the tile. At least as large as the span of all inner loops.
    pub(super) from: u64,
    /// Step in the result.
    pub(super) to: usize,
}

/// A part of a [`BoxCopy`] that is itself a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) from: u64,
    pub(super) to: usize,
    /// The slowest loop if the part covers only some of its rounds.
    first: Option<Stride>,
    rest: &'a [Stride],
}

impl BoxCopy {
    /// Creates a box from loops, and merges adjacent loops. `strides` lists the loops, slowest in
    /// the tile first.
    pub(super) fn new(from: u64, to: usize, strides: impl IntoIterator<Item = Stride>) -> Self {
        let mut merged: Vec<Stride> = Vec::new();
        for stride in strides {
            match merged.last_mut() {
                _ if stride.len == 1 => {}
                Some(slower) if slower.goes_on(stride) => {
                    *slower = Stride { len: slower.len * stride.len, ..stride };
                }
                _ => merged.push(stride),
            }
        }
        Self { from, to, strides: merged }
    }

    /// Returns the same box at another offset in the tile.
    pub(super) fn starting_at(self, from: u64) -> Self {
        Self { from, ..self }
    }

    /// Creates a box of `len` cells that are consecutive in both the tile and the result.
    pub(super) fn run(from: u64, to: usize, len: usize) -> Self {
        Self::new(from, to, [Stride { len, from: 1, to: 1 }])
    }

    /// Converts the box to units. A cell consists of `units` units.
    pub(super) fn in_units(&self, units: usize) -> Self {
        let scale = |stride: &Stride| Stride {
            len: stride.len,
            from: stride.from.saturating_mul(units as u64),
            to: stride.to * units,
        };
        let cell = Stride { len: units, from: 1, to: 1 };
        let from = self.from.saturating_mul(units as u64);
        Self::new(from, self.to * units, self.strides.iter().map(scale).chain([cell]))
    }

    /// Returns the offset of the last cell in the tile.
    pub(super) fn last(&self) -> u64 {
        self.from + span(&self.strides)
    }

    /// Returns the number of cells.
    pub(super) fn cells(&self) -> usize {
        self.strides.iter().map(|stride| stride.len).product()
    }

    /// Returns `true` if consecutive cells of the tile go to separate places.
    pub(super) fn is_scattered(&self) -> bool {
        self.strides.len() > 1 && self.strides.last().is_some_and(|row| row.to != 1)
    }

    /// Cuts the part of the box inside `window`, a range of cells of the tile, into boxes. Yields
    /// at most two boxes per loop.
    pub(super) fn parts_in<'a>(&'a self, window: Range<u64>, each: &mut impl FnMut(Part<'a>)) {
        if !window.is_empty() {
            parts_in(self.from, self.to, &self.strides, &window, each);
        }
    }

    /// Calls `each` for every run of cells that is consecutive in both tile and result, in tile
    /// order. The arguments are the offset in the tile, the offset in the result, and the length.
    pub(super) fn runs(&self, mut each: impl FnMut(u64, usize, usize)) {
        match self.strides.split_last() {
            Some((Stride { len, from: 1, to: 1 }, outer)) => runs(self.from, self.to, outer, *len, &mut each),
            _ => runs(self.from, self.to, &self.strides, 1, &mut each),
        }
    }
}

impl Stride {
    /// Returns `true` if a loop inside this one continues seamlessly into the next round, in tile
    /// and result.
    fn goes_on(self, inner: Self) -> bool {
        let moves = |step: Option<u64>, outer: u64| step == Some(outer);
        moves(inner.from.checked_mul(inner.len as u64), self.from) && inner.to.checked_mul(inner.len) == Some(self.to)
    }
}

impl<'a> Part<'a> {
    /// Returns the number of cells if the cells are consecutive in both tile and result.
    pub(super) fn as_run(&self) -> Option<usize> {
        match (self.first, self.rest) {
            (None, []) => Some(1),
            (Some(Stride { len, from: 1, to: 1 }), []) => Some(len),
            (None | Some(Stride { len: 1, .. }), [Stride { len, from: 1, to: 1 }]) => Some(*len),
            _ => None,
        }
    }

    /// Returns the offset of the last cell in the tile.
    pub(super) fn last(&self) -> u64 {
        self.from + self.first.map_or(0, |first| span(&[first])) + span(self.rest)
    }

    /// Copies the cells. `cells` holds the tile's cells from `start` on.
    pub(super) fn copy<T: Copy>(&self, start: u64, cells: &[T], result: &mut [T]) {
        // Both offsets are within memory, hence the difference fits into `usize`.
        let from = saturating_len(self.from - start);
        match (self.first, self.rest) {
            (None | Some(Stride { len: 1, .. }), loops) => nest(loops, cells, from, result, self.to),
            (Some(first), []) => nest(&[first], cells, from, result, self.to),
            (Some(first), [inner]) => nest(&[first, *inner], cells, from, result, self.to),
            (Some(first), rest) => {
                let loops: Vec<Stride> = [first].iter().chain(rest).copied().collect();
                nest(&loops, cells, from, result, self.to);
            }
        }
    }
}

/// Returns the distance from the first to the last cell of a nest of loops.
fn span(strides: &[Stride]) -> u64 {
    strides.iter().map(|stride| (stride.len as u64 - 1).saturating_mul(stride.from)).fold(0, u64::saturating_add)
}

fn parts_in<'a>(from: u64, to: usize, strides: &'a [Stride], window: &Range<u64>, each: &mut impl FnMut(Part<'a>)) {
    let last = from + span(strides);
    if last < window.start || window.end <= from {
        return;
    }
    if window.start <= from && last < window.end {
        return each(Part { from, to, first: None, rest: strides });
    }
    let Some((first, rest)) = strides.split_first() else { return };
    let inner = span(rest);
    // All numbers count rounds of the slowest loop. `touching` is the first round to end in or
    // after the window. Rounds from `inside` to `inside_end` are completely inside.
    let rounds = |distance: u64| saturating_len(distance.div_ceil(first.from)).min(first.len);
    let touching = rounds(window.start.saturating_sub(from + inner));
    let behind = rounds(window.end.saturating_sub(from));
    let inside = rounds(window.start.saturating_sub(from)).max(touching);
    let inside_end = rounds((window.end.saturating_sub(from)).saturating_sub(inner)).min(behind);
    let begin = |round: usize| (from + round as u64 * first.from, to + round * first.to);
    if inside >= inside_end {
        // No round is completely inside. At most two rounds intersect the window.
        for round in touching..behind {
            let (from, to) = begin(round);
            parts_in(from, to, rest, window, each);
        }
        return;
    }
    for round in (touching..inside).chain(inside_end..behind) {
        let (from, to) = begin(round);
        parts_in(from, to, rest, window, each);
    }
    let (from, to) = begin(inside);
    each(Part { from, to, first: Some(Stride { len: inside_end - inside, ..*first }), rest });
}

fn runs(from: u64, to: usize, outer: &[Stride], len: usize, each: &mut impl FnMut(u64, usize, usize)) {
    match outer {
        [] => each(from, to, len),
        [stride, inner @ ..] => {
            for round in 0..stride.len {
                runs(from + round as u64 * stride.from, to + round * stride.to, inner, len, each);
            }
        }
    }
}

/// Runs a nest of loops. Chooses the innermost loops that use the caches best.
fn nest<T: Copy>(loops: &[Stride], cells: &[T], from: usize, result: &mut [T], to: usize) {
    match loops {
        [] => result[to] = cells[from],
        [row] => copy_row(*row, cells, from, result, to),
        [outer, row @ Stride { from: 1, to: 1, .. }] => {
            let (step, len) = (offset(outer.from), row.len);
            for round in 0..outer.len {
                let row = &cells[from + round * step..][..len];
                result[to + round * outer.to..][..len].copy_from_slice(row);
            }
        }
        [a, b] if a.to <= b.to => transpose(*b, *a, cells, from, result, to),
        [a, b] => transpose(*a, *b, cells, from, result, to),
        [outer, inner @ ..] if inner.last().is_some_and(|row| row.from == 1 && row.to == 1) => {
            for round in 0..outer.len {
                nest(inner, cells, from + round * offset(outer.from), result, to + round * outer.to);
            }
        }
        _ => {
            // Move the fastest loop of the result next to the fastest loop of the tile.
            let mut loops = loops.to_vec();
            let fastest = (0..loops.len()).min_by_key(|&index| loops[index].to).unwrap_or(0);
            let fastest = loops.remove(fastest);
            let place = loops.len() - 1;
            loops.insert(place, fastest);
            pairs(&loops, cells, from, result, to);
        }
    }
}

/// Runs all loops around the two innermost.
fn pairs<T: Copy>(loops: &[Stride], cells: &[T], from: usize, result: &mut [T], to: usize) {
    match loops {
        [_, _] | [_] | [] => nest(loops, cells, from, result, to),
        [outer, inner @ ..] => {
            for round in 0..outer.len {
                pairs(inner, cells, from + round * offset(outer.from), result, to + round * outer.to);
            }
        }
    }
}

fn copy_row<T: Copy>(row: Stride, cells: &[T], from: usize, result: &mut [T], to: usize) {
    let (len, step) = (row.len, offset(row.from));
    if step == 1 && row.to == 1 {
        result[to..][..len].copy_from_slice(&cells[from..][..len]);
        return;
    }
    let cells = cells[from..].iter().step_by(step);
    for (to, cell) in result[to..].iter_mut().step_by(row.to.max(1)).zip(cells).take(len) {
        *to = *cell;
    }
}

/// Side length of the blocks of a transposition, in cells. The cache lines of a block, in tile and
/// result, fit into the L1 cache.
const BLOCK: usize = 32;

/// Copies a box of two loops. `inner` is the faster loop in the result.
fn transpose<T: Copy>(outer: Stride, inner: Stride, cells: &[T], from: usize, result: &mut [T], to: usize) {
    if outer.from == 1 && inner.to == 1 {
        return transpose_rows(outer, inner, cells, from, result, to);
    }
    for outer_start in (0..outer.len).step_by(BLOCK) {
        let outer_end = (outer_start + BLOCK).min(outer.len);
        for inner_start in (0..inner.len).step_by(BLOCK) {
            let len = (inner.len - inner_start).min(BLOCK);
            for round in outer_start..outer_end {
                let from = from + round * offset(outer.from) + inner_start * offset(inner.from);
                let to = to + round * outer.to + inner_start * inner.to;
                copy_row(Stride { len, ..inner }, cells, from, result, to);
            }
        }
    }
}

/// Transposes rows of the tile into columns of the result, up to eight at a time.
fn transpose_rows<T: Copy>(outer: Stride, inner: Stride, cells: &[T], from: usize, result: &mut [T], to: usize) {
    let step = offset(inner.from);
    for start in (0..inner.len).step_by(8) {
        let rows = Rows { cells: &cells[from + start * step..], step, len: outer.len };
        let result = &mut result[to + start..];
        match inner.len - start {
            1 => rows.zip::<1>(result, outer.to),
            2 => rows.zip::<2>(result, outer.to),
            3 => rows.zip::<3>(result, outer.to),
            4 => rows.zip::<4>(result, outer.to),
            5 => rows.zip::<5>(result, outer.to),
            6 => rows.zip::<6>(result, outer.to),
            7 => rows.zip::<7>(result, outer.to),
            _ => rows.zip::<8>(result, outer.to),
        }
    }
}

/// Rows of cells of equal length.
struct Rows<'a, T> {
    cells: &'a [T],
    /// Distance between rows.
    step: usize,
    len: usize,
}

impl<'a, T: Copy> Rows<'a, T> {
    /// Writes the first cells of `N` rows next to each other, then the second cells, and so on, at
    /// a distance of `pitch`.
    fn zip<const N: usize>(&self, result: &mut [T], pitch: usize) {
        let rows: [&'a [T]; N] = std::array::from_fn(|row| &self.cells[row * self.step..][..self.len]);
        for (at, result) in result.chunks_mut(pitch.max(1)).take(self.len).enumerate() {
            let cells: [T; N] = std::array::from_fn(|row| rows[row][at]);
            result[..N].copy_from_slice(&cells);
        }
    }
}

/// Converts a distance between cells in memory.
fn offset(distance: u64) -> usize {
    saturating_len(distance)
}

#[cfg(test)]
mod tests;
