//! Test helpers.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{Datatype, Scalar};
use tdb_array::{Array, Order, Query, WriteBatch};
use tempfile::TempDir;

/// All cells of a dense array: name, values, offsets and validity per attribute.
pub(crate) type AllCells = Vec<(String, Vec<u8>, Vec<u64>, Vec<bool>)>;

pub(crate) fn cells(array: &Array) -> AllCells {
    let names: Vec<String> = array.schema().attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    cells_of(array.read().order(Order::RowMajor), &names)
}

pub(crate) fn cells_of(query: Query, names: &[String]) -> AllCells {
    let mut all: AllCells = names.iter().map(|name| (name.clone(), Vec::new(), vec![0], Vec::new())).collect();
    for batch in query.select(names).unwrap().batches().unwrap() {
        let batch = batch.unwrap();
        for (name, values, offsets, valid) in &mut all {
            let column = batch.column(name).unwrap();
            for cell in 0..column.len() {
                values.extend_from_slice(column.cell_bytes(cell));
                offsets.push(values.len() as u64);
                valid.push(column.is_valid(cell));
            }
        }
    }
    all
}

/// Creates a temporary folder, and returns paths below it.
pub(crate) fn places<const N: usize>(names: [&str; N]) -> (TempDir, [PathBuf; N]) {
    let folder = tempfile::tempdir().unwrap();
    let places = names.map(|name| folder.path().join(name));
    (folder, places)
}

/// Returns the number of cells in the domain, saturating.
pub(crate) fn domain_cells(array: &Array) -> u64 {
    let lengths = array.schema().dimensions().iter().map(|dimension| {
        let (low, high) = dimension.domain_keys().unwrap_or((0, u64::MAX));
        (high - low).saturating_add(1)
    });
    lengths.fold(1, u64::saturating_mul)
}

/// Creates an array with these lengths and tile extents. The attribute `a` of `int32` counts the
/// cells from 0.
pub(crate) fn counted(path: &Path, lengths: &[u64], extents: &[u64]) -> Array {
    let mut builder = SchemaBuilder::dense();
    for (index, (len, extent)) in lengths.iter().zip(extents).enumerate() {
        let last = Scalar::U64(10 + len - 1);
        let dimension = Dimension::new(format!("d{index}"), Scalar::U64(10)..=last).with_datatype(Datatype::UInt64);
        builder = builder.dimension(dimension.with_tile(*extent));
    }
    let filters = FilterPipeline::new(vec![Filter::Zstd { level: 2 }]);
    let schema = builder.attribute(Attribute::new("a", Datatype::Int32).with_filters(filters)).build().unwrap();
    Array::create(path, schema).unwrap();
    let cells: Vec<i32> = (0..).take(usize::try_from(lengths.iter().product::<u64>()).unwrap()).collect();
    Array::open(path).unwrap().write().cells(WriteBatch::new().with("a", &cells)).unwrap();
    Array::open(path).unwrap()
}

/// Reads the metadata of a node.
pub(crate) fn metadata(node: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(node.join("zarr.json")).unwrap()).unwrap()
}

/// Changes the metadata of a node.
pub(crate) fn change(node: &Path, pointer: &str, value: Value) {
    let mut all = metadata(node);
    *all.pointer_mut(pointer).unwrap() = value;
    fs::write(node.join("zarr.json"), all.to_string()).unwrap();
}
