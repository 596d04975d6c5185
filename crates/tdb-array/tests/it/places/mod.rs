//! File paths of the arrays that tests and benches write.

#![allow(dead_code, unreachable_pub)] // not every test needs all of it

use tdb_types::{Feature, FormatVersion};

/// Name of the schema file, in formats with a schema folder.
pub const SCHEMA: &str = "__1_1_00000000000000000000000000000001";

/// Returns the path of the schema.
pub fn schema_path(version: FormatVersion) -> String {
    if version.has(Feature::SchemaFolder) { format!("__schema/{SCHEMA}") } else { "__array_schema.tdb".to_owned() }
}

/// The folder of a fragment, and the file that commits it.
pub struct FragmentPlace {
    pub name: String,
    pub folder: String,
    pub commit: Option<String>,
}

impl FragmentPlace {
    /// Returns the paths of a fragment written from `start` to `end`. `number` makes the name
    /// unique.
    pub fn new(version: FormatVersion, start: u64, end: u64, number: u128) -> Self {
        if version.has(Feature::LegacyFragmentMetadata) {
            let name = format!("__{number:032x}_{end}");
            return Self { folder: name.clone(), name, commit: None };
        }
        if version.has(Feature::CombinedCoordinates) {
            let name = format!("__{start}_{end}_{number:032x}");
            return Self { folder: name.clone(), name, commit: None };
        }
        let name = format!("__{start}_{end}_{number:032x}_{version}");
        if version.has(Feature::CommitsFolder) {
            let (folder, commit) = (format!("__fragments/{name}"), format!("__commits/{name}.wrt"));
            return Self { name, folder, commit: Some(commit) };
        }
        Self { folder: name.clone(), commit: Some(format!("{name}.ok")), name }
    }
}
