//! Properties that hold for any bytes, called by the drivers in `fuzz_targets` and by ordinary
//! tests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::path::{Component, Path};

use tdb_serve::{Ranges, decoded_path};

/// Ranges are not empty, end within the file and do not overlap. The first byte of the data is the
/// size of the file.
pub fn range(data: &[u8]) {
    let Some((size, value)) = data.split_first() else { return };
    let (size, Ok(value)) = (u64::from(*size), std::str::from_utf8(value)) else { return };
    match Ranges::parse(value, size) {
        Ranges::Parts(mut parts) => {
            assert!(!parts.is_empty() && parts.len() <= 64);
            assert!(parts.iter().all(|range| range.start < range.end && range.end <= size));
            parts.sort_by_key(|range| range.start);
            assert!(parts.is_sorted_by(|a, b| a.end <= b.start), "{parts:?}");
            assert!(value.contains('='));
        }
        Ranges::Unsatisfiable => assert!(value.contains('-') && value.contains('=')),
        Ranges::Whole => {}
    }
}

/// A decoded path has only names and leads to a place below a folder.
pub fn path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(path) = decoded_path(text) else { return };
    assert!(text.starts_with('/'));
    let names: Vec<&str> = path.split('/').collect();
    let (last, folders) = names.split_last().unwrap();
    assert!(
        folders.iter().all(|name| !name.is_empty()) && (!last.is_empty() || path.is_empty() || path.ends_with('/'))
    );
    assert!(names.iter().all(|name| !name.starts_with('.')));
    assert!(!path.contains(|char: char| char.is_control() || char == '\\'));
    assert!(Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))), "{path}");
}
