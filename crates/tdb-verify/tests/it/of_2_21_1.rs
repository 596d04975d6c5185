//! An array whose metadata was consolidated by release 2.21.1: the UUIDs of the vacuum file and the
//! consolidated file differ.
//!
//! The folder `of_2_21_1` has its files. `tiledb` 0.27.1 wrote metadata three times and one
//! fragment, and consolidated the metadata (`sm.consolidation.mode=array_meta`).

use std::sync::Arc;

use crate::support::{files, on, open};
use tdb_maintain::Vacuum;
use tdb_storage::{LocalStorage, Storage};
use tdb_verify::{Doctor, FindingKind, Severity, Verify};

/// The consolidated file.
const CONSOLIDATED: &str = "__meta/__1795660337016_1795660337036_d93cc02302aa451797eac227a0d87cad";

fn array() -> Arc<dyn Storage> {
    on(&files(&LocalStorage::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/of_2_21_1"))))
}

fn findings(storage: &Arc<dyn Storage>) -> Vec<(Severity, FindingKind)> {
    let report = Verify::new().threads(1).storage(storage.clone()).unwrap();
    report.findings.iter().map(|finding| (finding.severity, finding.kind)).collect()
}

#[test]
fn the_other_uuid_of_a_vacuum_file_is_a_note() {
    let storage = array();
    assert_eq!(findings(&storage), [(Severity::Note, FindingKind::Replacement)]);
    let found = Doctor::new().plan(&open(&storage)).unwrap().found().to_vec();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_vacuum_deletes_the_listed_files() {
    let storage = array();
    let before = format!("{:?}", open(&storage).metadata().unwrap());
    assert!(before.contains("at 2"), "{before}");
    let report = Vacuum::metadata().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!((report.steps.len(), report.left.len()), (4, 0), "{report:?}");
    assert_eq!(format!("{:?}", open(&storage).metadata().unwrap()), before);
    assert_eq!(findings(&storage), []);
}

#[test]
fn a_lost_consolidated_file_is_a_finding() {
    let storage = array();
    storage.remove_file(CONSOLIDATED).unwrap();
    assert_eq!(findings(&storage), [(Severity::Finding, FindingKind::Replacement)]);
    assert!(!Doctor::new().plan(&open(&storage)).unwrap().found().is_empty());
}

/// A file with the same times and other content is not the consolidated one.
#[test]
fn another_file_of_the_same_times_is_a_finding() {
    let storage = array();
    let path = storage.list("__meta").unwrap().into_iter().find(|entry| entry.name.contains("7016_1795660337016_"));
    let first = storage.read(&format!("__meta/{}", path.unwrap().name)).unwrap();
    storage.remove_file(CONSOLIDATED).unwrap();
    storage.create_new(CONSOLIDATED, &first).unwrap();
    assert_eq!(findings(&storage), [(Severity::Finding, FindingKind::Replacement)]);
}
