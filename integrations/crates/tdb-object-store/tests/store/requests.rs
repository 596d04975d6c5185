//! How many requests arrays cost on a store, and how many of them have to wait for others.

use std::sync::Arc;

use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};
use tdb_array::{ArrayOptions, CreateOptions, NewCells, NewColumn};
use tdb_object_store::ObjectStorage;
use tdb_storage::Storage;

use crate::counted::Counted;

/// An array as the reference library's counts were taken of: a dimension, a number, a string.
fn create(storage: &Arc<dyn Storage>) {
    let position = Dimension::new("position", Datatype::UInt32, Scalar::U32(0), Scalar::U32(999_999));
    let name = Attribute::new("name", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse().dimension(position).attribute(Attribute::new("depth", Datatype::Float64));
    let definition = ArrayDefinition::new(schema.attribute(name).build().unwrap()).unwrap();
    CreateOptions::new().create_on(storage, &definition).unwrap();
}

fn write(storage: &Arc<dyn Storage>, fragment: u32) {
    let positions: Vec<u32> = (0..1000).map(|cell| fragment * 1000 + cell).collect();
    let depths: Vec<f64> = positions.iter().map(|position| f64::from(*position)).collect();
    let cells = NewCells::new()
        .with("position", &positions)
        .with("depth", &depths)
        .with("name", NewColumn::strings(positions.iter().map(|position| format!("n{position}"))));
    ArrayOptions::new().open_on(storage.clone()).unwrap().write().cells(cells).unwrap();
}

#[test]
fn arrays_cost_few_requests() {
    let store = Arc::new(Counted::default());
    let storage: Arc<dyn Storage> = Arc::new(ObjectStorage::new(store.clone(), "memory://", "a").unwrap());
    create(&storage);
    write(&storage, 0);
    for fragment in 1..9 {
        write(&storage, fragment);
    }
    store.take();

    // The reference library: 24 to write a small fragment, 36 to open ten of them, 5 for a point then, 45 for all cells.
    let most = |what: &str, requests: usize, round_trips: usize| {
        let seen = store.take();
        println!("{what}: {} requests, {} round trips", seen.requests.len(), seen.round_trips());
        assert!(seen.requests.len() <= requests, "{what}: {:#?}", seen.requests);
        // On a busy machine one of many requests that are made at once may come late.
        assert!(seen.round_trips() <= round_trips + 2, "{what}: {}: {:#?}", seen.round_trips(), seen.requests);
    };
    write(&storage, 9);
    most("a small fragment, opening included", 11, 6);
    let array = ArrayOptions::new().open_on(storage).unwrap();
    most("open", 5, 2);
    array.fragments().unwrap();
    most("footers", 10, 1);
    let point = array.read().range("position", 5..=5).unwrap();
    assert_eq!(point.batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), 1);
    most("a point", 4, 1);
    assert_eq!(array.read().batches().unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), 10_000);
    most("all cells", 40, 1);
}
