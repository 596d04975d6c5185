//! Parts of the schemas of arrays that tdb writes.

use tdb_array::tdb_schema::{Dimension, SchemaBuilder};

/// Returns a dimension of `side` coordinates from 0.
pub fn dimension(name: &str, side: i64, extent: i64) -> Dimension {
    Dimension::new(name, 0i64..=side - 1).with_tile(extent)
}

/// Adds the dimensions of a square.
pub fn square(builder: SchemaBuilder, side: i64, extent: i64) -> SchemaBuilder {
    ["y", "x"].iter().fold(builder, |builder, name| builder.dimension(dimension(name, side, extent)))
}
