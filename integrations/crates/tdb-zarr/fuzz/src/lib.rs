//! Properties that hold for any bytes. Called by the drivers in `fuzz_targets`, and by regular
//! tests.
//!
//! Input: the metadata of an array or group, a zero byte, and a chunk. Metadata with `zarr_format`
//! 2 are version 2.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::fs;
use std::panic;
use std::path::Path;
use std::sync::{Arc, Once};

use serde_json::Value;
use tdb_zarr::tdb_array::tdb_storage::{MemoryStorage, Storage};
use tdb_zarr::tdb_array::{Array, ArrayOptions};
use tdb_zarr::{Error, Export, Import};

/// Maximum number of elements per chunk. Larger chunks are slow, and test nothing more.
const MAX_CHUNK: u64 = 1 << 16;
/// Maximum number of cells to write, and approximately of bytes to hold.
const ENOUGH: u64 = 1 << 18;

/// Checks that an imported array exports to Zarr or is refused, and that the export imports again.
pub fn import(data: &[u8]) {
    hush();
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let (metadata, chunk) = (parts.next().unwrap_or_default(), parts.next());
    let parsed: Value = serde_json::from_slice(metadata).unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let zarr = folder.path().join("a.zarr");
    fs::create_dir(&zarr).unwrap();
    let is_old = parsed["zarr_format"] == 2;
    fs::write(zarr.join(if is_old { ".zarray" } else { "zarr.json" }), metadata).unwrap();
    if let Some(chunk) = chunk {
        write_first(&zarr, &parsed, chunk);
    }
    if is_large(&parsed) {
        return;
    }
    let made: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    match few(Import::new()).to_storage(&zarr, &made) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(imported) if imported.arrays == 1 && imported.groups == 0 => there_and_back(&made, folder.path()),
        Ok(_) => {}
    }
}

fn few(import: Import) -> Import {
    import.budget(1 << 16).threads(1).observer(|done, of| done < ENOUGH && of < ENOUGH)
}

/// Exports and imports an imported array, and compares.
fn there_and_back(storage: &Arc<dyn Storage>, folder: &Path) {
    let array = ArrayOptions::new().open_on(Arc::clone(storage)).unwrap();
    let again = folder.join("again.zarr");
    let export = Export::new().threads(1).observer(|done, of| done < ENOUGH && of < ENOUGH);
    match export.array(&array, &again) {
        Ok(_) => {}
        Err(Error::Refused { .. } | Error::Cell { .. } | Error::Unsupported { .. } | Error::Stopped) => return,
        Err(other) => panic!("{other:?}"),
    }
    let copied: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    match few(Import::new()).to_storage(&again, &copied) {
        Err(Error::Stopped) => {}
        Err(other) => panic!("{other:?}"),
        Ok(imported) => {
            assert!(imported.notes.is_empty(), "{imported:?}");
            let copy = ArrayOptions::new().open_on(copied).unwrap();
            assert_eq!(copy.schema().attributes(), array.schema().attributes());
            if imported.cells < ENOUGH {
                assert_eq!(cells(&copy), cells(&array));
            }
        }
    }
}

/// Returns the written cells.
fn cells(array: &Array) -> Vec<u8> {
    let mut all = Vec::new();
    let is_small = array.schema().dimensions().iter().try_fold(1_u64, |count, dimension| {
        let (low, high) = dimension.domain_keys()?;
        count.checked_mul(high - low + 1).filter(|count| *count <= ENOUGH)
    });
    if is_small.is_none() {
        return all;
    }
    for batch in array.read().batches().unwrap() {
        let batch = batch.unwrap();
        for attribute in array.schema().attributes() {
            let column = batch.column(attribute.name()).unwrap();
            (0..column.len()).for_each(|cell| all.extend_from_slice(column.cell_bytes(cell)));
        }
    }
    all
}

/// Writes the first chunk of an array.
fn write_first(zarr: &Path, metadata: &Value, chunk: &[u8]) {
    let dimensions = metadata["shape"].as_array().map_or(0, Vec::len).min(100);
    let encoding = &metadata["chunk_key_encoding"];
    let is_old = metadata["zarr_format"] == 2 || encoding["name"] == "v2";
    let said = [&encoding["configuration"]["separator"], &metadata["dimension_separator"]];
    let separator = said.into_iter().find_map(Value::as_str).unwrap_or(if is_old { "." } else { "/" });
    let mut numbers = vec!["0"; dimensions];
    if !is_old {
        numbers.insert(0, "c");
    }
    let name = if numbers.is_empty() { "0".to_owned() } else { numbers.join(if separator == "/" { "/" } else { "." }) };
    let file = zarr.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, chunk).unwrap();
}

/// `true` if chunks or elements are large.
fn is_large(metadata: &Value) -> bool {
    let cells = |shape: &Value| {
        let lengths = shape.as_array().into_iter().flatten().filter_map(Value::as_u64);
        lengths.fold(1, u64::saturating_mul)
    };
    let old = cells(&metadata["chunks"]);
    let of_codecs = metadata["codecs"].as_array().into_iter().flatten();
    let inner = of_codecs.map(|codec| cells(&codec["configuration"]["chunk_shape"])).max().unwrap_or(1);
    let len = metadata["data_type"]["configuration"]["length_bytes"].as_u64().unwrap_or(1);
    let outer = cells(&metadata["chunk_grid"]["configuration"]["chunk_shape"]);
    let raw = |value: &Value| {
        let digits: String = value.as_str().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap_or(1)
    };
    let elements = len.max(raw(&metadata["data_type"])).max(raw(&metadata["dtype"]));
    [old, inner, outer].into_iter().any(|cells| cells.saturating_mul(elements.max(8) / 8) > MAX_CHUNK)
}

/// Silences panics that tdb-zarr catches. Other panics are reported.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !tdb_zarr::is_caught() {
                told(info);
            }
        }));
    });
}
