//! Merging what is at hand.

use std::cmp::Ordering;

use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;

use super::super::keyed::Keyed;
use super::super::table::{Runs, TileTable};
use super::heads::{Head, Heads};
use super::lane::{Lane, Place};

/// What all parts of a merge share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) order: &'a CellOrder,
    /// Whether cells may hide others with equal coordinates.
    pub(super) deduplicate: bool,
    pub(super) tiles: &'a TileTable,
}

/// How far a merge has come.
#[derive(Debug)]
pub(super) struct Reached {
    /// Where each lane stands.
    pub(super) places: Vec<Place>,
    /// Whether another tile has to be at hand before the merge can go on.
    pub(super) waits: bool,
}

/// A merge of lanes.
///
/// Cells move in runs: the lane with the lowest cell gives all that are below the next lane's lowest.
#[derive(Debug)]
struct Part<'a, K> {
    rules: Rules<'a>,
    lanes: Vec<Lane<'a, K>>,
    heads: Heads<K>,
    /// Memory for lanes whose next cells are equal.
    equal: Vec<usize>,
    runs: &'a mut Runs,
}

/// Appends the cells of lanes to the runs until the lanes end, there are `most` bytes, or cells that aren't at hand, none of
/// which has a key below `gate`, may come next.
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

    /// Takes a lane among the heads by its next cell, if there is one.
    #[inline]
    fn settle(&mut self, index: usize) {
        let order = self.rules.order;
        if let Some(head) = head(&mut self.lanes[index], index) {
            self.heads.insert(head, |a, b| compare_same_key(order, &self.lanes, a, b));
        }
    }

    /// Gives cells of the lane with the lowest next cell, and moves on.
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

    /// Of cells with equal coordinates, the next ones of several lanes, gives those that count, unless they stand for a deletion.
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
        // Of lanes without versions the next cell is one for all that are equal to it.
        let cells = equal.iter().filter_map(|lane| self.lanes[*lane].current());
        if let Some(newest) = cells.max_by_key(|(tile, cell)| tile.version(*cell)) {
            equal.iter().for_each(|lane| self.give_equal(*lane, newest));
        }
        self.equal = equal;
    }

    /// Moves a lane on behind its cells with the coordinates of the newest, and gives those that count.
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

    /// Whether a head, whose key is equal to that of a lane's next cell, has equal coordinates.
    fn are_equal(&self, lane: usize, head: Head<K>) -> bool {
        let equal = |other: usize| compare_equal(self.rules.order, &self.lanes[lane], &self.lanes[other]).is_eq();
        head.lane.is_some_and(equal)
    }
}

/// Where a lane stands, if it has cells left.
#[inline]
fn head<K: Key>(lane: &mut Lane<'_, K>, index: usize) -> Option<Head<K>> {
    Some(Head { key: lane.settle()?, lane: Some(index) })
}

/// Compares heads with equal keys by their cells' coordinates, then by age. Cells that aren't at hand come first: they may
/// be lower.
fn compare_same_key<K: Key>(order: &CellOrder, lanes: &[Lane<'_, K>], a: &Head<K>, b: &Head<K>) -> Ordering {
    let coordinates = || match (a.lane, b.lane) {
        (Some(a), Some(b)) => compare_equal(order, &lanes[a], &lanes[b]),
        _ => Ordering::Equal,
    };
    a.lane.is_some().cmp(&b.lane.is_some()).then_with(coordinates).then(a.lane.cmp(&b.lane))
}

/// Compares the next cells of two lanes, whose keys are equal.
fn compare_equal<K: Key>(order: &CellOrder, a: &Lane<'_, K>, b: &Lane<'_, K>) -> Ordering {
    match (a.current(), b.current()) {
        (Some((a, cell)), Some((b, other))) => a.compare_equal(order, cell, b, other),
        _ => Ordering::Equal,
    }
}
