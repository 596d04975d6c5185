//! Groups of dense fragments, each of which can be joined where all together would have too many cells that nobody wrote.
//!
//! Fragments come in the order of time. Each goes to the group whose box grows least with it, if the box then has few enough cells, and
//! has nothing of a fragment outside of the group that was written before the group's last one. So the group's new
//! fragment hides no cell, and no cell that comes between is hidden by it: readers of every time find what they found. As soon as a fragment
//! lies in the box of a group that it isn't of, nothing later can come to this group.
//!
//! The number of groups that are open at once is bounded, and boxes are found by a tree: the cost is that of sorting.

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::ArraySchema;

use super::choice::{Choice, factor};
use super::facts::{Facts, cells_in, expanded};
use super::index::{Index, difference};

/// Groups that a fragment may come to, at most: others are left as they are.
const OPEN: usize = 64;
/// Groups that are tried for a fragment, those that grow least first.
const TRIED: usize = 4;

/// Fragments that may be joined.
#[derive(Debug)]
struct Group {
    number: usize,
    members: Vec<usize>,
    bounds: NdRange,
    /// The tiles of the bounds.
    covered: NdRange,
    /// Cells of the tiles of the members.
    cells: u128,
    /// When the last member was written.
    end: u64,
}

/// A partition that is being made.
struct Partition<'a> {
    schema: &'a ArraySchema,
    choice: &'a Choice,
    all: &'a [Facts],
    index: Index<'a>,
    /// The group of each fragment.
    group_of: Vec<Option<usize>>,
    open: Vec<Group>,
    closed: Vec<Group>,
}

/// The groups of two fragments and more, by the numbers of these among all.
pub(super) fn groups(
    schema: &ArraySchema,
    choice: &Choice,
    all: &[Facts],
    is_candidate: impl Fn(&Facts) -> bool,
) -> Vec<Vec<usize>> {
    let mut partition = Partition::new(schema, choice, all);
    partition.fill(is_candidate);
    partition.finish()
}

impl<'a> Partition<'a> {
    fn new(schema: &'a ArraySchema, choice: &'a Choice, all: &'a [Facts]) -> Self {
        let index = Index::new(all.iter().map(|facts| facts.domain.as_ref()).collect());
        Self { schema, choice, all, index, group_of: vec![None; all.len()], open: Vec::new(), closed: Vec::new() }
    }

    fn fill(&mut self, is_candidate: impl Fn(&Facts) -> bool) {
        for (number, facts) in self.all.iter().enumerate() {
            let Some(domain) = &facts.domain else { continue };
            let group = if is_candidate(facts) { self.place(number, domain) } else { None };
            self.group_of[number] = group;
            let is_over = |open: &mut Group| Some(open.number) != group && open.covered.intersects(domain);
            self.closed.extend(self.open.extract_if(.., is_over));
        }
    }

    /// The group that a fragment has come to.
    fn place(&mut self, number: usize, domain: &NdRange) -> Option<usize> {
        let facts = &self.all[number];
        let covered = expanded(self.schema, domain);
        let cells = cells_in(&covered);
        let mut choices: Vec<(f64, usize)> = Vec::new();
        for (place, group) in self.open.iter().enumerate() {
            let factor = factor(cells_around(&group.bounds, domain), group.cells.saturating_add(cells));
            let last = group.members.last().map_or(facts, |last| &self.all[*last]);
            let is_room = group.members.len() < self.choice.max && self.choice.have_sizes(last, facts);
            if is_room && factor <= self.choice.amplification {
                choices.push((factor, place));
            }
        }
        // Of those that grow alike the last one, which is open since the shortest time.
        choices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        for (_, place) in choices.into_iter().take(TRIED) {
            let group = &self.open[place];
            let mut bounds = group.bounds.clone();
            bounds.expand(domain);
            let covered = expanded(self.schema, &bounds);
            let is_other = |other: usize| other < number && self.group_of[other] != Some(group.number);
            if difference(&covered, &group.covered).iter().any(|part| self.index.intersects(part, is_other)) {
                continue;
            }
            let mut group = self.open.remove(place);
            group.members.push(number);
            (group.bounds, group.covered) = (bounds, covered);
            group.cells = group.cells.saturating_add(cells);
            group.end = group.end.max(facts.name.end());
            let own = group.number;
            self.open.push(group);
            return Some(own);
        }
        if self.index.intersects(&covered, |other| other < number) {
            return None;
        }
        if self.open.len() >= OPEN {
            self.closed.push(self.open.remove(0));
        }
        let bounds = domain.clone();
        self.open.push(Group { number, members: vec![number], bounds, covered, cells, end: facts.name.end() });
        Some(number)
    }

    /// The groups that can be joined, the oldest first.
    fn finish(mut self) -> Vec<Vec<usize>> {
        self.closed.append(&mut self.open);
        self.closed.sort_by_key(|group| group.number);
        let is_free = |group: &Group| {
            let is_other =
                |other: usize| self.group_of[other] != Some(group.number) && self.all[other].name.start() <= group.end;
            group.members.len() > 1 && !self.index.intersects(&group.covered, is_other)
        };
        self.closed.iter().filter(|group| is_free(group)).map(|group| group.members.clone()).collect()
    }
}

/// How many cells the box around two has.
fn cells_around(one: &NdRange, other: &NdRange) -> u128 {
    let along = |(one, other): (&DimRange, &DimRange)| match (one, other) {
        (DimRange::Fixed { lo, hi }, DimRange::Fixed { lo: other_lo, hi: other_hi }) => {
            u128::from(hi.max(other_hi) - lo.min(other_lo)) + 1
        }
        _ => 0,
    };
    one.0.iter().zip(&other.0).map(along).fold(1, u128::saturating_mul)
}

#[cfg(test)]
mod tests;
