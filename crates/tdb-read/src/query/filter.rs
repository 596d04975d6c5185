//! What cells must fulfil to be read.

use std::collections::HashMap;
use std::sync::Arc;

use tdb_condition::{BoundCondition, Condition};
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Result, Snapshot};

use super::Query;

impl Query {
    /// Reads cells that fulfil a condition on attributes and dimensions, whether these are selected or not. Of several
    /// conditions all must hold.
    ///
    /// In a sparse array other cells aren't there. In a dense array they are shown as cells that nobody has written: as fill
    /// values, null where the fill value is; with [`only_matching`](Self::only_matching) they aren't there either.
    ///
    /// A cell is judged as it is read: where a later one has taken its place, or it was never written, by that one or the fill
    /// value. So are cells of fragments that were written before the array had an attribute.
    ///
    /// ```
    /// use tdb_array::tdb_condition::field;
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = tdb_array::Array::open(folder)?;
    /// let query = array.read().select(["y", "x", "a"])?.filter(field("a").lt(3) & field("x").gt(1)).only_matching();
    /// for batch in query.batches()? {
    ///     let batch = batch?;
    ///     assert!(batch.column("a")?.values::<i32>()?.iter().all(|a| *a < 3));
    /// }
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    pub fn filter(mut self, condition: Condition) -> Self {
        self.filter = Some(match self.filter {
            Some(filter) => filter.and(condition),
            None => condition,
        });
        self
    }

    /// Leaves out cells of a dense array that don't fulfil the [condition](Self::filter), instead of showing fill values. So
    /// that it can be seen where a cell is, select dimensions, too.
    pub fn only_matching(mut self) -> Self {
        self.only_matching = true;
        self
    }

    /// The condition, held against the array's schema.
    pub(super) fn bound_filter(&self) -> Result<Option<Arc<BoundCondition>>> {
        let Some(condition) = &self.filter else { return Ok(None) };
        let enumerations = enumerations_of(&self.array, condition)?;
        let bound = condition.bind(self.array.schema(), |name| enumerations.get(name).cloned());
        bound.map(|bound| Some(Arc::new(bound))).map_err(ArrayError::Filter)
    }
}

/// The enumerations that a condition compares fields with, read where they haven't been.
fn enumerations_of(array: &Snapshot, condition: &Condition) -> Result<HashMap<String, Arc<tdb_schema::Enumeration>>> {
    let schema = array.schema();
    let enumerated = condition.fields().into_iter().filter_map(|field| match schema.field(field)? {
        FieldRef::Attribute(index) => schema.attributes().get(index)?.enumeration(),
        FieldRef::Dimension(_) => None,
    });
    enumerated.map(|name| Ok((name.to_owned(), array.enumeration(name)?))).collect()
}
