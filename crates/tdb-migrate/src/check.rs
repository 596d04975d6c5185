//! Comparison of the new array with the old one.

use std::ops::ControlFlow;

use tdb_array::{Array, ArrayError};

use tdb_diff::{Diff, Difference};
use tdb_job::Result;

/// Compares the visible metadata and cells of both arrays. Fields match by position, because a
/// format may rename a field. Schema differences are ignored, because they are requested.
///
/// # Errors
/// The arrays differ or are not comparable, or reading fails.
pub(super) fn reads_as(old: &Array, new: &Array, budget: usize) -> Result<()> {
    let mut first = None;
    let counts = Diff::new(old, new).by_place().budget(budget).run(|difference| {
        if matches!(difference, Difference::Schema { .. }) {
            return ControlFlow::Continue(());
        }
        first = Some(format!("{difference:?}"));
        ControlFlow::Break(())
    })?;
    let other_fields = || counts.incomparable.then(|| "the fields differ".to_owned());
    let Some(what) = first.or_else(other_fields) else { return Ok(()) };
    let what = format!("the new array differs from the old one: {what}");
    Err(ArrayError::Corrupt { file: new.storage().describe(""), what }.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
    use tdb_array::{ArrayOptions, CreateOptions, WriteBatch};
    use tdb_storage::MemoryStorage;
    use tdb_types::{Datatype, FormatVersion};

    use super::*;

    /// Creates a dense array with one attribute.
    fn array(version: u32, name: &str, datatype: Datatype, values: [i32; 2]) -> Array {
        let dimension = Dimension::new("x", 0i32..=1);
        let builder = SchemaBuilder::dense().version(FormatVersion::new(version).unwrap());
        let builder = builder.dimension(dimension.with_tile(2));
        let schema = builder.attribute(Attribute::new(name, datatype)).build().unwrap();
        let storage: Arc<dyn tdb_storage::Storage> = Arc::new(MemoryStorage::new());
        CreateOptions::new().create_on(&storage, schema).unwrap();
        let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let name = array.schema().attributes()[0].name().to_owned();
        match datatype {
            Datatype::Int32 => array.write().cells(WriteBatch::new().with(name, &values[..])).unwrap(),
            _ => array.write().cells(WriteBatch::new().with(name, &bytes[..2])).unwrap(),
        };
        ArrayOptions::new().open_on(storage).unwrap()
    }

    /// In formats 1 to 4, the name of an unnamed attribute is `__attr`.
    #[test]
    fn fields_of_other_names_are_compared() {
        let old = array(4, "", Datatype::Int32, [1, 2]);
        assert_eq!(old.schema().attributes()[0].name(), "__attr");
        for (version, name) in [(4, ""), (22, ""), (22, "other")] {
            let with = |values: [i32; 2]| array(version, name, Datatype::Int32, values);
            for (one, other) in [(&old, &with([1, 2])), (&with([1, 2]), &old)] {
                assert!(reads_as(one, other, 1 << 20).is_ok(), "{version} {name}");
            }
            for (one, other) in [(&old, &with([1, 3])), (&with([1, 3]), &old)] {
                let error = reads_as(one, other, 1 << 20).unwrap_err().to_string();
                assert!(error.contains("differs from the old one"), "{error}");
            }
        }
    }

    #[test]
    fn incomparable_arrays_are_an_error() {
        let old = array(22, "a", Datatype::Int32, [1, 2]);
        let error = reads_as(&old, &array(22, "a", Datatype::UInt8, [1, 2]), 1 << 20).unwrap_err();
        assert!(error.to_string().contains("the fields differ"), "{error}");
    }
}
