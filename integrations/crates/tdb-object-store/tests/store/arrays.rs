//! Arrays on stores: create, write, read, consolidate and remove.

use std::sync::Arc;

use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_array::{ArrayError, ArrayOptions, CreateOptions, Order, WriteBatch, WriteColumn};
use tdb_object_store::StoreOptions;
use tdb_storage::Storage;

use crate::stores::each;

pub(crate) const FRAGMENTS: u32 = 10;
pub(crate) const CELLS: u32 = 1000;

pub(crate) fn create(storage: &Arc<dyn Storage>) {
    let position = Dimension::new("position", 0u32..=999_999);
    let schema = SchemaBuilder::sparse()
        .dimension(position)
        .attribute(Attribute::new("depth", Datatype::Float64))
        .attribute(Attribute::new("name", Datatype::StringAscii).with_cell_val_num(CellValNum::Var))
        .build()
        .unwrap();
    CreateOptions::new().create_on(storage, schema).unwrap();
}

pub(crate) fn write(storage: &Arc<dyn Storage>, fragment: u32) {
    try_write(storage, fragment).unwrap();
}

/// Writes a fragment, or returns the error message.
pub(crate) fn try_write(storage: &Arc<dyn Storage>, fragment: u32) -> Result<(), String> {
    let positions: Vec<u32> = (0..CELLS).map(|cell| cell * FRAGMENTS + fragment).collect();
    try_write_at(storage, &positions)
}

/// Writes cells at these positions.
pub(crate) fn try_write_at(storage: &Arc<dyn Storage>, positions: &[u32]) -> Result<(), String> {
    let depths: Vec<f64> = positions.iter().map(|position| f64::from(*position) / 2.0).collect();
    let names: Vec<String> = positions.iter().map(|position| format!("n{position}")).collect();
    let cells = WriteBatch::new()
        .with("position", WriteColumn::values(positions))
        .with("depth", WriteColumn::values(&depths))
        .with("name", WriteColumn::strings(&names));
    let array = ArrayOptions::new().open_on(storage.clone()).map_err(|error| error.to_string())?;
    let written = array.write().cells(cells).map_err(|error| error.to_string())?;
    assert_eq!(written.cells, positions.len() as u64);
    Ok(())
}

/// Returns the number of cells in all fragments, and the sum of their values.
pub(crate) fn written() -> (u64, f64) {
    (u64::from(CELLS * FRAGMENTS), (0..CELLS * FRAGMENTS).map(|position| f64::from(position) / 2.0).sum())
}

pub(crate) fn read(storage: &Arc<dyn Storage>) -> (u64, f64) {
    let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
    let (mut cells, mut sum) = (0, 0.0);
    for batch in array.read().order(Order::Unordered).batches().unwrap() {
        let batch = batch.unwrap();
        cells += batch.len() as u64;
        sum += batch.column("depth").unwrap().values::<f64>().unwrap().iter().sum::<f64>();
    }
    (cells, sum)
}

/// Opens the array and reads all cells. Returns their number.
pub(crate) fn count(options: &ArrayOptions, storage: &Arc<dyn Storage>) -> Result<u64, ArrayError> {
    let array = options.clone().open_on(storage.clone())?;
    array.read().batches()?.map(|batch| Ok(batch?.len() as u64)).sum()
}

#[test]
fn arrays_work_on_stores() {
    each(&StoreOptions::default(), |storage| {
        create(&storage);
        (0..FRAGMENTS).for_each(|fragment| write(&storage, fragment));
        assert_eq!(read(&storage), written());
    });
}
