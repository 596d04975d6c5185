//! What two arrays differ in.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use tdb_array::{Array, Fragment};

use crate::cells;
use crate::difference::{DiffCounts, Difference, Each};
use crate::documents::documents;
use crate::fields::Fields;
use tdb_job::Result;

/// A comparison of two arrays, or of one array at two times.
///
/// It is logical: of the same cells, however they are stored, nothing is told. Cells are compared by their coordinates, values by their
/// bits, those of enumerated attributes by what they stand for; where duplicates are allowed, as often as they are there. Of dense
/// arrays all cells within the non-empty domains of both are looked at, those that nobody wrote being fill values.
///
/// ```
/// use std::ops::ControlFlow;
/// use tdb_diff::Diff;
/// use tdb_array::Array;
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
/// let (a, b) = (Array::open(folder)?, Array::open(folder)?);
/// let counts = Diff::new(&a, &b).run(|difference| {
///     println!("{difference:?}");
///     ControlFlow::Continue(())
/// })?;
/// assert!(counts.is_same() && counts.equal_cells > 0);
/// # Ok::<(), tdb_job::MaintainError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Diff<'a> {
    a: &'a Array,
    b: &'a Array,
    budget: Option<usize>,
    cells: bool,
    physical: bool,
    by_place: bool,
}

impl<'a> Diff<'a> {
    /// Compares two arrays, each as of the time at which it is open.
    pub fn new(a: &'a Array, b: &'a Array) -> Self {
        Self { a, b, budget: None, cells: true, physical: false, by_place: false }
    }

    /// Bytes that reading takes at most, about, of both arrays together.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Compares no cells.
    pub fn without_cells(mut self) -> Self {
        self.cells = false;
        self
    }

    /// Also compares how arrays are stored: versions, orders, tile extents, filters, names of fragments.
    pub fn physical(mut self) -> Self {
        self.physical = true;
        self
    }

    /// Compares fields of the same place, whatever they are called; if not all of them can be compared, none is.
    pub fn by_place(mut self) -> Self {
        self.by_place = true;
        self
    }

    /// Hands over the differences, one after the other: of the schemas, the metadata, the fragments, the cells. These come in
    /// row-major order, of dense arrays box by box, as they were written. Memory stays within the budget, however many there are, but
    /// for different cells of the same coordinates in arrays with duplicates, which are held together.
    ///
    /// # Errors
    /// Whatever reading gives.
    pub fn run(&self, mut each: impl FnMut(Difference) -> ControlFlow<()>) -> Result<DiffCounts> {
        let mut counts = DiffCounts::default();
        let parts = [Self::schemas, Self::metadata, Self::fragments, Self::compare_cells];
        for part in parts {
            if part(self, &mut counts, &mut each)?.is_break() {
                counts.stopped = true;
                break;
            }
        }
        Ok(counts)
    }

    fn schemas(&self, counts: &mut DiffCounts, each: Each<'_>) -> Result<ControlFlow<()>> {
        for (key, a, b) in documents(&self.a.definition()?, &self.b.definition()?, self.physical)? {
            counts.schema += 1;
            if each(Difference::Schema { key, a, b }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn metadata(&self, counts: &mut DiffCounts, each: Each<'_>) -> Result<ControlFlow<()>> {
        let (a, b) = (self.a.metadata()?.entries(), self.b.metadata()?.entries());
        let keys: BTreeSet<&Vec<u8>> = a.keys().chain(b.keys()).collect();
        for key in keys.into_iter().filter(|key| a.get(*key) != b.get(*key)) {
            counts.metadata += 1;
            let (a, b) = (a.get(key).cloned(), b.get(key).cloned());
            if each(Difference::Metadata { key: key.clone(), a, b }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn fragments(&self, counts: &mut DiffCounts, each: Each<'_>) -> Result<ControlFlow<()>> {
        if !self.physical {
            return Ok(ControlFlow::Continue(()));
        }
        let names = |array: &Array| -> Result<BTreeSet<String>> {
            let names = array.fragments()?.iter().map(Fragment::name);
            Ok(names.map(|name| name.as_str().to_owned()).collect())
        };
        let (a, b) = (names(self.a)?, names(self.b)?);
        for name in a.symmetric_difference(&b) {
            counts.fragments += 1;
            let difference = Difference::Fragment { name: name.clone(), in_a: a.contains(name) };
            if each(difference).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn compare_cells(&self, counts: &mut DiffCounts, each: Each<'_>) -> Result<ControlFlow<()>> {
        if !self.cells {
            return Ok(ControlFlow::Continue(()));
        }
        let Some(fields) = Fields::of(self.a, self.b, self.by_place)? else {
            counts.incomparable = true;
            return Ok(ControlFlow::Continue(()));
        };
        cells::compare((self.a, self.b), &fields, self.budget.map(|bytes| bytes / 2), counts, each)
    }
}
