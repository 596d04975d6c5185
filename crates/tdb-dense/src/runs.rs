//! Enumeration of the cells of boxes, as runs in result order.

use std::ops::Range;
use std::sync::Arc;

use tdb_query::CheckedQuery;
use tdb_rtree::{Boxes, DimRange};

use crate::domain_cells::lows;
use crate::shape::{Positions, Shape};

/// First and last cell of a range along a dimension, counted from the low end of the domain.
pub(super) type Side = (u64, u64);

/// The selection along each dimension.
#[derive(Debug)]
pub(super) struct Sides {
    /// For each dimension, the side of each box.
    boxes: Arc<[Vec<Side>]>,
    /// For each dimension, the requested ranges, ascending and disjoint. A cell must be inside a
    /// range and a box.
    ranges: Vec<Vec<Side>>,
}

/// A loop over the cells or over the tiles along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    dimension: usize,
    /// Cells per step: 1, or the tile extent.
    step: u64,
}

/// An enumeration of the cells of boxes by nested loops. Each loop covers only boxes that contain
/// the current cell of all outer loops.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    sides: Arc<Sides>,
    levels: Arc<[Level]>,
    /// Loops that are entered, outermost first.
    loops: Vec<Loop>,
    /// Remaining runs of the innermost loop, in reverse order.
    runs: Vec<Side>,
}

#[derive(Clone, Debug)]
struct Loop {
    /// Range of steps for each box of the loop, sorted by first step.
    boxes: Arc<[(Side, u32)]>,
    /// Index of the first box that has not begun.
    next: usize,
    /// Boxes that include the current step.
    active: Vec<(Side, u32)>,
    /// Current step, once the loop has begun.
    at: Option<u64>,
}

impl Sides {
    /// Returns the selection of a query, or `None` if the query has no boxes.
    pub(super) fn of(query: &CheckedQuery) -> Option<Self> {
        let boxes = query.boxes.as_deref()?;
        Some(Self::new(boxes, query.region.ranges(), &lows(query.array.schema())))
    }

    /// Combines boxes with the ranges of a query. `lows` holds the keys of the low ends of the
    /// domain.
    fn new(boxes: &Boxes, ranges: &[Vec<DimRange>], lows: &[u64]) -> Self {
        let side = |range: &DimRange, low: u64| match *range {
            DimRange::Fixed { lo, hi } => (lo.saturating_sub(low), hi.saturating_sub(low)),
            DimRange::Var { .. } => (0, u64::MAX),
        };
        let all = |dimension: usize| (0..boxes.len()).filter_map(move |number| boxes.range(dimension, number));
        Self {
            boxes: lows
                .iter()
                .enumerate()
                .map(|(index, low)| all(index).map(|range| side(&range, *low)).collect())
                .collect(),
            ranges: ranges
                .iter()
                .zip(lows)
                .map(|(ranges, low)| ranges.iter().map(|range| side(range, *low)).collect())
                .collect(),
        }
    }

    /// Restricts the selection to a box.
    pub(super) fn within(&self, bounds: &[Range<u128>]) -> Self {
        let inside = |(ranges, bounds): (&Vec<Side>, &Range<u128>)| {
            let ends = |end: u128| u64::try_from(end).unwrap_or(u64::MAX);
            let bounds = (ends(bounds.start), ends(bounds.end.saturating_sub(1)));
            ranges.iter().filter_map(|range| common(*range, bounds)).collect()
        };
        Self { boxes: Arc::clone(&self.boxes), ranges: self.ranges.iter().zip(bounds).map(inside).collect() }
    }

    /// Returns `true` if a selected cell is within the bounds. `some` lists the boxes to check.
    fn meet(&self, some: &[(Side, u32)], bounds: &[Range<u128>]) -> bool {
        some.iter().any(|(_, number)| {
            self.boxes.iter().zip(&self.ranges).zip(bounds).all(|((sides, ranges), bounds)| {
                let bounds = (bounds.start as u64, (bounds.end - 1) as u64);
                let Some(side) = common(sides[*number as usize], bounds) else { return false };
                first_from(ranges, side.0).is_some_and(|range| range.0 <= side.1)
            })
        })
    }

    /// Returns `true` if a single box of `some` selects all cells within the bounds.
    fn cover(&self, some: &[(Side, u32)], bounds: &[Range<u128>]) -> bool {
        some.iter().any(|(_, number)| {
            self.boxes.iter().zip(&self.ranges).zip(bounds).all(|((sides, ranges), bounds)| {
                let bounds = (bounds.start as u64, (bounds.end - 1) as u64);
                let holds = |side: Side| side.0 <= bounds.0 && bounds.1 <= side.1;
                holds(sides[*number as usize]) && first_from(ranges, bounds.0).is_some_and(holds)
            })
        })
    }
}

impl Runs {
    /// Starts at the first cell. `order` lists the dimensions of the result, slowest first. Without
    /// `order`, the result comes tile by tile.
    pub(super) fn new(shape: &Shape, sides: Arc<Sides>, order: Option<&[usize]>) -> Self {
        let cells = order.unwrap_or(&shape.cell_order).iter().map(|&dimension| Level { dimension, step: 1 });
        let tiles: &[usize] = if order.is_some() { &[] } else { &shape.tile_order };
        let tiles = tiles.iter().map(|&dimension| Level { dimension, step: shape.axes[dimension].extent });
        Self::over(sides, tiles.chain(cells).collect())
    }

    fn over(sides: Arc<Sides>, levels: Arc<[Level]>) -> Self {
        let mut runs = Self { sides, levels, loops: Vec::new(), runs: Vec::new() };
        let all: Vec<u32> = (0..runs.sides.boxes.first().map_or(0, Vec::len) as u32).collect();
        let first = runs.enter(&all);
        runs.loops.push(first);
        runs
    }

    /// Creates the next inner loop, for the boxes in `some`.
    fn enter(&self, some: &[u32]) -> Loop {
        let Level { dimension, step } = self.levels[self.loops.len()];
        let window = self.window(dimension);
        let sides = &self.sides.boxes[dimension];
        let side = |number: &u32| {
            common(sides[*number as usize], window).map(|side| ((side.0 / step, side.1 / step), *number))
        };
        let mut boxes: Vec<(Side, u32)> = some.iter().filter_map(side).collect();
        boxes.sort_unstable();
        Loop { boxes: boxes.into(), next: 0, active: Vec::new(), at: None }
    }

    /// Returns the cells along a dimension of the current tile.
    fn window(&self, dimension: usize) -> Side {
        let tile = self.loops.iter().zip(&*self.levels).find(|(_, level)| level.dimension == dimension);
        match tile.and_then(|(entered, level)| Some((entered.at?, level.step))) {
            Some((at, step)) => (at.saturating_mul(step), at.saturating_mul(step).saturating_add(step - 1)),
            None => (0, u64::MAX),
        }
    }

    /// Advances the loop at nesting depth `depth` by one step and enters inner loops as necessary.
    /// Returns `None` at the end.
    fn advance(&mut self, depth: usize) -> Option<()> {
        loop {
            let Level { dimension, step } = self.levels[self.loops.len() - 1];
            let ranges = &self.sides.ranges[dimension];
            if self.loops.last_mut()?.advance(ranges, step).is_none() {
                self.loops.pop();
                if self.loops.is_empty() {
                    return None;
                }
                continue;
            }
            if self.loops.len() == depth {
                return Some(());
            }
            let some: Vec<u32> = self.loops.last()?.active.iter().map(|(_, number)| *number).collect();
            let next = self.enter(&some);
            self.loops.push(next);
        }
    }

    /// Finds the next runs of the innermost loop, unless runs are left. Returns `None` at the end.
    fn fill(&mut self) -> Option<()> {
        while self.runs.is_empty() {
            if self.loops.is_empty() {
                return None;
            }
            self.advance(self.levels.len() - 1)?;
            let some: Vec<u32> = self.loops.last()?.active.iter().map(|(_, number)| *number).collect();
            let dimension = self.levels[self.levels.len() - 1].dimension;
            let ranges = &self.sides.ranges[dimension];
            let mut runs: Vec<Side> = Vec::new();
            for &((first, last), _) in &*self.enter(&some).boxes {
                match runs.last_mut() {
                    Some(run) if first <= run.1.saturating_add(1) => run.1 = run.1.max(last),
                    _ => runs.push((first, last)),
                }
            }
            let inside = |run: &Side| {
                let start = ranges.partition_point(|range| range.1 < run.0);
                let run = *run;
                ranges[start..].iter().map_while(move |range| common(*range, run)).collect::<Vec<_>>()
            };
            self.runs = runs.iter().flat_map(inside).collect();
            self.runs.reverse();
        }
        Some(())
    }

    /// Returns the next boxes of positions: at most `most_boxes` with at most `most` cells in
    /// total, but at least one cell. The result is empty at the end.
    pub(super) fn take(&mut self, shape: &Shape, most: u128, most_boxes: usize) -> Vec<Positions> {
        let mut boxes: Vec<Positions> = Vec::new();
        let mut left = most.max(1);
        while left > 0 && self.fill().is_some() {
            let Some(run) = self.runs.pop() else { break };
            let len = (u128::from(run.1 - run.0) + 1).min(left);
            let positions = self.positions(shape, run.0, len);
            if !boxes.last_mut().is_some_and(|last| self.join(last, &positions)) {
                if boxes.len() >= most_boxes.max(1) {
                    self.runs.push(run);
                    break;
                }
                boxes.push(positions);
            }
            left -= len;
            if len <= u128::from(run.1 - run.0) {
                self.runs.push((run.0 + len as u64, run.1));
            }
        }
        boxes
    }

    /// Returns the positions of a run of cells.
    fn positions(&self, shape: &Shape, first: u64, len: u128) -> Positions {
        let mut positions = vec![0..0; shape.axes.len()];
        let cells = self.levels.len() - shape.axes.len();
        let at = self.loops.iter().map(|entered| (entered.at.unwrap_or(0), 1)).skip(cells).chain([(first, len)]);
        for (level, (cell, len)) in self.levels[cells..].iter().zip(at) {
            let start = shape.axes[level.dimension].position_of(cell);
            positions[level.dimension] = start..start + len;
        }
        positions
    }

    /// Extends a box by a run if the run is the next row of the box. Returns `false` otherwise.
    fn join(&self, last: &mut Positions, next: &Positions) -> bool {
        let levels = &self.levels[self.levels.len() - last.len()..];
        let [outer @ .., row, _] = levels else { return false };
        let (dimension, same) = (row.dimension, |dimension: usize| last[dimension] == next[dimension]);
        let fastest = levels[levels.len() - 1].dimension;
        let follows = last[dimension].end == next[dimension].start
            && same(fastest)
            && outer
                .iter()
                .all(|level| same(level.dimension) && last[level.dimension].end - last[level.dimension].start == 1);
        if follows {
            last[dimension].end = next[dimension].end;
        }
        follows
    }
}

impl Loop {
    /// Advances to the next step inside a box and a range. Returns `None` at the end.
    fn advance(&mut self, ranges: &[Side], step: u64) -> Option<()> {
        let mut at = match self.at {
            Some(at) => at.checked_add(1)?,
            None => self.boxes.first()?.0.0,
        };
        loop {
            let range = first_from(ranges, at.checked_mul(step)?)?;
            at = at.max(range.0 / step);
            while let Some(begun) = self.boxes.get(self.next).filter(|((first, _), _)| *first <= at) {
                self.active.push(*begun);
                self.next += 1;
            }
            self.active.retain(|((_, last), _)| *last >= at);
            if !self.active.is_empty() {
                self.at = Some(at);
                return Some(());
            }
            at = self.boxes.get(self.next)?.0.0;
        }
    }
}

/// An enumeration of the tiles that may hold selected cells, in tile order.
pub(super) struct RunTiles {
    runs: Runs,
    extents: Vec<u64>,
}

impl RunTiles {
    pub(super) fn new(shape: &Shape, sides: Sides) -> Self {
        let levels = shape.tile_order.iter().map(|&dimension| Level { dimension, step: shape.axes[dimension].extent });
        let extents = shape.axes.iter().map(|axis| axis.extent).collect();
        Self { runs: Runs::over(Arc::new(sides), levels.collect()), extents }
    }

    /// Returns the index of the next tile along each dimension.
    pub(super) fn next(&mut self) -> Option<Vec<u64>> {
        if self.runs.loops.is_empty() {
            return None;
        }
        self.runs.advance(self.extents.len())?;
        let mut tile = vec![0; self.extents.len()];
        for (entered, level) in self.runs.loops.iter().zip(&*self.runs.levels) {
            tile[level.dimension] = entered.at?;
        }
        Some(tile)
    }

    /// Returns `true` if a part of the current tile holds a selected cell.
    pub(super) fn meet(&self, bounds: &[Range<u128>]) -> bool {
        let innermost = self.runs.loops.last();
        innermost.is_some_and(|innermost| self.runs.sides.meet(&innermost.active, bounds))
    }

    /// Returns `true` if a single box selects all cells of the current tile.
    pub(super) fn cover(&self, bounds: &[Range<u128>]) -> bool {
        let innermost = self.runs.loops.last();
        innermost.is_some_and(|innermost| self.runs.sides.cover(&innermost.active, bounds))
    }
}

/// Returns the first of ascending, disjoint ranges that does not end before a cell.
fn first_from(ranges: &[Side], cell: u64) -> Option<Side> {
    ranges.get(ranges.partition_point(|range| range.1 < cell)).copied()
}

fn common(a: Side, b: Side) -> Option<Side> {
    let both = (a.0.max(b.0), a.1.min(b.1));
    (both.0 <= both.1).then_some(both)
}
