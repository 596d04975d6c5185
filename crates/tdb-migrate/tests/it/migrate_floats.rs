//! Float dimensions with the maximum domain: the width is infinite, and the tile extent may be
//! infinite.

use std::sync::Arc;

use crate::migrate::difference;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch};
use tdb_migrate::Migrate;
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{Datatype, FormatVersion, Layout, Scalar};

fn schema(datatype: Datatype, (low, high): (Scalar, Scalar), extent: Option<Scalar>) -> Option<ArrayDefinition> {
    let mut dimension = Dimension::new("x", low..=high).with_datatype(datatype);
    if let Some(extent) = extent {
        dimension = dimension.with_tile(extent);
    }
    let schema =
        SchemaBuilder::sparse().capacity(2).dimension(dimension).attribute(Attribute::new("a", Datatype::Int32));
    ArrayDefinition::new(schema.build().ok()?).ok()
}

fn write(definition: &ArrayDefinition, cells: WriteBatch<'_>) -> Array {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, definition).unwrap();
    ArrayOptions::new().open_on(storage.clone()).unwrap().write().cells(cells).unwrap();
    ArrayOptions::new().open_on(storage).unwrap()
}

fn check(array: &Array) {
    for migrate in [
        Migrate::new().to(FormatVersion::new(4).unwrap()),
        Migrate::new().to(FormatVersion::new(21).unwrap()).capacity(3),
        Migrate::new().cell_order(Layout::Hilbert),
        Migrate::new().cell_order(Layout::ColMajor).tile_order(Layout::ColMajor),
    ] {
        for migrate in [migrate.clone(), migrate.flatten()] {
            let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
            let report = migrate.plan(array).unwrap().into_storage(&storage, &CreateOptions::new()).unwrap();
            let new = ArrayOptions::new().open_on(storage).unwrap();
            let extent = |array: &Array| array.schema().dimensions()[0].tile_extent();
            assert_eq!(extent(&new), extent(array));
            assert_eq!((report.cells, difference(array, &new)), (5, None), "{migrate:?}");
        }
    }
}

#[test]
fn all_floats() {
    let values = [1, 2, 3, 4, 5];
    let extents = [None, Some(f32::INFINITY), Some(f32::MAX), Some(1.0), Some(1e38)];
    for extent in extents {
        let (low, high) = (f32::MIN, f32::MAX);
        let definition = schema(Datatype::Float32, (Scalar::F32(low), Scalar::F32(high)), extent.map(Scalar::F32));
        let places = [high, -1.0, 0.0, 1e38, low];
        check(&write(&definition.unwrap(), WriteBatch::new().with("x", &places[..]).with("a", &values[..])));
    }
    let extents = [None, Some(f64::INFINITY), Some(f64::MAX), Some(1.0), Some(1e308)];
    for extent in extents {
        let (low, high) = (f64::MIN, f64::MAX);
        let definition = schema(Datatype::Float64, (Scalar::F64(low), Scalar::F64(high)), extent.map(Scalar::F64));
        let places = [high, -1.0, 0.0, 1e308, low];
        check(&write(&definition.unwrap(), WriteBatch::new().with("x", &places[..]).with("a", &values[..])));
    }
}

/// An infinite extent exceeds a domain of finite width, as in the reference library.
#[test]
fn finite_domains_have_finite_tiles() {
    let of = |high: f32, extent: f32| {
        schema(Datatype::Float32, (Scalar::F32(0.0), Scalar::F32(high)), Some(Scalar::F32(extent))).is_some()
    };
    assert!(of(10.0, 11.0) && !of(10.0, 11.5) && !of(f32::MAX, f32::INFINITY) && !of(10.0, f32::NAN) && !of(10.0, 0.0));
}
