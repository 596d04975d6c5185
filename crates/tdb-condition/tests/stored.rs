//! What is stored in place of the values of enumerations.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::sync::Arc;

use tdb_condition::{Condition, ConditionError};
use tdb_schema::{ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{Datatype, Scalar};

fn schema(datatype: Datatype) -> ArraySchema {
    let rows = Dimension::new("row", Datatype::Int32, Scalar::I32(0), Scalar::I32(9));
    let colour = Attribute::new("colour", datatype).with_enumeration("colours");
    let size = Attribute::new("size", Datatype::Int32);
    let builder = SchemaBuilder::sparse().dimension(rows).enumeration(EnumerationRef::unplaced("colours"));
    builder.attribute(colour).attribute(size).build().unwrap()
}

/// The values `v0`, `v1` and so on.
fn enumeration(name: &str, count: usize) -> Option<Arc<Enumeration>> {
    let values = (0..count).map(|value| format!("v{value}"));
    (name == "colours").then(|| Arc::new(Enumeration::strings(name, "", Datatype::StringAscii, values).unwrap()))
}

#[test]
fn positions_stand_for_values() {
    let colour = || Condition::field("colour");
    let stored =
        |condition: Condition| condition.to_stored(&schema(Datatype::UInt16), |name| enumeration(name, 300)).unwrap();
    assert_eq!(stored(colour().eq("v299")), colour().eq(&299u16.to_le_bytes()));
    assert_eq!(
        stored(colour().is_in(["v1", "v258"])),
        colour().is_in([1u16, 258].map(|value| value.to_le_bytes().to_vec()))
    );
    let size = Condition::field("size").lt(5i32);
    assert_eq!(stored(colour().ne("v0").or(size)), colour().ne(&[0, 0]).or(Condition::field("size").lt(&[5, 0, 0, 0])));
}

/// Cut to a byte, position 299 would be that of another value.
#[test]
fn positions_that_no_cell_can_hold_are_refused() {
    let refused = |datatype, value: &str, count| {
        let condition = Condition::field("colour").eq(value);
        let error = condition.to_stored(&schema(datatype), |name| enumeration(name, count)).unwrap_err();
        matches!(error, ConditionError::NotEnumerated { value: named, .. } if named == value)
    };
    assert!(refused(Datatype::UInt8, "v299", 300));
    assert!(refused(Datatype::Int8, "v128", 200));
    assert!(refused(Datatype::UInt8, "unknown", 3));
    let last = Condition::field("colour").eq("v255");
    let stored = last.to_stored(&schema(Datatype::UInt8), |name| enumeration(name, 300)).unwrap();
    assert_eq!(stored, Condition::field("colour").eq(&[255]));
}
