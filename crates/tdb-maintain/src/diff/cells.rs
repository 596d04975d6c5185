//! Comparing the cells of two arrays.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tdb_array::{Array, Batch};
use tdb_rtree::NdRange;

use super::difference::{DiffCounts, Difference, Each};
use super::fields::Fields;
use super::side::Side;

use crate::Result;

/// Cells that are compared at a glance.
const GLANCE: usize = 4096;

/// Compares all cells, in row-major order.
pub(super) fn compare(
    (a, b): (&Array, &Array),
    fields: &Fields,
    budget: Option<usize>,
    counts: &mut DiffCounts,
    each: Each<'_>,
) -> Result<ControlFlow<()>> {
    let within = union(a.non_empty_domain()?, b.non_empty_domain()?);
    if a.schema().is_dense() && within.is_none() {
        return Ok(ControlFlow::Continue(()));
    }
    let allows_duplicates = a.schema().allows_duplicates() || b.schema().allows_duplicates();
    let mut a = Side::new(a, fields, within.as_ref(), budget)?;
    let mut b = Side::new(b, fields, within.as_ref(), budget)?;
    let mut told = Told { fields, counts, each };
    loop {
        let flow = match (a.next()?, b.next()?) {
            (None, None) => return Ok(ControlFlow::Continue(())),
            (Some((batch, at)), None) => {
                let flow = told.only(batch, at, true);
                a.pass(1);
                flow
            }
            (None, Some((batch, at))) => {
                let flow = told.only(batch, at, false);
                b.pass(1);
                flow
            }
            (Some((one, at)), Some((other, place))) => {
                let count = GLANCE.min(one.len() - at).min(other.len() - place);
                let (first, second) = (one.slice(at..at + count), other.slice(place..place + count));
                if fields.are_surely_equal(&first, &second) {
                    told.counts.equal_cells += count as u64;
                    a.pass(count);
                    b.pass(count);
                    continue;
                }
                if allows_duplicates {
                    told.groups(&mut a, &mut b)?
                } else {
                    let (passed, flow) = told.pairs(&first, &second);
                    a.pass(passed.0);
                    b.pass(passed.1);
                    flow
                }
            }
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
}

/// What is found, and who is told.
struct Told<'t, 'e> {
    fields: &'t Fields,
    counts: &'t mut DiffCounts,
    each: Each<'e>,
}

impl Told<'_, '_> {
    /// A cell that one array has alone.
    fn only(&mut self, batch: &Batch, at: usize, is_a: bool) -> ControlFlow<()> {
        let cell = Some(batch.slice(at..at + 1));
        let count = if is_a { &mut self.counts.cells_only_in_a } else { &mut self.counts.cells_only_in_b };
        *count += 1;
        let (a, b) = if is_a { (cell, None) } else { (None, cell) };
        (self.each)(Difference::Cell { a, b, fields: Vec::new() })
    }

    /// Cells of the same coordinates.
    fn both(&mut self, (a, at): (&Batch, usize), (b, place): (&Batch, usize)) -> ControlFlow<()> {
        let columns = a.columns().iter().zip(b.columns()).enumerate().skip(self.fields.dimensions);
        let differ = columns.filter(|(field, (a, b))| !self.fields.is_equal(*field, (a, at), (b, place)));
        let fields: Vec<String> = differ.map(|(field, _)| self.fields.names[field].clone()).collect();
        if fields.is_empty() {
            self.counts.equal_cells += 1;
            return ControlFlow::Continue(());
        }
        self.counts.differing_cells += 1;
        let (a, b) = (Some(a.slice(at..at + 1)), Some(b.slice(place..place + 1)));
        (self.each)(Difference::Cell { a, b, fields })
    }

    /// Cells of different coordinates each, up to the end of one of the batches; how many of each were compared.
    fn pairs(&mut self, a: &Batch, b: &Batch) -> ((usize, usize), ControlFlow<()>) {
        let (mut at, mut place) = (0, 0);
        while at < a.len() && place < b.len() {
            let ordering = self.fields.compare((a, at), (b, place));
            let flow = match ordering {
                Ordering::Less => self.only(a, at, true),
                Ordering::Greater => self.only(b, place, false),
                Ordering::Equal => self.both((a, at), (b, place)),
            };
            at += usize::from(ordering.is_le());
            place += usize::from(ordering.is_ge());
            if flow.is_break() {
                return ((at, place), flow);
            }
        }
        ((at, place), ControlFlow::Continue(()))
    }

    /// All cells of the least coordinates on either side. Those of equal coordinates come in no order: they are matched by value.
    fn groups(&mut self, a: &mut Side, b: &mut Side) -> Result<ControlFlow<()>> {
        let ordering = match (a.next()?, b.next()?) {
            (Some(one), Some(other)) => self.fields.compare(one, other),
            _ => return Ok(ControlFlow::Continue(())),
        };
        let ours = if ordering.is_le() { self.group(a)? } else { Vec::new() };
        let others = if ordering.is_ge() { self.group(b)? } else { Vec::new() };
        let mut unmatched: BTreeMap<Vec<u8>, Vec<Batch>> = BTreeMap::new();
        others
            .into_iter()
            .for_each(|cell| unmatched.entry(self.fields.values_of(&cell, false)).or_default().push(cell));
        for cell in ours {
            let equal = unmatched.get_mut(&self.fields.values_of(&cell, true)).and_then(Vec::pop);
            match equal {
                Some(_) => self.counts.equal_cells += 1,
                None if self.only(&cell, 0, true).is_break() => return Ok(ControlFlow::Break(())),
                None => {}
            }
        }
        for cell in unmatched.into_values().flatten() {
            if self.only(&cell, 0, false).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The next cell, and all that follow it with the same coordinates.
    fn group(&self, side: &mut Side) -> Result<Vec<Batch>> {
        let mut cells: Vec<Batch> = Vec::new();
        while let Some((batch, at)) = side.next()? {
            if cells.first().is_some_and(|first| self.fields.compare((first, 0), (batch, at)).is_ne()) {
                break;
            }
            cells.push(batch.slice(at..at + 1));
            side.pass(1);
        }
        Ok(cells)
    }
}

fn union(a: Option<NdRange>, b: Option<NdRange>) -> Option<NdRange> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.expand(&b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}
