//! Attributes must be able to hold the indices of all values of an enumeration.

use tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder, SchemaError, SchemaEvolution,
};
use tdb_types::Datatype;

fn values(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|value| format!("v{value}"))
}

fn definition(datatype: Datatype, count: usize) -> ArrayDefinition {
    let rows = Dimension::new("row", 0i32..=9);
    let colour = Attribute::new("colour", datatype).with_enumeration("colours");
    let builder = SchemaBuilder::sparse().dimension(rows).enumeration(EnumerationRef::unplaced("colours"));
    let schema = builder.attribute(colour).build().unwrap();
    let colours = Enumeration::strings("colours", "", Datatype::StringAscii, values(count)).unwrap();
    ArrayDefinition::new(schema).unwrap().with_enumeration(colours).unwrap()
}

#[test]
fn more_values_than_an_attribute_can_index_are_rejected() {
    for (datatype, most) in [(Datatype::UInt8, 256), (Datatype::Int8, 128), (Datatype::UInt16, 65_536)] {
        assert!(definition(datatype, most).check().is_ok(), "{datatype}");
        let error = definition(datatype, most + 1).check().unwrap_err();
        assert!(matches!(error, SchemaError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("colour"), "{error}");
    }
}

#[test]
fn extensions_follow_the_same_limit() {
    let definition = definition(Datatype::UInt8, 250);
    let extended =
        |count| SchemaEvolution::new().extend_enumeration("colours", values(count).skip(250)).build(&definition);
    assert_eq!(extended(256).unwrap().enumeration("colours").unwrap().len(), 256);
    assert!(extended(257).is_err());
    let small = Attribute::new("small", Datatype::Int8).with_enumeration("colours");
    assert!(SchemaEvolution::new().add_attribute(small).build(&definition).is_err());
}
