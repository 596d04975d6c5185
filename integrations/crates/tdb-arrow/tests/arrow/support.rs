//! Arrays in memory.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, UInt64Array};
use tdb_arrow::Error;
use tdb_arrow::tdb_array::tdb_filters::EncryptionKey;
use tdb_arrow::tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder,
};
use tdb_arrow::tdb_array::tdb_types::{CellValNum, Datatype};
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
        let options = key.into_iter().fold(CreateOptions::new(), |all, key| all.key(EncryptionKey::new(key)));
        options.create_on(&storage, definition).unwrap();
        Self { storage, key }
    }

    pub(crate) fn open(&self) -> Array {
        options(self.key).open_on(Arc::clone(&self.storage)).unwrap()
    }
}

fn options(key: Option<[u8; 32]>) -> ArrayOptions {
    let options = ArrayOptions::new().threads(1);
    match key {
        Some(key) => options.key(EncryptionKey::new(key)),
        None => options,
    }
}

/// Returns all fixtures, including those of older releases.
pub(crate) fn every_array() -> impl Iterator<Item = Fixture> {
    fixtures::all().into_iter().chain(fixtures::of_older_releases())
}

pub(crate) fn open(fixture: &Fixture) -> Array {
    let opened = options(fixture.expected().key()).open_on(fixture.array_storage());
    opened.unwrap_or_else(|error| panic!("{}: {error}", fixture.name()))
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

/// Creates a sparse array with one nullable attribute.
pub(crate) fn nullable(datatype: Datatype, number: CellValNum) -> InMemory {
    of_attribute(Attribute::new("a", datatype).with_cell_val_num(number).nullable(false), None)
}

/// Writes a column as the attribute `a`.
pub(crate) fn take(array: &InMemory, column: ArrayRef) -> Result<(), Error> {
    let places: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..column.len() as u64));
    let batch = RecordBatch::try_from_iter([("d", places), ("a", column)]).unwrap();
    let open = array.open();
    open.write().cells(tdb_arrow::cells(&batch, &open)?)?;
    Ok(())
}

/// Writes cells of the attribute `a` at 0, 1, ….
pub(crate) fn write(array: &InMemory, cells: usize, column: WriteColumn<'_>) {
    let places: Vec<u64> = (0..cells as u64).collect();
    let cells = WriteBatch::new().with("d", &places).with("a", column);
    array.open().write().any_utf8().cells(cells).unwrap();
}
