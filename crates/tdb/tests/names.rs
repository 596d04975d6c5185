//! Tests that each item has one path, and that no item of `tdb-array` is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The last names of all items that a crate root re-exports, without re-exported crates.
fn names(of: &str) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of).join("src/lib.rs");
    let source = fs::read_to_string(source).expect("source text");
    let uses = source.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
    let lists = uses.filter(|path| path.contains("::"));
    let items = lists.flat_map(|path| path.rsplit("::").next().unwrap_or_default().split(','));
    let items = items.map(|item| item.trim_matches(|c: char| c.is_whitespace() || "{}".contains(c)).to_owned());
    items.filter(|item| !item.is_empty()).collect()
}

#[test]
fn all_of_arrays_is_at_the_root_and_nothing_else() {
    // Items of lower layers, which `tdb-array` re-exports for users of that crate alone.
    let of_layers = ["MemberKind", "MetadataValue", "MetadataView"].map(str::to_owned);
    let mut expected: BTreeSet<String> = names("tdb-array").into_iter().collect();
    assert!(expected.contains("Array") && expected.contains("Written"), "{expected:?}");
    for name in &of_layers {
        assert!(expected.remove(name), "{name}");
    }
    expected.insert("Result".to_owned());
    let here = names("tdb");
    let set: BTreeSet<String> = here.iter().cloned().collect();
    assert_eq!(set.len(), here.len(), "a name is there twice");
    assert_eq!(set, expected);
}

#[test]
fn what_keeps_arrays_healthy_is_a_module() {
    assert!(names("tdb-maintain").iter().any(|known| known == "Report"));
    let verify = names("tdb-verify");
    assert!(["Verify", "Finding", "Manifest"].iter().all(|name| verify.iter().any(|known| known == name)));
    assert!(tdb::verify::Verify::new().storage(std::sync::Arc::new(tdb::storage::MemoryStorage::new())).is_ok());
}
