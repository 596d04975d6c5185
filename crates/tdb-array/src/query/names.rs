//! Names of fields.

use tdb_schema::ArraySchema;

use crate::{ArrayError, Result};

/// Which dimension is called so.
pub(crate) fn dimension_index(schema: &ArraySchema, name: &str) -> Result<usize> {
    let dimensions = schema.dimensions();
    dimensions.iter().position(|known| known.name() == name).ok_or_else(|| {
        let known = dimensions.iter().map(|known| known.name().to_owned()).collect();
        ArrayError::UnknownDimension { name: name.to_owned(), known }
    })
}

/// The error that there is no such field or label.
pub(crate) fn unknown_field(schema: &ArraySchema, name: &str) -> ArrayError {
    let dimensions = schema.domain().dimensions().iter().map(|dimension| dimension.name().to_owned());
    let attributes = schema.attributes().iter().map(|attribute| attribute.name().to_owned());
    let labels = schema.labels().iter().map(|label| label.name.clone());
    ArrayError::UnknownField { name: name.to_owned(), known: dimensions.chain(attributes).chain(labels).collect() }
}
