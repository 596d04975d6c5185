//! Arrays in memory.

use std::sync::Arc;

use tdb_arrow::tdb_array::tdb_filters::EncryptionKey;
use tdb_arrow::tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder,
};
use tdb_arrow::tdb_array::tdb_types::{Datatype, Scalar};
use tdb_arrow::tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch, WriteColumn};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};

/// An array in memory.
#[derive(Clone, Debug)]
pub(crate) struct InMemory {
    storage: Arc<dyn Storage>,
    key: Option<[u8; 32]>,
}

impl InMemory {
    pub(crate) fn new(definition: &ArrayDefinition, key: Option<[u8; 32]>) -> Self {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let options = match key {
            Some(key) => CreateOptions::new().key(EncryptionKey::new(key)),
            None => CreateOptions::new(),
        };
        options.create_on(&storage, definition).unwrap();
        Self { storage, key }
    }

    pub(crate) fn open(&self) -> Array {
        let options = ArrayOptions::new().threads(1);
        let options = match self.key {
            Some(key) => options.key(EncryptionKey::new(key)),
            None => options,
        };
        options.open_on(Arc::clone(&self.storage)).unwrap()
    }
}

/// Returns all fixtures, including those of older releases.
pub(crate) fn every_array() -> impl Iterator<Item = Fixture> {
    fixtures::all().into_iter().chain(fixtures::of_older_releases())
}

pub(crate) fn open(fixture: &Fixture) -> Array {
    let options = ArrayOptions::new().threads(1);
    let options = match fixture.expected().key() {
        Some(key) => options.key(EncryptionKey::new(key)),
        None => options,
    };
    options.open_on(fixture.array_storage()).unwrap_or_else(|error| panic!("{}: {error}", fixture.name()))
}

/// Creates a sparse array with one dimension `d` and one attribute.
pub(crate) fn of_attribute(attribute: Attribute, enumeration: Option<Enumeration>) -> InMemory {
    let dimension = Dimension::new("d", 0u64..=1 << 40);
    let mut builder = SchemaBuilder::sparse().dimension(dimension.with_tile(1000)).attribute(attribute);
    if let Some(enumeration) = &enumeration {
        builder = builder.enumeration(EnumerationRef::unplaced(enumeration.name()));
    }
    let mut definition = ArrayDefinition::new(builder.build().unwrap()).unwrap();
    if let Some(enumeration) = enumeration {
        definition = definition.with_enumeration(enumeration).unwrap();
    }
    InMemory::new(&definition, None)
}

/// Writes cells of the attribute `a` at 0, 1, ….
pub(crate) fn write(array: &InMemory, cells: usize, column: WriteColumn<'_>) {
    let places: Vec<u64> = (0..cells as u64).collect();
    let cells = WriteBatch::new().with("d", &places).with("a", column);
    array.open().write().any_utf8().cells(cells).unwrap();
}
