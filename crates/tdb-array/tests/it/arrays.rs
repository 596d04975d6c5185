//! Arrays in memory, and arrays of the fixtures.

use std::sync::Arc;

use tdb_array::{
    Array, ArrayOptions, Coordinate, CreateOptions, Order, Query, Value, Write, WriteBatch, WriteColumn, Written,
};
use tdb_filters::EncryptionKey;
use tdb_schema::{ArraySchema, FieldType};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::Fixture;
use tdb_types::{CellValNum, Datatype};

/// The bytes of a field of a cell, or `None` for null.
pub(crate) type Cell = Option<Vec<u8>>;

/// A cell, field by field.
pub(crate) type Row = Vec<Cell>;

/// Creates an array in memory.
pub(crate) fn create(schema: ArraySchema) -> Arc<dyn Storage> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, schema).unwrap();
    storage
}

/// Opens an array to be read by one thread.
pub(crate) fn open(storage: &Arc<dyn Storage>) -> Array {
    ArrayOptions::new().threads(1).open_on(Arc::clone(storage)).unwrap()
}

/// Adds the key of the fixture, if it is encrypted.
pub(crate) fn with_key(options: ArrayOptions, fixture: &Fixture) -> ArrayOptions {
    options.key(fixture.expected().key().map(EncryptionKey::new))
}

/// Opens the array of a fixture.
pub(crate) fn open_fixture(fixture: &Fixture, threads: usize) -> Array {
    with_key(ArrayOptions::new().threads(threads), fixture).open_on(fixture.array_storage()).unwrap()
}

/// Returns `true` if the field has characters or strings, which have an order.
pub(crate) fn is_text(field: FieldType) -> bool {
    matches!(field.datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8)
}

/// Returns `true` if each cell of the field is a number.
pub(crate) fn is_number(field: FieldType) -> bool {
    let datatype = field.datatype;
    let is_other = datatype.is_string() || datatype.is_bytes() || datatype == Datatype::Any;
    field.cell_val_num == CellValNum::ONE && !is_other && !is_text(field)
}

/// Returns the footer of a metadata file, which ends with its length.
pub(crate) fn footer(metadata: &[u8]) -> &[u8] {
    let (rest, len) = metadata.split_last_chunk().unwrap();
    &rest[rest.len() - u64::from_le_bytes(*len) as usize..]
}

/// Counts all cells of a query.
pub(crate) fn count(query: Query) -> usize {
    query.batches().unwrap().map(|batch| batch.unwrap().len()).sum()
}

/// Reads the numbers of a field.
pub(crate) fn values<T: Value>(query: Query, name: &str) -> Vec<T> {
    let batches = query.select([name]).unwrap().batches().unwrap();
    batches.flat_map(|batch| batch.unwrap().column(name).unwrap().values::<T>().unwrap().to_vec()).collect()
}

/// Writes cells at consecutive coordinates along `x`, the only dimension of a dense or sparse
/// array.
pub(crate) fn write_line<'a, T: Value + Into<Coordinate>>(
    array: &Array,
    write: Write,
    x: &'a [T],
    cells: WriteBatch<'a>,
) -> Written {
    match array.schema().is_dense() {
        true => write.range("x", x[0]..=x[x.len() - 1]).unwrap().cells(cells).unwrap(),
        false => write.cells(cells.with("x", WriteColumn::values(x))).unwrap(),
    }
}

/// An array with all fields and cells, dimensions first.
pub(crate) struct Known {
    pub(crate) array: Array,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Known {
    pub(crate) fn read(array: Array, order: Order) -> Self {
        let schema = array.schema();
        let dimensions = schema.dimensions().iter().map(|dimension| dimension.name().to_owned());
        let attributes = schema.attributes().iter().map(|attribute| attribute.name().to_owned());
        let names: Vec<String> = dimensions.chain(attributes).collect();
        let rows = rows(array.read().order(order).select(&names).unwrap());
        Self { array, names, rows }
    }
}

/// Reads all rows.
pub(crate) fn rows(query: Query) -> Vec<Row> {
    let mut rows = Vec::new();
    for batch in query.batches().unwrap() {
        let batch = batch.unwrap();
        let cell = |cell: usize| batch.columns().iter().map(|column| column.cell(cell).map(<[u8]>::to_vec)).collect();
        rows.extend((0..batch.len()).map(cell));
    }
    rows
}
