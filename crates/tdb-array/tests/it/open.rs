//! Every fixture opens and matches its schema and footers.

use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory};

#[test]
fn every_fixture_opens() {
    let mut opened = 0;
    for fixture in tdb_testkit::fixtures::all() {
        if fixture.name().ends_with("-encrypted") {
            continue;
        }
        let array = ArrayOptions::new().open_on(fixture.array_storage());
        let array = array.unwrap_or_else(|error| panic!("{}: {error}", fixture.name()));
        assert!(!array.schema().domain().dimensions().is_empty());
        for fragment in array.fragments().unwrap() {
            let tree = fragment.rtree().unwrap_or_else(|error| panic!("{}: {error}", fixture.name()));
            let tiles = if fragment.footer().is_dense() { 0 } else { fragment.tile_count() };
            assert_eq!(tree.leaf_count(), tiles, "{}", fixture.name());
            assert!(fragment.bytes().unwrap() > 0);
        }
        opened += 1;
    }
    assert!(opened > 40, "{opened} fixtures");
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Array::open(folder.path().join("nothing")).unwrap_err();
    assert!(matches!(missing, ArrayError::NotFound { .. }), "{missing}");
    let empty = Array::open(folder.path()).unwrap_err();
    assert!(matches!(empty, ArrayError::NotAnArray { .. }), "{empty}");
    assert_eq!(empty.category(), ErrorCategory::Unavailable);
}
