//! Prints the schema in a file of `__schema`. Without an argument, builds a schema and prints the
//! size of its file.
//!
//! ```sh
//! cargo run -p tdb-schema --example schema -- fixtures/v22-by-2.30.0-sparse-2d/array/__schema/__1*
//! ```

use tdb_schema::tdb_filters::{Filter, FilterPipeline};
use tdb_schema::tdb_types::{Datatype, Limits};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = match std::env::args().nth(1) {
        Some(path) => ArraySchema::parse_file(&std::fs::read(path)?, &Limits::default(), None)?.0,
        None => built()?,
    };
    println!("{} array, format {}", schema.array_type(), schema.version());
    println!("cells {}, tiles {}, capacity {}", schema.cell_order(), schema.tile_order(), schema.capacity());
    for dimension in schema.dimensions() {
        println!("dimension {}: {}, {}", dimension.name(), dimension.datatype(), dimension.own_filters());
    }
    for attribute in schema.attributes() {
        println!(
            "attribute {}: {} x {}, {}",
            attribute.name(),
            attribute.datatype(),
            attribute.cell_val_num(),
            attribute.filters(),
        );
    }
    println!("{} bytes as a file", schema.to_file()?.len());
    Ok(())
}

fn built() -> tdb_schema::Result<ArraySchema> {
    let position = Dimension::new("position", 0u32..=249_250_620);
    let filters = FilterPipeline::new(vec![Filter::Byteshuffle, Filter::Zstd { level: 5 }]);
    SchemaBuilder::sparse()
        .dimension(Dimension::string("chromosome"))
        .dimension(position.with_tile(10_000))
        .attribute(Attribute::new("quality", Datatype::Float32).with_filters(filters))
        .build()
}
