//! Groups of dense fragments, for arrays in which a single fragment would exceed the amplification
//! limit.
//!
//! 1. The partition divides all fragments at the widest gap along a dimension. It divides each part
//!    again until the part can be consolidated. A distant fragment therefore does not separate
//!    fragments that are close together.
//! 2. The partition merges pairs of the resulting groups and fragments. The pair with the smallest
//!    growth of the MBR comes first. If more than [`MOST_PAIRED`] fragments remain, each fragment
//!    is first added to the open group with the smallest growth, in time order.
//!
//! A fragment outside of the group must not intersect the tiles of the group's MBR, unless it is
//! newer than the last member of the group. The new fragment then hides no newer cell, and readers
//! of every time see the same cells as before.
//!
//! A tree finds intersecting MBRs, and a bounded number of groups is tried per fragment. The cost
//! is therefore similar to the cost of sorting the fragments.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::ArraySchema;

use super::choice::{Choice, factor};
use super::facts::{Facts, union};
use super::index::{Index, difference};
use tdb_job::{cells_in, whole_tiles};

/// Maximum number of open groups. If a further group is opened, the oldest open group is closed.
const OPEN: usize = 64;
/// Number of groups that are tried per fragment, smallest growth first.
const TRIED: usize = 4;

/// Maximum number of fragments for which all pairs are compared.
const MOST_PAIRED: usize = 1024;

/// A group of fragments that may be consolidated.
#[derive(Clone, Debug)]
struct Group {
    number: usize,
    members: Vec<usize>,
    bounds: NdRange,
    /// `bounds`, expanded to whole tiles.
    covered: NdRange,
    /// Number of cells in the members' tiles.
    cells: u128,
    /// End timestamp of the last member.
    end: u64,
}

impl Group {
    /// Returns the number of cells in the common MBR of both groups, as a multiple of the number of
    /// cells in the members' tiles.
    fn factor_with(&self, other: &Self) -> f64 {
        factor(cells_around(&self.bounds, &other.bounds), self.cells.saturating_add(other.cells))
    }
}

/// A finished partition.
#[derive(Debug)]
pub(super) struct Groups {
    /// Groups of at least two fragments, as indices into all fragments.
    pub(super) groups: Vec<Vec<usize>>,
    /// The first rejected pair of groups, which has the smallest growth: the factor and the members
    /// of both groups. `None` if no pair was rejected, or if there are too many groups to compare
    /// all pairs.
    pub(super) nearest: Option<(f64, Vec<usize>)>,
}

/// A partition in progress.
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

/// Divides the candidates among the fragments into groups that can be consolidated.
pub(super) fn groups(
    schema: &ArraySchema,
    choice: &Choice,
    all: &[Facts],
    is_candidate: impl Fn(&Facts) -> bool,
) -> Groups {
    Partition::new(schema, choice, all).groups(is_candidate)
}

impl<'a> Partition<'a> {
    fn new(schema: &'a ArraySchema, choice: &'a Choice, all: &'a [Facts]) -> Self {
        let index = Index::new(all.iter().map(|facts| facts.domain.as_ref()).collect());
        Self { schema, choice, all, index, group_of: vec![None; all.len()], open: Vec::new(), closed: Vec::new() }
    }

    fn groups(&mut self, is_candidate: impl Fn(&Facts) -> bool) -> Groups {
        let candidates = (0..self.all.len()).filter(|number| is_candidate(&self.all[*number])).collect();
        let (mut groups, mut rest) = self.divided(candidates);
        if rest.len() > MOST_PAIRED {
            for group in &groups {
                group.members.iter().for_each(|member| self.group_of[*member] = Some(group.number));
            }
            self.fill(&rest.iter().copied().collect());
            let mut filled = std::mem::take(&mut self.closed);
            filled.retain(|group| group.members.len() > 1 && self.is_free(group));
            let placed: BTreeSet<usize> = filled.iter().flat_map(|group| group.members.iter().copied()).collect();
            rest.retain(|number| !placed.contains(number));
            groups.append(&mut filled);
        }
        groups.extend(rest.into_iter().filter_map(|number| self.group(vec![number])));
        groups.sort_by_key(|group| group.number);
        let nearest = if groups.len() > MOST_PAIRED { None } else { self.pair(&mut groups) };
        groups.retain(|group| group.members.len() > 1);
        Groups { groups: apart(&groups), nearest }
    }

    /// Builds a group from fragments in time order. Returns `None` if the fragments have no cells.
    fn group(&self, members: Vec<usize>) -> Option<Group> {
        let domains = || members.iter().filter_map(|number| self.all[*number].domain.as_ref());
        let bounds = union(domains())?;
        let cells = domains().map(|domain| cells_in(&whole_tiles(self.schema, domain))).fold(0, u128::saturating_add);
        let covered = whole_tiles(self.schema, &bounds);
        let end = members.iter().map(|number| self.all[*number].name.end()).max()?;
        Some(Group { number: *members.first()?, members, bounds, covered, cells, end })
    }

    /// Returns `true` if a group is within all limits, and does not conflict with a fragment
    /// outside of the group.
    fn can_be_joined(&self, group: &Group) -> bool {
        group.members.len() <= self.choice.max
            && factor(cells_in(&group.bounds), group.cells) <= self.choice.amplification
            && group.members.windows(2).all(|pair| self.choice.have_sizes(&self.all[pair[0]], &self.all[pair[1]]))
            && self.is_free(group)
    }

    /// Returns `true` if all fragments outside of the group that intersect its tiles are newer than
    /// the last member of the group.
    fn is_free(&self, group: &Group) -> bool {
        let is_other =
            |other: usize| self.all[other].name.start() <= group.end && group.members.binary_search(&other).is_err();
        !self.index.intersects(&group.covered, is_other)
    }

    /// Divides fragments at gaps. Returns the groups that can be consolidated, and the remaining
    /// fragments.
    fn divided(&self, all: Vec<usize>) -> (Vec<Group>, Vec<usize>) {
        let (mut groups, mut rest, mut open) = (Vec::new(), Vec::new(), vec![all]);
        while let Some(part) = open.pop() {
            let group = if part.len() > 1 { self.group(part.clone()) } else { None };
            match group.filter(|group| self.can_be_joined(group)) {
                Some(group) => groups.push(group),
                None => match self.halves(&part) {
                    Some(halves) => open.extend(halves),
                    None => rest.extend(part),
                },
            }
        }
        rest.sort_unstable();
        (groups, rest)
    }

    /// Splits fragments at the widest gap between their tiles. Returns `None` if there is no gap.
    ///
    /// With many fragments, takes the most central of all gaps with at least half of this width,
    /// because splitting off single fragments would take quadratic time.
    fn halves(&self, part: &[usize]) -> Option<[Vec<usize>; 2]> {
        let tiles = |number: &usize| Some((whole_tiles(self.schema, self.all[*number].domain.as_ref()?), *number));
        let tiles: Vec<(NdRange, usize)> = part.iter().filter_map(tiles).collect();
        let mut gaps: Vec<(u64, usize, usize, u64)> = Vec::new();
        for dimension in 0..self.schema.dimensions().len() {
            let side = |(tiles, _): &(NdRange, usize)| match tiles.0.get(dimension) {
                Some(DimRange::Fixed { lo, hi }) => Some((*lo, *hi)),
                _ => None,
            };
            let mut sides: Vec<(u64, u64)> = tiles.iter().filter_map(side).collect();
            sides.sort_unstable();
            let mut end = sides.first()?.1;
            for (before, (lo, hi)) in sides.iter().enumerate() {
                if *lo > end && lo - end > 1 {
                    gaps.push((lo - end, before.min(sides.len() - before), dimension, end));
                }
                end = end.max(*hi);
            }
        }
        let widest = gaps.iter().map(|gap| gap.0).max()?;
        let least = if part.len() > MOST_PAIRED { widest / 2 } else { widest };
        let (.., dimension, end) = gaps.into_iter().filter(|gap| gap.0 >= least).max_by_key(|gap| gap.1)?;
        let is_before = |(tiles, _): &(NdRange, usize)| matches!(tiles.0.get(dimension), Some(DimRange::Fixed { hi, .. }) if *hi <= end);
        let (one, other): (Vec<_>, Vec<_>) = tiles.into_iter().partition(is_before);
        Some([one, other].map(|half| half.into_iter().map(|(_, number)| number).collect()))
    }

    /// Merges pairs of groups, smallest growth first, until no pair can be merged. Returns the
    /// first rejected pair.
    fn pair(&self, groups: &mut Vec<Group>) -> Option<(f64, Vec<usize>)> {
        let mut all: Vec<Option<Group>> = groups.drain(..).map(Some).collect();
        // Factors are positive, so that their bits sort like the numbers.
        let mut pairs: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
        let push = |pairs: &mut BinaryHeap<_>, all: &[Option<Group>], one: usize, other: usize| {
            if let (Some(first), Some(second)) = (&all[one], &all[other]) {
                pairs.push(Reverse((first.factor_with(second).to_bits(), one, other)));
            }
        };
        (0..all.len()).for_each(|other| (0..other).for_each(|one| push(&mut pairs, &all, one, other)));
        let mut nearest = None;
        while let Some(Reverse((factor, one, other))) = pairs.pop() {
            let (Some(first), Some(second)) = (&all[one], &all[other]) else { continue };
            let factor = f64::from_bits(factor);
            let mut members = [&first.members[..], &second.members[..]].concat();
            members.sort_unstable();
            let is_within = factor <= self.choice.amplification;
            let both = self.group(members.clone()).filter(|both| is_within && self.can_be_joined(both));
            let Some(both) = both else {
                nearest = nearest.or(Some((factor, members)));
                if is_within {
                    continue;
                }
                break;
            };
            (all[one], all[other]) = (None, None);
            all.push(Some(both));
            let last = all.len() - 1;
            (0..last).for_each(|one| push(&mut pairs, &all, one, last));
        }
        groups.extend(all.into_iter().flatten());
        groups.sort_by_key(|group| group.number);
        nearest
    }

    /// Adds fragments to groups in time order. Closes a group as soon as a fragment outside of the
    /// group intersects its tiles.
    fn fill(&mut self, wanted: &BTreeSet<usize>) {
        for (number, facts) in self.all.iter().enumerate() {
            let Some(domain) = &facts.domain else { continue };
            if wanted.contains(&number) {
                self.group_of[number] = self.place(number, domain);
            }
            let group = self.group_of[number];
            let is_over = |open: &mut Group| Some(open.number) != group && open.covered.intersects(domain);
            self.closed.extend(self.open.extract_if(.., is_over));
        }
        self.closed.append(&mut self.open);
    }

    /// Adds a fragment to an open group, or opens a new group. Returns the number of the group, or
    /// `None` if the fragment conflicts with older fragments.
    fn place(&mut self, number: usize, domain: &NdRange) -> Option<usize> {
        let facts = &self.all[number];
        let covered = whole_tiles(self.schema, domain);
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
        // On equal growth, prefer the group that was opened or extended last.
        choices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        for (_, place) in choices.into_iter().take(TRIED) {
            let group = &self.open[place];
            let mut bounds = group.bounds.clone();
            bounds.expand(domain);
            let covered = whole_tiles(self.schema, &bounds);
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
}

/// Selects groups with disjoint tiles, and returns their members. The new fragment of a group must
/// not conflict with the other groups.
fn apart(groups: &[Group]) -> Vec<Vec<usize>> {
    let index = Index::new(groups.iter().map(|group| Some(&group.covered)).collect());
    let mut is_taken = vec![false; groups.len()];
    for (number, group) in groups.iter().enumerate() {
        is_taken[number] = !index.intersects(&group.covered, |other| is_taken[other]);
    }
    groups.iter().zip(is_taken).filter(|(_, taken)| *taken).map(|(group, _)| group.members.clone()).collect()
}

/// Returns the number of cells in the common MBR of two subarrays.
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
