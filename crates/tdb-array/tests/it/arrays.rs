//! Arrays in memory, and those of the fixtures.

use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, CreateOptions, Query};
use tdb_filters::EncryptionKey;
use tdb_schema::ArraySchema;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::Fixture;

/// A cell, field by field.
pub(crate) type Row = Vec<Option<Vec<u8>>>;

/// Creates an array in memory.
pub(crate) fn create(schema: ArraySchema) -> Arc<dyn Storage> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, schema).unwrap();
    storage
}

/// Opens an array that one thread reads.
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
