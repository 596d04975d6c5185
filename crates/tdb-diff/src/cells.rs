//! Comparison of cells.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tdb_array::{Array, Batch};
use tdb_rtree::NdRange;

use crate::difference::{DiffCounts, Difference, Each};
use crate::fields::Fields;
use crate::side::Side;

use tdb_job::Result;
use tdb_rtree::disjoint;

/// Maximum number of cells per fast comparison of raw bytes.
const GLANCE: usize = 4096;

/// Compares all cells. Reads a sparse array in row-major order. Reads a dense array subarray by
/// subarray, each in row-major order.
pub(super) fn compare(
    arrays: (&Array, &Array),
    fields: &Fields,
    budget: Option<usize>,
    counts: &mut DiffCounts,
    each: Each<'_>,
) -> Result<ControlFlow<()>> {
    if !arrays.0.schema().is_dense() {
        return compare_within(arrays, fields, None, budget, counts, each);
    }
    for within in written(arrays)? {
        if compare_within(arrays, fields, Some(&within), budget, counts, each)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Returns disjoint subarrays that cover the non-empty domains of the fragments of both arrays.
fn written((a, b): (&Array, &Array)) -> Result<Vec<NdRange>> {
    let all = a.fragments()?.iter().chain(b.fragments()?);
    let boxes: Vec<NdRange> = all.filter_map(|fragment| fragment.non_empty_domain().cloned()).collect();
    Ok(disjoint(boxes))
}

/// Compares the cells of a subarray, or all cells.
fn compare_within(
    (a, b): (&Array, &Array),
    fields: &Fields,
    within: Option<&NdRange>,
    budget: Option<usize>,
    counts: &mut DiffCounts,
    each: Each<'_>,
) -> Result<ControlFlow<()>> {
    let allows_duplicates = a.schema().allows_duplicates() || b.schema().allows_duplicates();
    let mut a = Side::new(a, &fields.names, within, budget)?;
    let mut b = Side::new(b, &fields.names_in_b, within, budget)?;
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

/// State of a comparison.
struct Told<'t, 'e> {
    fields: &'t Fields,
    counts: &'t mut DiffCounts,
    each: Each<'e>,
}

impl Told<'_, '_> {
    /// Reports a cell that only one array has.
    fn only(&mut self, batch: &Batch, at: usize, is_a: bool) -> ControlFlow<()> {
        let cell = Some(batch.slice(at..at + 1));
        let count = if is_a { &mut self.counts.cells_only_in_a } else { &mut self.counts.cells_only_in_b };
        *count += 1;
        let (a, b) = if is_a { (cell, None) } else { (None, cell) };
        (self.each)(Difference::Cell { a, b, fields: Vec::new() })
    }

    /// Compares two cells with equal coordinates.
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

    /// Compares the cells of two batches without duplicates, until one batch ends or the callback
    /// stops the comparison. Returns the number of compared cells of each batch.
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

    /// Compares all cells with the smaller of the next coordinates of the two arrays. Cells with
    /// equal coordinates have no order and are matched by value.
    fn groups(&mut self, a: &mut Side, b: &mut Side) -> Result<ControlFlow<()>> {
        let ordering = match (a.next()?, b.next()?) {
            (Some(one), Some(other)) => self.fields.compare(one, other),
            _ => return Ok(ControlFlow::Continue(())),
        };
        let mut ours = if ordering.is_le() { self.group(a, true)? } else { BTreeMap::new() };
        let mut others = if ordering.is_ge() { self.group(b, false)? } else { BTreeMap::new() };
        for (values, own) in &mut ours {
            if let Some(other) = others.get_mut(values) {
                let equal = own.count.min(other.count);
                self.counts.equal_cells += equal;
                own.count -= equal;
                other.count -= equal;
            }
        }
        let left =
            ours.into_values().map(|equal| (equal, true)).chain(others.into_values().map(|equal| (equal, false)));
        for (equal, is_a) in left {
            for _ in 0..equal.count {
                if self.only(&equal.cell, 0, is_a).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads the next cells with equal coordinates and groups them by value.
    fn group(&self, side: &mut Side, is_a: bool) -> Result<BTreeMap<Vec<u8>, Equal>> {
        let mut first: Option<Batch> = None;
        let mut cells: BTreeMap<Vec<u8>, Equal> = BTreeMap::new();
        while let Some((batch, at)) = side.next()? {
            let cell = batch.slice(at..at + 1);
            if first.as_ref().is_some_and(|first| self.fields.compare((first, 0), (&cell, 0)).is_ne()) {
                break;
            }
            first.get_or_insert_with(|| cell.clone());
            let values = self.fields.values_of(&cell, is_a);
            cells.entry(values).or_insert(Equal { cell, count: 0 }).count += 1;
            side.pass(1);
        }
        Ok(cells)
    }
}

/// Cells with equal coordinates and values.
struct Equal {
    /// One of the cells.
    cell: Batch,
    count: u64,
}
