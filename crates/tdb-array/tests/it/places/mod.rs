//! Where the files of an array lie, for the arrays that tests and benches write.

#![allow(dead_code, unreachable_pub)] // not every test needs all of it

use tdb_types::{Feature, FormatVersion};

/// The name of the schema's file, where schemas have a folder.
pub const SCHEMA: &str = "__1_1_00000000000000000000000000000001";

/// Where the schema lies.
pub fn schema_path(version: FormatVersion) -> String {
    if version.has(Feature::SchemaFolder) { format!("__schema/{SCHEMA}") } else { "__array_schema.tdb".to_owned() }
}

/// Where a fragment lies, and the file that commits it.
pub struct FragmentPlace {
    pub name: String,
    pub folder: String,
    pub commit: Option<String>,
}

impl FragmentPlace {
    /// Of a fragment written from `start` to `end`, told from others of that time by a number.
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
