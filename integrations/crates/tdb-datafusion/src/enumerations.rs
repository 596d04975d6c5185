//! Enumerations of new arrays, extended while rows are written.

use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use tdb_array::tdb_schema::SchemaEvolution;
use tdb_array::{Array, WriteIds};

use crate::definition::Creation;
use crate::{Opener, error};

/// Settings for extending the enumerations of an array by the dictionary values of rows.
#[derive(Clone, Debug)]
pub(crate) struct Enumerations {
    pub(crate) opener: Opener,
    pub(crate) creation: Creation,
}

impl Enumerations {
    /// Extends the enumerations by the dictionary values of these rows, and returns the updated
    /// array. Blocks.
    ///
    /// # Errors
    /// Unsupported values, or the array cannot be read or changed.
    pub(crate) fn with_values(&self, uri: &str, array: Array, rows: &RecordBatch) -> Result<Array> {
        if !rows.columns().iter().any(|column| matches!(column.data_type(), DataType::Dictionary(..))) {
            return Ok(array);
        }
        let failed = |error| error::of_array(uri, error);
        let wanted = self.creation.definition(&rows.schema(), Some(rows))?;
        let (mut evolution, mut is_new) = (SchemaEvolution::new(), false);
        for enumeration in wanted.enumerations() {
            let known = array.enumeration(enumeration.name()).map_err(failed)?;
            let positions = known.positions();
            let new: Vec<&[u8]> = enumeration.values().filter(|value| !positions.contains_key(value)).collect();
            if !new.is_empty() {
                evolution = evolution.extend_enumeration(enumeration.name(), new);
                is_new = true;
            }
        }
        if !is_new {
            return Ok(array);
        }
        array.evolve(&evolution, &WriteIds::new()).map_err(failed)?;
        self.opener.array(uri, None)
    }
}
