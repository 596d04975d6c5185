//! In-memory cache of immutable files: schemas, fragment footers, consolidated commits, metadata.

use std::sync::Arc;

use object_store::path::Path;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tdb_storage::{Part, Request};
use tdb_types::TimestampedName;
use tdb_types::names::{ENUMERATIONS_FOLDER, FRAGMENT_METADATA};

/// Maximum size of a cached response in bytes. Larger responses would evict too many entries.
const LARGEST: usize = 1 << 20;

/// Cache of files with unique names. Entries of deleted files do no harm, because readers list
/// folders each time, and use only listed files.
#[derive(Debug)]
pub(crate) struct ReadCache(Cache<Key, Arc<Kept>, Bytes>);

/// Path of a file in the store, and the part of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    path: String,
    /// Number of bytes at the end of the file. `None` for the whole file.
    last: Option<u64>,
}

/// A part of a file.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Size of the file.
    pub(crate) size: u64,
    /// Offset of the bytes in the file.
    pub(crate) start: u64,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Arc<Kept>> for Bytes {
    fn weight(&self, key: &Key, kept: &Arc<Kept>) -> u64 {
        (key.path.len() + kept.bytes.len() + 128) as u64
    }
}

impl ReadCache {
    /// Creates a cache with an approximate capacity in bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        // Footers take a few thousand bytes.
        let files = usize::try_from(bytes / 4096).unwrap_or(usize::MAX).clamp(16, 1 << 16);
        Self(Cache::with_weighter(files, bytes, Bytes))
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Kept>> {
        self.0.get(key)
    }

    pub(crate) fn keep(&self, key: Key, kept: Kept) {
        if kept.bytes.len() <= LARGEST {
            self.0.insert(key, Arc::new(kept));
        }
    }
}

impl Key {
    /// Returns the key of a request. Returns `None` if the file may change, or for a range
    /// before the end of the file.
    pub(crate) fn of(request: &Request, location: &Path) -> Option<Self> {
        let last = match request.part {
            Part::All => None,
            Part::Last(len) => Some(len),
            // With a known size, the end of a file is a range.
            Part::Range { ref range, size } if range.end == size => Some(size.saturating_sub(range.start)),
            Part::Range { .. } => return None,
        };
        never_changes(&request.path).then(|| Self { path: location.to_string(), last })
    }
}

/// Returns `true` if the name of the file is never reused. Names with a timestamp also contain a
/// random number. In old formats, the name `__array_schema.tdb` is the same for a later array in
/// the same place.
fn never_changes(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let named = |name: &str| {
        let stem = name.split('.').next().unwrap_or_default();
        TimestampedName::parse(stem).is_some_and(|name| name.start() > 0)
    };
    let parent = folder.rsplit('/').next().unwrap_or_default();
    match file {
        FRAGMENT_METADATA => named(parent),
        _ => named(file) || parent == ENUMERATIONS_FOLDER,
    }
}

#[cfg(test)]
mod tests {
    use super::never_changes;

    #[test]
    fn files_with_times_in_their_names_never_change() {
        let name = "__1607022667427_1607022667427_1c7b2f2f4a2d4d9f8c0b1a2d3e4f5061";
        for path in [
            format!("__schema/{name}"),
            format!("__schema/__enumerations/{name}_0"),
            format!("__fragments/{name}_22/__fragment_metadata.tdb"),
            format!("{name}_4/__fragment_metadata.tdb"),
            format!("__commits/{name}_22.con"),
            format!("__fragment_meta/{name}_22.meta"),
            format!("__meta/{name}"),
        ] {
            assert!(never_changes(&path), "{path}");
        }
        for path in ["__array_schema.tdb", "__tiledb_group.tdb", "a/__fragment_metadata.tdb", "f", ""] {
            assert!(!never_changes(path), "{path}");
        }
    }
}
