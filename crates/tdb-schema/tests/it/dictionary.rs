//! Support for dictionary filters: compared with data that release 2.30.0 reads back, in arrays of
//! every format version.

use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, SchemaBuilder, SchemaError, SchemaEvolution};
use tdb_types::{ByteReader, CellValNum, Datatype, Feature, FormatVersion};

const DICTIONARY: Filter = Filter::Dictionary { level: -1 };
const ZSTD: Filter = Filter::Zstd { level: 3 };

fn pipeline(filters: &[Filter]) -> FilterPipeline {
    FilterPipeline::new(filters.to_vec())
}

fn rows() -> SchemaBuilder {
    SchemaBuilder::sparse().dimension(Dimension::new("row", 0i32..=99))
}

fn words(datatype: Datatype, filters: &[Filter]) -> Attribute {
    Attribute::new("word", datatype).with_cell_val_num(CellValNum::Var).with_filters(pipeline(filters))
}

/// Returns the first version that supports dictionaries for the datatype.
fn since(datatype: Datatype) -> u32 {
    if datatype == Datatype::StringAscii { 13 } else { 17 }
}

fn refused(result: Result<ArraySchema, SchemaError>, field: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(field) && error.contains("dictionary does not support"), "{error}");
}

#[test]
fn dictionaries_of_strings_work_since_a_version() {
    for version in FormatVersion::all() {
        for datatype in [Datatype::StringAscii, Datatype::StringUtf8] {
            for filters in [&[DICTIONARY][..], &[DICTIONARY, ZSTD]] {
                let plain = rows().attribute(words(datatype, filters)).version(version).build();
                let nullable = rows().attribute(words(datatype, filters).nullable(false)).version(version).build();
                if version.number() >= since(datatype) {
                    assert!(plain.is_ok() && nullable.is_ok(), "{datatype} in {version}");
                    continue;
                }
                let error = plain.unwrap_err().to_string();
                let told = format!("before format version {}, found {version}", since(datatype));
                assert!(error.contains("attribute \"word\"") && error.contains(&told), "{version}: {error}");
                assert!(nullable.is_err());
            }
        }
        if version.has(Feature::PerDimensionFiles) {
            let own = Dimension::string("word").with_filters(pipeline(&[DICTIONARY]));
            let own = SchemaBuilder::sparse().dimension(own).version(version);
            let inherited = SchemaBuilder::sparse().dimension(Dimension::string("word"));
            let inherited = inherited.coords_filters(pipeline(&[DICTIONARY, ZSTD])).version(version);
            for builder in [own, inherited] {
                match version.number() >= 13 {
                    true => assert!(builder.build().is_ok(), "{version}"),
                    false => refused(builder.build(), "dimension \"word\""),
                }
            }
        }
    }
}

#[test]
fn dictionaries_of_anything_else_are_refused() {
    let fixed = Attribute::new("word", Datatype::StringAscii).with_cell_val_num(CellValNum::from_code(3).unwrap());
    let attributes = [
        fixed.with_filters(pipeline(&[DICTIONARY])),
        words(Datatype::Char, &[DICTIONARY]),
        words(Datatype::Blob, &[DICTIONARY]),
        Attribute::new("word", Datatype::Int32).with_filters(pipeline(&[DICTIONARY])),
        words(Datatype::StringAscii, &[DICTIONARY, DICTIONARY]),
    ];
    for attribute in attributes {
        refused(rows().attribute(attribute).build(), "attribute \"word\"");
    }
    let cause = |attribute| rows().attribute(attribute).build().unwrap_err().to_string();
    let fixed = Attribute::new("word", Datatype::StringAscii).with_filters(pipeline(&[DICTIONARY]));
    assert!(cause(fixed).ends_with("does not support strings of fixed length"));
    assert!(
        cause(words(Datatype::StringAscii, &[DICTIONARY, DICTIONARY]))
            .ends_with("does not support repetition in a pipeline")
    );
    refused(rows().coords_filters(pipeline(&[DICTIONARY])).build(), "dimension \"row\"");
    let offsets = || rows().offsets_filters(pipeline(&[DICTIONARY]));
    refused(offsets().attribute(words(Datatype::StringAscii, &[ZSTD])).build(), "attribute \"word\"");
    // The offsets filters are unused, because the dictionary carries the offsets.
    assert!(offsets().attribute(words(Datatype::StringAscii, &[DICTIONARY])).build().is_ok());
    let validity = rows().validity_filters(pipeline(&[DICTIONARY]));
    let nullable = Attribute::new("word", Datatype::Int32).nullable(false);
    refused(validity.attribute(nullable).build(), "attribute \"word\"");
}

/// A schema of version 12 from another writer, with a dictionary whose data cannot be read.
fn made_by_others() -> ArraySchema {
    let version = FormatVersion::new(13).unwrap();
    let schema = rows().attribute(words(Datatype::StringAscii, &[DICTIONARY])).version(version).build().unwrap();
    let mut payload = schema.to_payload().unwrap();
    payload[..4].copy_from_slice(&12u32.to_le_bytes());
    ArraySchema::parse(&mut ByteReader::new(&payload)).unwrap()
}

#[test]
fn arrays_with_unreadable_dictionaries_evolve() {
    let definition = ArrayDefinition::new(made_by_others()).unwrap();
    assert!(definition.check().unwrap_err().to_string().contains("dictionary does not support"));
    let evolution = SchemaEvolution::new().add_attribute(Attribute::new("count", Datatype::Int64));
    let evolved = evolution.build(&definition).unwrap();
    assert_eq!(evolved.schema().attr_count(), 2);
    let evolved = SchemaEvolution::new().drop_attribute("word").build(&evolved).unwrap();
    assert!(evolved.check().is_ok());
    let more = words(Datatype::StringAscii, &[DICTIONARY]);
    let error = SchemaEvolution::new().add_attribute(more).build(&evolved).unwrap_err().to_string();
    assert!(error.contains("attribute \"word\": dictionary does not support"), "{error}");
}
