//! Properties that hold for any bytes, called by the driver in `fuzz_targets` and by ordinary tests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::sync::Arc;

use tdb_storage::{EntryKind, Manifest, ManifestStorage, MemoryStorage, Storage};

/// A parsed manifest survives a round trip. Its storage lists each entry once, with the same kind
/// and size, and no listing contains another entry.
pub fn manifest(data: &[u8]) {
    let manifest = match Manifest::parse(data) {
        Ok(manifest) => manifest,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let text = manifest.to_string();
    assert_eq!(Manifest::parse(text.as_bytes()).as_ref(), Ok(&manifest));
    assert!(manifest.changes(&manifest).is_empty());
    assert!(text.lines().count() == manifest.entries().len() + 1, "{text}");
    let storage = ManifestStorage::new(Arc::new(MemoryStorage::new()), manifest.clone());
    let mut folders = vec![String::new()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = storage.list(&folder).unwrap();
        assert!(entries.is_sorted_by(|a, b| a.name < b.name));
        if entries.is_empty() && !folder.is_empty() {
            found.push((format!("{folder}/"), 0));
        }
        for entry in entries {
            let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
            assert_eq!(storage.kind(&path).unwrap(), Some(entry.kind));
            match entry.kind {
                EntryKind::File => {
                    assert_eq!(storage.file_size(&path).unwrap(), Some(entry.size));
                    found.push((path, entry.size));
                }
                EntryKind::Folder => folders.push(path),
            }
        }
    }
    found.sort();
    let listed = manifest.entries().iter().map(|entry| (entry.path.clone(), entry.size));
    assert!(listed.eq(found));
}
