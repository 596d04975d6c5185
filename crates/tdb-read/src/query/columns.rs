//! Properties of a query.

use tdb_snapshot::Snapshot;

use super::all_fields;
use crate::Query;

impl Query {
    /// Returns the array of the query.
    #[must_use]
    pub fn array(&self) -> &Snapshot {
        &self.array
    }

    /// Returns the names of the result columns, in order.
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let array = tdb_array::Array::open(folder)?;
    /// assert_eq!(array.read().columns()[..2], ["y", "x"]); // all of a sparse array, dimensions first
    /// assert_eq!(array.read().select(["s", "x"])?.columns(), ["s", "x"]);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let schema = self.array.schema();
        match &self.spec.selected {
            None => all_fields(schema).into_iter().filter_map(|field| schema.field_name(field)).collect(),
            Some(names) => names.iter().map(String::as_str).collect(),
        }
    }
}
