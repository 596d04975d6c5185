//! The aggregates of a field per group.

use tdb_types::{Cells, PhysicalType, with_physical};

use crate::kind::{Measured, ValueKind};
use crate::number::Number;
use crate::statistics::CellStatistics;
use crate::summary::Summary;
use crate::total::Total;

/// The summaries of a field, by group number.
#[derive(Clone, Debug)]
pub(super) struct GroupColumn {
    kind: ValueKind,
    measured: Measured,
    summaries: Summaries,
}

#[derive(Clone, Debug)]
enum Summaries {
    Numbers(PhysicalType, Vec<NumberSummary>),
    Others { summaries: Vec<Summary>, memory: usize },
}

/// A summary without heap memory.
#[derive(Clone, Copy, Debug)]
struct NumberSummary {
    values: u64,
    nulls: u64,
    total: Total,
    /// The minimum and maximum, valid once there are values.
    low: [u8; 8],
    high: [u8; 8],
}

impl NumberSummary {
    fn new(physical: PhysicalType) -> Self {
        Self { values: 0, nulls: 0, total: Total::zero(physical), low: [0; 8], high: [0; 8] }
    }

    #[inline]
    fn add<N: Number>(&mut self, value: N, measured: Measured) {
        if measured.sum {
            self.total.add(value.widen().into_total(self.total));
        }
        if measured.bounds {
            self.widen(value, value);
        }
        self.values = self.values.saturating_add(1);
    }

    /// Adds values between `low` and `high`, which must be among the values.
    #[inline]
    fn widen<N: Number>(&mut self, low: N, high: N) {
        let (own_low, own_high) = (N::at(&self.low, 0), N::at(&self.high, 0));
        let is_first = self.values == 0;
        if is_first || low < own_low || own_low.is_nan() {
            write(&mut self.low, low);
        }
        if is_first || high > own_high || own_high.is_nan() {
            write(&mut self.high, high);
        }
    }

    fn merge<N: Number>(&mut self, other: &Self, measured: Measured) {
        if measured.bounds && other.values > 0 {
            self.widen(N::at(&other.low, 0), N::at(&other.high, 0));
        }
        self.total.add(other.total);
        self.values = self.values.saturating_add(other.values);
        self.nulls = self.nulls.saturating_add(other.nulls);
    }
}

#[inline]
fn write<N: Number>(place: &mut [u8; 8], value: N) {
    place.iter_mut().zip(value.to_bytes().as_ref()).for_each(|(to, from)| *to = *from);
}

impl GroupColumn {
    pub(super) fn new(kind: ValueKind, measured: Measured) -> Self {
        let summaries = match kind.number() {
            Some(physical) => Summaries::Numbers(physical, Vec::new()),
            None => Summaries::Others { summaries: Vec::new(), memory: 0 },
        };
        Self { kind, measured: measured.of(kind), summaries }
    }

    /// Returns an empty column for the same field.
    pub(super) fn part(&self) -> Self {
        Self::new(self.kind, self.measured)
    }

    pub(super) fn resize(&mut self, groups: usize) {
        match &mut self.summaries {
            Summaries::Numbers(physical, summaries) => summaries.resize(groups, NumberSummary::new(*physical)),
            Summaries::Others { summaries, .. } => {
                summaries.resize_with(groups, || Summary::new(self.kind, self.measured));
            }
        }
    }

    /// Adds each picked cell to its group. Skips cells whose number in `groups` does not exist.
    pub(super) fn add(&mut self, cells: &Cells<'_>, picked: &[u32], groups: &[u32]) {
        match &mut self.summaries {
            Summaries::Numbers(physical, summaries) => {
                with_physical!(*physical, N => add_numbers::<N>(summaries, (self.kind.null(), self.measured), cells, (picked, groups)));
            }
            Summaries::Others { summaries, memory } => {
                for (cell, group) in picked.iter().zip(groups) {
                    let Some(summary) = summaries.get_mut(*group as usize) else { continue };
                    let before = summary.memory();
                    let cell = *cell as usize;
                    summary.add_repeated(cells.is_valid(cell).then(|| cells.cell(cell)), 1);
                    *memory = *memory + summary.memory() - before;
                }
            }
        }
    }

    /// Adds the groups of another column. `groups` maps the group numbers of `other` to the group
    /// numbers of this column.
    pub(super) fn merge(&mut self, other: Self, groups: &[u32]) {
        match (&mut self.summaries, other.summaries) {
            (Summaries::Numbers(physical, own), Summaries::Numbers(_, others)) => {
                let measured = self.measured;
                with_physical!(*physical, N => for (other, group) in others.iter().zip(groups) {
                    if let Some(own) = own.get_mut(*group as usize) {
                        own.merge::<N>(other, measured);
                    }
                });
            }
            (Summaries::Others { summaries: own, memory }, Summaries::Others { summaries: others, .. }) => {
                for (other, group) in others.iter().zip(groups) {
                    let Some(summary) = own.get_mut(*group as usize) else { continue };
                    let before = summary.memory();
                    summary.merge(other);
                    *memory = *memory + summary.memory() - before;
                }
            }
            // Both columns are of the same field.
            _ => {}
        }
    }

    /// Keeps only the listed groups, in this order.
    pub(super) fn keep(&mut self, kept: &[u32]) {
        match &mut self.summaries {
            Summaries::Numbers(_, summaries) => {
                *summaries = kept.iter().filter_map(|group| summaries.get(*group as usize).copied()).collect();
            }
            Summaries::Others { summaries, memory } => {
                let mut old: Vec<Option<Summary>> = std::mem::take(summaries).into_iter().map(Some).collect();
                summaries.extend(kept.iter().filter_map(|group| old.get_mut(*group as usize)?.take()));
                *memory = summaries.iter().map(Summary::memory).sum();
            }
        }
    }

    /// Returns the memory use of the summaries in bytes.
    pub(super) fn memory(&self) -> usize {
        match &self.summaries {
            Summaries::Numbers(_, summaries) => summaries.capacity() * size_of::<NumberSummary>(),
            Summaries::Others { summaries, memory } => summaries.capacity() * size_of::<Summary>() + memory,
        }
    }

    /// Returns the summary of a group.
    pub(super) fn summary(&self, group: usize) -> Summary {
        let mut summary = Summary::new(self.kind, self.measured);
        match &self.summaries {
            Summaries::Numbers(physical, summaries) => {
                if let Some(known) = summaries.get(group) {
                    let size = physical.size();
                    let bounds = self.measured.bounds.then_some((&known.low[..size], &known.high[..size]));
                    let cells = known.values.saturating_add(known.nulls);
                    let total = self.measured.sum.then_some(known.total);
                    // This cannot fail, because all measured values are present.
                    let _ = summary.add_known(&CellStatistics { cells, nulls: known.nulls, total, bounds });
                }
            }
            Summaries::Others { summaries, .. } => {
                if let Some(known) = summaries.get(group) {
                    summary.clone_from(known);
                }
            }
        }
        summary
    }
}

fn add_numbers<N: Number>(
    summaries: &mut [NumberSummary],
    (null, measured): (Option<N>, Measured),
    cells: &Cells<'_>,
    (picked, groups): (&[u32], &[u32]),
) {
    let bytes = cells.values();
    let validity = cells.validity();
    for (cell, group) in picked.iter().zip(groups) {
        let Some(summary) = summaries.get_mut(*group as usize) else { continue };
        let cell = *cell as usize;
        let value = N::at(bytes, cell);
        match validity.is_some_and(|validity| !validity.is_valid(cell)) || null == Some(value) {
            true => summary.nulls = summary.nulls.saturating_add(1),
            false => summary.add(value, measured),
        }
    }
}
