//! Record batches of queries.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use tdb_array::{Array, Batch, Batches, Query};

use crate::field::ArrowField;
use crate::keys::SCHEMA_KEY;
use crate::layout::Layout;
use crate::{ArrowOptions, Error, Result};

/// How batches of some fields of an array become record batches: the schema in Arrow's terms, and the values of enumerations.
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
    /// For the batches of a query.
    ///
    /// # Errors
    /// An enumeration can't be read, or holds what Arrow can't; or the array of a label, or, for the definition in the
    /// metadata, those of all labels.
    pub fn of(query: &Query, options: &ArrowOptions) -> Result<Self> {
        Self::of_fields(&Array::from(query.array().clone()), &query.columns(), options)
    }

    /// For batches with these fields or labels of an array, in this order.
    ///
    /// # Errors
    /// As [`of`](Self::of); there is no such field.
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

    /// The schema of the record batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// For batches with some of these fields, by their places, in this order. What enumerations became is shared with this one, so that
    /// Arrow knows dictionaries of both to be the same.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn project(&self, places: &[usize]) -> Self {
        let fields: Arc<[ArrowField]> = places.iter().map(|place| self.fields[*place].clone()).collect();
        let arrow: Vec<_> = fields.iter().map(|field| Arc::clone(&field.field)).collect();
        let schema = Arc::new(Schema::new_with_metadata(arrow, self.schema.metadata().clone()));
        Self { fields, schema, options: self.options.clone() }
    }

    /// The values of the enumeration that the field at a place has, in their order. `None` if it has no enumeration, or there is no
    /// such field.
    #[must_use]
    pub fn enumeration_values(&self, place: usize) -> Option<&ArrayRef> {
        match &self.fields.get(place)?.layout {
            Layout::Positions(_, values) | Layout::Values(_, values) => Some(values),
            _ => None,
        }
    }

    /// A batch as a record batch, sharing its memory wherever the types agree.
    ///
    /// # Errors
    /// [`Error::Cell`] for a cell that Arrow can't hold; [`Error::Columns`] if these are other columns.
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

/// The schema of all fields that a query reads unless it says otherwise: the attributes, and of a sparse array the dimensions
/// before them.
///
/// # Errors
/// As [`Conversion::of`].
pub fn schema(array: &Array, options: &ArrowOptions) -> Result<SchemaRef> {
    Ok(Conversion::of(&array.read(), options)?.schema)
}

/// The record batches of a query's result, in its order.
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
/// After an error it ends. Errors are [`ArrowError::ExternalError`]s around an [`Error`].
#[derive(Debug)]
pub struct Reader {
    conversion: Conversion,
    batches: Option<Batches>,
}

impl Reader {
    /// Starts reading.
    ///
    /// # Errors
    /// As [`Conversion::of`], and as [`Query::batches`].
    pub fn new(query: Query, options: &ArrowOptions) -> Result<Self> {
        let conversion = Conversion::of(&query, options)?;
        Self::with(query, conversion)
    }

    /// The same with a conversion that was made for such a query before: with many of them, the array's definition and
    /// enumerations needn't be told each time.
    ///
    /// # Errors
    /// As [`Query::batches`].
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
