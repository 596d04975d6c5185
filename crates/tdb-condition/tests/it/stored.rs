//! Stored conditions on enumerations.

use std::sync::Arc;

use tdb_condition::{Condition, ConditionError};
use tdb_schema::{ArraySchema, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_types::{CellValNum, Cells, Datatype};

fn schema(datatype: Datatype) -> ArraySchema {
    let rows = Dimension::new("row", 0i32..=9);
    let colour = Attribute::new("colour", datatype).with_enumeration("colours");
    let size = Attribute::new("size", Datatype::Int32);
    let builder = SchemaBuilder::sparse().dimension(rows).enumeration(EnumerationRef::unplaced("colours"));
    builder.attribute(colour).attribute(size).build().unwrap()
}

/// Returns an enumeration with the values `v0`, `v1` and so on.
fn enumeration(name: &str, count: usize) -> Option<Arc<Enumeration>> {
    let values = (0..count).map(|value| format!("v{value}"));
    (name == "colours").then(|| Arc::new(Enumeration::strings(name, "", Datatype::StringAscii, values).unwrap()))
}

#[test]
fn stored_conditions_contain_indices() {
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

/// Truncated to a byte, index 299 would be the index of another value.
#[test]
fn indices_too_large_for_cells_are_rejected() {
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

fn cells_of(attribute: Attribute) -> ArraySchema {
    let rows = Dimension::new("row", 0i32..=9);
    SchemaBuilder::sparse().dimension(rows).attribute(attribute).build().unwrap()
}

/// The reference library rejects an array with a set without bytes.
#[test]
fn no_set_without_bytes_is_stored() {
    let stored = |datatype, number, condition: &str| {
        let schema = cells_of(Attribute::new("a", datatype).with_cell_val_num(number));
        let condition = condition.parse::<Condition>().unwrap().to_stored(&schema, |_| None).unwrap();
        condition.display(&schema).to_string()
    };
    let text = |condition| stored(Datatype::StringUtf8, CellValNum::Var, condition);
    assert_eq!(text("a in ('')"), "a == \"\"");
    assert_eq!(text("a not in ('', '')"), "a != \"\"");
    assert_eq!(text("a in ('', 'b')"), "a in (\"\", \"b\")");
    let number = |condition| stored(Datatype::Int32, CellValNum::ONE, condition);
    assert_eq!(number("a in ()"), "a == 0 and a != 0");
    assert_eq!(number("a not in ()"), "a == 0 or a != 0");
}

/// Outside of sets, the reference library compares only the first character.
#[test]
fn stored_comparisons_of_characters_mean_the_first() {
    let schema = cells_of(Attribute::new("a", Datatype::Char).with_cell_val_num(CellValNum::from_code(3).unwrap()));
    let cells = b"abcabdb\0\0\xffbc";
    let truth = |condition: &Condition| {
        let mut truth = [false; 4];
        condition.bind_stored(&schema, &schema).unwrap().evaluate(&[Some(Cells::fixed(cells, 3))], &mut truth);
        truth.map(u8::from)
    };
    let a = || Condition::field("a");
    assert_eq!(truth(&a().eq("abc")), [1, 1, 0, 0]);
    assert_eq!(truth(&a().ne("abc")), [0, 0, 1, 1]);
    assert_eq!(truth(&a().lt("a")), [0, 0, 0, 1]);
    assert_eq!(truth(&a().is_in(["abc"])), [1, 0, 0, 0]);
    let stored = |condition: Condition| condition.to_stored(&schema, |_| None);
    assert_eq!(truth(&stored(a().eq("abc")).unwrap()), [1, 0, 0, 0]);
    assert_eq!(truth(&stored(a().ne("abc")).unwrap()), [0, 1, 1, 1]);
    assert_eq!(truth(&stored(a().eq("ab")).unwrap()), [0; 4]);
    assert_eq!(truth(&stored(a().ne("ab")).unwrap()), [1; 4]);
    assert!(matches!(stored(a().lt("abc")), Err(ConditionError::OrderOfCharacters { .. })));
}

/// With an OR within an OR, the reference library deletes more cells than the condition matches.
#[test]
fn nested_combinations_of_one_kind_are_stored_flat() {
    let size = |value: i32| Condition::field("size").lt(value);
    let nested = Condition::Or(vec![Condition::Or(vec![size(1), size(2)]), size(3)]);
    let stored = nested.to_stored(&schema(Datatype::UInt8), |_| None).unwrap();
    let Condition::Or(nodes) = &stored else { panic!("{stored}") };
    assert_eq!((nodes.len(), stored.depth()), (3, 2));
}
