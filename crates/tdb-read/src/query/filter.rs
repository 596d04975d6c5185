//! Conditions of a query.

use std::collections::HashMap;
use std::sync::Arc;

use tdb_condition::{BoundCondition, Condition};
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Result, Snapshot};

use super::Query;

impl Query {
    /// Adds a condition on attributes and dimensions, which need not be selected. All conditions
    /// must hold.
    ///
    /// A sparse array returns only matching cells. A dense array replaces other cells by fill
    /// values, or omits other cells with [`only_matching`](Self::only_matching).
    ///
    /// The condition applies to the final value of a cell: the newest value, or the fill value of
    /// an unwritten cell. Cells of fragments from before an attribute was added have the fill value
    /// of the attribute.
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
        self.spec.filter = Some(match self.spec.filter {
            Some(filter) => filter.and(condition),
            None => condition,
        });
        self
    }

    /// Omits the cells of a dense array that do not meet the [condition](Self::filter), instead of
    /// replacing their values by fill values. Select dimensions to obtain the positions of cells.
    pub fn only_matching(mut self) -> Self {
        self.spec.only_matching = true;
        self
    }

    /// Binds the condition to the array's schema.
    pub(super) fn bound_filter(&self) -> Result<Option<Arc<BoundCondition>>> {
        let Some(condition) = &self.spec.filter else { return Ok(None) };
        let enumerations = enumerations_of(&self.array, condition)?;
        let bound = condition.bind(self.array.schema(), |name| enumerations.get(name).cloned());
        bound.map(|bound| Some(Arc::new(bound))).map_err(ArrayError::Filter)
    }
}

/// Returns the enumerations of the fields in a condition, read on first use.
fn enumerations_of(array: &Snapshot, condition: &Condition) -> Result<HashMap<String, Arc<tdb_schema::Enumeration>>> {
    let schema = array.schema();
    let enumerated = condition.fields().into_iter().filter_map(|field| match schema.field(field)? {
        FieldRef::Attribute(index) => schema.attributes().get(index)?.enumeration(),
        FieldRef::Dimension(_) => None,
    });
    enumerated.map(|name| Ok((name.to_owned(), array.enumeration(name)?))).collect()
}
