//! Enumerations of new arrays, whose values come with the rows.

use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use tdb_array::tdb_schema::SchemaEvolution;
use tdb_array::{Array, Names};

use crate::definition::Creation;
use crate::{Opener, error};

/// What gives the enumerations of an array the values of dictionaries, as rows come.
#[derive(Clone, Debug)]
pub(crate) struct Enumerations {
    pub(crate) opener: Opener,
    pub(crate) creation: Creation,
}

impl Enumerations {
    /// The array, whose enumerations have all values of these rows' dictionaries. It blocks.
    ///
    /// # Errors
    /// Values that an array can't hold; it can't be read or changed.
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
        array.evolve(&evolution, &Names::new()).map_err(failed)?;
        self.opener.array(uri, None)
    }
}
