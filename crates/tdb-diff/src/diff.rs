//! Differences between two arrays.

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
/// By default, the comparison ignores how cells are stored. Cells match by coordinates. Values
/// compare by their bits, and enumerated attributes by the enumeration values. If an array allows
/// duplicates, both arrays must contain each cell equally often. For dense arrays, the comparison
/// covers the non-empty domains of all fragments of both arrays. Unwritten cells inside of these
/// domains have the fill value.
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
    /// Creates a comparison of two arrays, each at its opening time.
    pub fn new(a: &'a Array, b: &'a Array) -> Self {
        Self { a, b, budget: None, cells: true, physical: false, by_place: false }
    }

    /// Sets the approximate memory for reading both arrays, in bytes.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Skips the comparison of cells.
    pub fn without_cells(mut self) -> Self {
        self.cells = false;
        self
    }

    /// Includes storage properties: format version, capacity, tile and cell order, tile extents,
    /// filters and fragment names.
    pub fn physical(mut self) -> Self {
        self.physical = true;
        self
    }

    /// Matches fields by position instead of name. Compares no cells unless every field has a
    /// comparable counterpart.
    pub fn by_place(mut self) -> Self {
        self.by_place = true;
        self
    }

    /// Passes each difference to `each`, which may stop the comparison. Compares schemas, then
    /// metadata, fragments and cells. Reports cells in row-major order. For dense arrays, this
    /// order applies only within each of several disjoint subarrays.
    ///
    /// Memory use does not depend on the number of differences, with one exception: In arrays with
    /// duplicates, all distinct cells with the same coordinates are in memory at once.
    ///
    /// # Errors
    /// - Reading an array fails.
    /// - [`MaintainError::Schema`](crate::MaintainError::Schema) or
    ///   [`MaintainError::Text`](crate::MaintainError::Text) if a schema cannot be converted to
    ///   TOML.
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
