//! A snapshot of an array, with its columns in SQL.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::Result;
use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_schema::{ArraySchema, FieldRef, FieldType};
use tdb_array::{Array, ArrayError, Query};
use tdb_arrow::Conversion;

use crate::options::DenseCells;
use crate::ranges::Sides;
use crate::{TableOptions, error};

/// A snapshot of an array. Its columns are the dimensions, followed by the attributes.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) uri: String,
    pub(crate) array: Array,
    pub(crate) options: TableOptions,
    pub(crate) schema: SchemaRef,
    /// Conversion of all columns to Arrow. All scans share the dictionaries, because merging
    /// distinct dictionaries may overflow the key type.
    conversion: Conversion,
}

impl Opened {
    /// Reads the enumerations and the fragment metadata. The value types of the enumerations
    /// determine the types of columns. Blocks.
    ///
    /// # Errors
    /// The enumerations or the fragment metadata cannot be read, or a column has no Arrow type.
    pub(crate) fn new(uri: &str, array: Array, options: TableOptions) -> Result<Arc<Self>> {
        let names: Vec<&str> = fields(array.schema()).map(|(name, _)| name).collect();
        let conversion = Conversion::of_fields(&array, &names, &options.arrow());
        let conversion = conversion.map_err(|error| error::of_arrow(uri, error))?;
        let schema = conversion.schema().clone();
        array.fragments().map_err(|error| error::of_array(uri, error))?;
        Ok(Arc::new(Self { uri: uri.to_owned(), array, options, schema, conversion }))
    }

    /// Returns `true` if a reopened array has the same columns with the same types.
    pub(crate) fn has_columns_of(&self, array: &Array, options: &TableOptions) -> bool {
        Arc::ptr_eq(self.array.schema(), array.schema()) && self.options.binary_strings == options.binary_strings
    }

    /// Creates another snapshot of the same array, which must [have the same
    /// columns](Self::has_columns_of).
    ///
    /// # Errors
    /// The fragment metadata cannot be read.
    pub(crate) fn again(&self, array: Array, options: TableOptions) -> Result<Arc<Self>> {
        array.fragments().map_err(|error| error::of_array(&self.uri, error))?;
        let (uri, schema, conversion) = (self.uri.clone(), self.schema.clone(), self.conversion.clone());
        Ok(Arc::new(Self { uri, array, options, schema, conversion }))
    }

    /// Returns the conversion for a subset of columns.
    pub(crate) fn conversion(&self, columns: &[String]) -> Result<Conversion> {
        let places = columns.iter().map(|name| self.schema.index_of(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.conversion.project(&places))
    }

    /// Returns the schema of the columns at these indices.
    pub(crate) fn projected(&self, places: Option<&Vec<usize>>) -> Result<SchemaRef> {
        match places {
            None => Ok(self.schema.clone()),
            Some(places) => Ok(Arc::new(self.schema.project(places)?)),
        }
    }

    pub(crate) fn array_schema(&self) -> &Arc<ArraySchema> {
        self.array.schema()
    }

    /// Returns the array's field for a column.
    pub(crate) fn field(&self, name: &str) -> Option<(FieldRef, FieldType)> {
        let field = self.array_schema().field(name)?;
        Some((field, self.array_schema().field_type(field)?))
    }

    /// Returns the ranges of each dimension that contain rows. Returns `None` if there are no rows.
    ///
    /// # Errors
    /// The fragment metadata cannot be read.
    pub(crate) fn whole(&self) -> Result<Option<Sides>, ArrayError> {
        let schema = self.array_schema();
        let limits: Vec<DimRange> = (0..schema.dim_count()).map(|index| schema.limits(index)).collect();
        if !schema.is_dense() || self.options.dense == DenseCells::Domain {
            return Ok(Some(Sides::of(limits)));
        }
        let Some(written) = self.array.non_empty_domain()? else { return Ok(None) };
        let sides = limits.iter().zip(&written.0).map(|(limits, written)| limits.intersection(written));
        Ok(sides.collect::<Option<Vec<_>>>().map(Sides::of))
    }

    /// Creates a query of these columns within the given ranges. `None` matches no cell.
    pub(crate) fn query(&self, columns: &[String], sides: Option<&Sides>) -> Result<Query, ArrayError> {
        let query = self.array.read().select(columns)?;
        match sides {
            Some(sides) => sides.narrow(query.only_matching(), self.array_schema()),
            None => query.boxes([]),
        }
    }

    /// Returns the estimated number of cells: the sum over all fragments.
    pub(crate) fn cells(&self) -> Result<u64, ArrayError> {
        Ok(self.array.fragments()?.iter().map(tdb_array::Fragment::cell_count).fold(0, u64::saturating_add))
    }
}

/// Iterates over the columns: dimensions, then attributes.
pub(crate) fn fields(schema: &ArraySchema) -> impl Iterator<Item = (&str, FieldRef)> {
    let dimensions = (0..schema.dim_count()).map(FieldRef::Dimension);
    let all = dimensions.chain((0..schema.attributes().len()).map(FieldRef::Attribute));
    all.filter_map(|field| Some((schema.field_name(field)?, field)))
}

/// Returns the schema without columns.
pub(crate) fn nothing() -> SchemaRef {
    Arc::new(Schema::empty())
}
