//! Schemas for the fuzz targets.

use tdb_fragment::tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_fragment::tdb_types::{CellValNum, Datatype, FormatVersion};

/// The number of schemas.
pub const COUNT: u8 = 5;

/// Returns the schema selected by a byte.
pub fn schema(choice: u8) -> ArraySchema {
    let rows = || Dimension::new("row", -10i32..=30);
    let columns = || Dimension::new("column", 5u64..=u64::MAX - 7);
    let built = match choice % COUNT {
        0 => attributes(SchemaBuilder::sparse().dimension(rows()).dimension(Dimension::string("name")), 22),
        1 => attributes(SchemaBuilder::dense().dimension(rows().with_tile(4)), 22),
        2 => {
            let dimension = |name| Dimension::new(name, i64::MIN..=i64::MAX - 1).with_tile(1);
            attributes(SchemaBuilder::dense().dimension(dimension("x")).dimension(dimension("y")), 7)
        }
        3 => attributes(SchemaBuilder::sparse().dimension(columns()).dimension(rows()), 23),
        _ => {
            let float = Dimension::new("x", -1.0f64..=1.0);
            attributes(SchemaBuilder::sparse().dimension(float), 4)
        }
    };
    built.build().expect("the schemas are sound")
}

fn attributes(builder: SchemaBuilder, version: u32) -> SchemaBuilder {
    let version = FormatVersion::new(version).expect("a known version");
    let nullable = |attribute: Attribute| if version.number() < 7 { attribute } else { attribute.nullable(false) };
    let three = CellValNum::from_code(3).expect("not zero");
    builder
        .version(version)
        .capacity(10)
        .attribute(nullable(Attribute::new("a", Datatype::Int32)))
        .attribute(Attribute::new("b", Datatype::StringAscii).with_cell_val_num(CellValNum::Var))
        .attribute(nullable(Attribute::new("c", Datatype::Char).with_cell_val_num(three)))
        .attribute(Attribute::new("d", Datatype::Float64))
}
