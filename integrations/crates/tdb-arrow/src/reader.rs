//! Queries as record batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use tdb_array::{Array, Batch, Batches, Query};

use crate::field::ArrowField;
use crate::keys::SCHEMA_KEY;
use crate::layout::Layout;
use crate::{ArrowOptions, Error, Result};

/// Conversion of batches with fixed fields to record batches. Holds the Arrow schema and the values
/// of enumerations.
///
/// ```
/// use tdb_array::Array;
/// use tdb_arrow::{ArrowOptions, Conversion};
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
/// let array = Array::open(folder)?;
/// let query = array.read().select(["x", "a"])?;
/// let conversion = Conversion::of(&query, &ArrowOptions::new())?;
/// assert_eq!(conversion.schema().field(1).name(), "a");
/// for batch in query.batches()? {
///     let batch = batch?;
///     let cells = batch.len();
///     assert_eq!(conversion.record_batch(batch)?.num_rows(), cells);
/// }
/// # Ok::<(), tdb_arrow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conversion {
    fields: Arc<[ArrowField]>,
    schema: SchemaRef,
    options: ArrowOptions,
}

impl Conversion {
    /// Creates the conversion for the batches of a query.
    ///
    /// # Errors
    /// Fails if an enumeration is unreadable or Arrow cannot hold its values, or if the array of a
    /// selected label is unreadable. The definition in the metadata also needs the arrays of all
    /// other labels.
    pub fn of(query: &Query, options: &ArrowOptions) -> Result<Self> {
        Self::of_fields(&Array::from(query.array().clone()), &query.columns(), options)
    }

    /// Creates the conversion for batches with these fields or labels, in this order.
    ///
    /// # Errors
    /// As for [`of`](Self::of). Also fails if a field does not exist.
    pub fn of_fields<S: AsRef<str>>(array: &Array, names: &[S], options: &ArrowOptions) -> Result<Self> {
        let fields = names.iter().map(|name| ArrowField::of(array, name.as_ref(), options));
        let fields: Arc<[ArrowField]> = fields.collect::<Result<_>>()?;
        let mut metadata = HashMap::new();
        if options.definition {
            let definition = tdb_schema_text::to_toml(&array.definition()?);
            metadata.insert(SCHEMA_KEY.to_owned(), definition.map_err(|source| Error::Definition { source })?);
        }
        let arrow: Vec<_> = fields.iter().map(|field| Arc::clone(&field.field)).collect();
        let schema = Arc::new(Schema::new_with_metadata(arrow, metadata));
        Ok(Self { fields, schema, options: options.clone() })
    }

    /// Returns the schema of the record batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the conversion for a subset of these fields, given by index, in this order. Shares
    /// the dictionary values with this conversion, to let Arrow recognize equal dictionaries.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn project(&self, places: &[usize]) -> Self {
        let fields: Arc<[ArrowField]> = places.iter().map(|place| self.fields[*place].clone()).collect();
        let arrow: Vec<_> = fields.iter().map(|field| Arc::clone(&field.field)).collect();
        let schema = Arc::new(Schema::new_with_metadata(arrow, self.schema.metadata().clone()));
        Self { fields, schema, options: self.options.clone() }
    }

    /// Returns the values of the enumeration of the field at an index, in order. Returns `None` if
    /// the field has no enumeration or does not exist.
    #[must_use]
    pub fn enumeration_values(&self, place: usize) -> Option<&ArrayRef> {
        match &self.fields.get(place)?.layout {
            Layout::Positions(_, values) | Layout::Values(_, values) => Some(values),
            _ => None,
        }
    }

    /// Converts a batch to a record batch. Shares its memory where the types agree.
    ///
    /// # Errors
    /// - [`Error::Cell`]: Arrow cannot hold a cell.
    /// - [`Error::Columns`]: the batch has other columns.
    /// - [`Error::TooLarge`]: a column has too many values for 32-bit offsets.
    pub fn record_batch(&self, batch: Batch) -> Result<RecordBatch> {
        let agree = batch.columns().iter().map(tdb_array::Column::name).eq(self.names());
        if !agree {
            let found = batch.columns().iter().map(|column| column.name().to_owned()).collect();
            return Err(Error::Columns { expected: self.names().map(str::to_owned).collect(), found });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.len()));
        let columns = self.fields.iter().zip(batch.into_columns());
        let columns = columns.map(|(field, column)| field.array(column, &self.options));
        let columns = columns.collect::<Result<_>>()?;
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.field.name().as_str())
    }
}

/// Returns the schema of the fields that a query reads by default: the attributes, preceded by the
/// dimensions for a sparse array.
///
/// # Errors
/// As for [`Conversion::of`].
pub fn schema(array: &Array, options: &ArrowOptions) -> Result<SchemaRef> {
    Ok(Conversion::of(&array.read(), options)?.schema)
}

/// Iterator over the record batches of a query, in query order.
///
/// ```
/// use tdb_array::Array;
/// use tdb_arrow::{ArrowOptions, Reader};
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-sparse-2d/array");
/// let array = Array::open(folder)?;
/// let reader = Reader::new(array.read().range("y", -10..=-7)?, &ArrowOptions::new())?;
/// let rows: usize = reader.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<_, _>>()?;
/// assert_eq!(rows, 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The iterator ends after an error. Errors are [`ArrowError::ExternalError`]s that wrap an
/// [`Error`].
#[derive(Debug)]
pub struct Reader {
    conversion: Conversion,
    batches: Option<Batches>,
}

impl Reader {
    /// Starts reading.
    ///
    /// # Errors
    /// As for [`Conversion::of`] and [`Query::batches`].
    pub fn new(query: Query, options: &ArrowOptions) -> Result<Self> {
        let conversion = Conversion::of(&query, options)?;
        Self::with(query, conversion)
    }

    /// Starts reading with an existing conversion for the same fields. Saves converting the array
    /// definition and the enumerations for each of many queries.
    ///
    /// # Errors
    /// As for [`Query::batches`].
    pub fn with(query: Query, conversion: Conversion) -> Result<Self> {
        Ok(Self { conversion, batches: Some(query.batches()?) })
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch>> {
        let batch = self.batches.as_mut()?.next()?;
        Some(batch.map_err(Error::from).and_then(|batch| self.conversion.record_batch(batch)))
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_batch();
        if !matches!(batch, Some(Ok(_))) {
            self.batches = None;
        }
        batch.map(|batch| batch.map_err(|error| ArrowError::from_external_error(Box::new(error))))
    }
}

impl std::iter::FusedIterator for Reader {}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.conversion.schema)
    }
}
