//! Merge of loaded cells.

use std::cmp::Ordering;

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;

use super::super::keyed::Keyed;
use super::super::table::{Runs, TileTable};
use super::heads::{Head, Heads};
use super::lane::{Lane, Place};

/// Parameters shared by all parts of a merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) order: &'a CellOrder,
    /// `true` if cells may hide other cells with equal coordinates.
    pub(super) deduplicate: bool,
    pub(super) tiles: &'a TileTable,
}

/// Progress of a merge.
#[derive(Debug)]
pub(super) struct Reached {
    /// Position of each lane.
    pub(super) places: Vec<Place>,
    /// `true` if another tile must be loaded before the merge can continue.
    pub(super) waits: bool,
}

/// A merge of lanes.
///
/// Cells move in runs: the lane with the lowest next cell emits all cells below the next head.
#[derive(Debug)]
struct Part<'a, K> {
    rules: Rules<'a>,
    lanes: Vec<Lane<'a, K>>,
    heads: Heads<K>,
    /// Buffer for lanes with equal next cells.
    equal: Vec<usize>,
    runs: &'a mut Runs,
}

/// Appends the cells of lanes to the runs. Stops when all lanes end, when the runs reach `most`
/// bytes, or when an unloaded cell may come next. Unloaded cells have keys at or above `gate`.
pub(super) fn merge<'a, K: Key>(
    rules: Rules<'a>,
    lanes: Vec<Lane<'a, K>>,
    gate: Option<K>,
    most: usize,
    runs: &'a mut Runs,
) -> Reached {
    let mut part = Part::new(rules, lanes, gate, runs);
    let mut waits = false;
    while part.runs.bytes() < most
        && let Some(head) = part.heads.pop()
    {
        let Some(lane) = head.lane else {
            waits = true;
            break;
        };
        part.step(head.key, lane);
    }
    Reached { places: part.lanes.iter().map(|lane| lane.at).collect(), waits }
}

impl<'a, K: Key> Part<'a, K> {
    fn new(rules: Rules<'a>, mut lanes: Vec<Lane<'a, K>>, gate: Option<K>, runs: &'a mut Runs) -> Self {
        let heads = lanes.iter_mut().enumerate().filter_map(|(index, lane)| head(lane, index));
        let heads = heads.chain(gate.map(|key| Head { key, lane: None })).collect();
        let heads = Heads::new(heads, |a, b| compare_same_key(rules.order, &lanes, a, b));
        Self { rules, lanes, heads, equal: Vec::new(), runs }
    }

    /// Inserts a lane among the heads unless exhausted.
    #[inline]
    fn settle(&mut self, index: usize) {
        let order = self.rules.order;
        if let Some(head) = head(&mut self.lanes[index], index) {
            self.heads.insert(head, |a, b| compare_same_key(order, &self.lanes, a, b));
        }
    }

    /// Emits cells of the lane with the lowest next cell, and advances the lane.
    #[inline]
    fn step(&mut self, key: K, lane: usize) {
        let (count, tie) = match self.heads.last() {
            None => (usize::MAX, false),
            Some(next) if next.key == key => (1, self.are_equal(lane, next)),
            Some(next) => (self.lanes[lane].before(next.key), false),
        };
        if tie && self.rules.deduplicate {
            self.resolve(key, lane);
        } else {
            self.lanes[lane].give(count, self.rules.tiles, self.runs);
            self.settle(lane);
        }
    }

    /// Resolves cells with equal coordinates at the front of several lanes. Emits the kept cells,
    /// unless marked as deleted.
    fn resolve(&mut self, key: K, lane: usize) {
        let mut equal = std::mem::take(&mut self.equal);
        equal.clear();
        equal.push(lane);
        while let Some(next) = self.heads.last()
            && next.key == key
            && self.are_equal(lane, next)
        {
            equal.extend(next.lane);
            self.heads.pop();
        }
        // In a lane without versions, one cell represents all cells with equal coordinates.
        let cells = equal.iter().filter_map(|lane| self.lanes[*lane].current());
        if let Some(newest) = cells.max_by_key(|(tile, cell)| tile.version(*cell)) {
            equal.iter().for_each(|lane| self.give_equal(*lane, newest));
        }
        self.equal = equal;
    }

    /// Advances a lane past all cells with the coordinates of `newest`. Emits the kept cells.
    fn give_equal(&mut self, index: usize, newest: (&Keyed<K>, u32)) {
        let lane = &mut self.lanes[index];
        let key = lane.settle();
        while lane.settle() == key
            && let Some((tile, cell)) = lane.current()
            && tile.compare_equal(self.rules.order, cell, newest.0, newest.1).is_eq()
        {
            if tile.counts_as(cell, newest) {
                lane.give(1, self.rules.tiles, self.runs);
            } else {
                lane.at.position += 1;
            }
        }
        self.settle(index);
    }

    /// Returns `true` if the next cell of `head` has the coordinates of the lane's next cell. The
    /// keys must be equal.
    fn are_equal(&self, lane: usize, head: Head<K>) -> bool {
        let equal = |other: usize| compare_equal(self.rules.order, &self.lanes[lane], &self.lanes[other]).is_eq();
        head.lane.is_some_and(equal)
    }
}

/// Returns the head of a lane, or `None` at the end.
#[inline]
fn head<K: Key>(lane: &mut Lane<'_, K>, index: usize) -> Option<Head<K>> {
    Some(Head { key: lane.settle()?, lane: Some(index) })
}

/// Compares heads with equal keys: by coordinates, then by age. A head without a lane comes first
/// because unloaded cells may be lower.
fn compare_same_key<K: Key>(order: &CellOrder, lanes: &[Lane<'_, K>], a: &Head<K>, b: &Head<K>) -> Ordering {
    let coordinates = || match (a.lane, b.lane) {
        (Some(a), Some(b)) => compare_equal(order, &lanes[a], &lanes[b]),
        _ => Ordering::Equal,
    };
    a.lane.is_some().cmp(&b.lane.is_some()).then_with(coordinates).then(a.lane.cmp(&b.lane))
}

/// Compares the next cells of two lanes with equal keys.
fn compare_equal<K: Key>(order: &CellOrder, a: &Lane<'_, K>, b: &Lane<'_, K>) -> Ordering {
    match (a.current(), b.current()) {
        (Some((a, cell)), Some((b, other))) => a.compare_equal(order, cell, b, other),
        _ => Ordering::Equal,
    }
}
