//! The list of files.

use std::fmt;

use super::encode::Encoded;
use crate::{Entry, EntryKind};

/// Name of the manifest file. The manifest lists the files of its folder.
pub const MANIFEST_NAME: &str = "tdb-manifest.txt";

/// First line of a manifest.
const HEADER: &str = "tdb manifest 1";

/// The paths and sizes of all files below a folder.
///
/// Plain web servers cannot list folders. A manifest in the folder of an array or group replaces
/// the listings, see [`ManifestStorage`](crate::ManifestStorage). The text has a line for each file, sorted bytewise by
/// path: the size in bytes, a space, and the path relative to the folder. The path of an empty
/// folder ends with `/`, and its size is 0. A `%`, a control character and a line end (also U+2028
/// and U+2029) are percent-encoded, byte by byte. The last line ends with a line feed.
///
/// ```text
/// tdb manifest 1
/// 0 __commits/__1_1_f00d_22.wrt
/// 812 __fragments/__1_1_f00d_22/__fragment_metadata.tdb
/// 0 __labels/
/// ```
///
/// A manifest lists no manifests, and no files and folders whose names start with `.tdb-`: temporary
/// and quarantined files, locks and journals.
///
/// ```
/// use tdb_storage::{Manifest, MemoryStorage, Storage};
///
/// let storage = MemoryStorage::new();
/// storage.insert("__schema/__1_1_f00d", *b"some schema")?;
/// storage.create_folder("__meta")?;
///
/// let manifest = Manifest::of(&storage)?;
/// assert_eq!(manifest.to_string(), "tdb manifest 1\n0 __meta/\n11 __schema/__1_1_f00d\n");
/// assert_eq!(Manifest::parse(manifest.to_string().as_bytes()), Ok(manifest));
/// # Ok::<(), tdb_storage::StorageError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Sorted by path. No path is a file and a folder.
    pub(super) entries: Vec<ManifestEntry>,
}

/// A file or an empty folder in a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestEntry {
    /// The path relative to the folder of the manifest. Ends with `/` for an empty folder.
    pub path: String,
    /// The size of a file in bytes, or 0 for a folder.
    pub size: u64,
}

/// A difference between a manifest and the files of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestChange {
    /// The file or empty folder exists, but is not listed.
    Added {
        /// The path as in [`ManifestEntry::path`].
        path: String,
    },
    /// The file or empty folder is listed, but does not exist.
    Removed {
        /// The path as in [`ManifestEntry::path`].
        path: String,
    },
    /// The file has another size.
    Resized {
        /// The path of the file.
        path: String,
        /// The size in the manifest, in bytes.
        listed: u64,
        /// The size of the file, in bytes.
        found: u64,
    },
}

impl fmt::Display for ManifestChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { path } => write!(f, "{path}: not listed"),
            Self::Removed { path } => write!(f, "{path}: listed, but does not exist"),
            Self::Resized { path, listed, found } => {
                write!(f, "{path}: listed with {listed} bytes, but has {found} bytes")
            }
        }
    }
}

impl Manifest {
    /// Maximum size of a manifest for [`ManifestStorage::open`](crate::ManifestStorage::open), in bytes. Bounds the
    /// memory of [`parse`](Self::parse), which takes several times the size of the text.
    pub const LIMIT: u64 = 64 << 20;

    /// Returns the files and empty folders, sorted bytewise by path.
    #[must_use]
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.entries
    }

    /// Returns the number of files.
    #[must_use]
    pub fn files(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.is_folder()).count()
    }

    /// Returns the total size of the files in bytes, at most `u64::MAX`.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.size))
    }

    /// Returns the differences to a newer manifest of the same folder, sorted by path.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<ManifestChange> {
        let mut changes = Vec::new();
        let (mut old, mut new) = (self.entries.iter().peekable(), now.entries.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(listed), Some(found)) => listed.path.cmp(&found.path),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return changes,
            };
            let listed = if order.is_le() { old.next() } else { None };
            let found = if order.is_ge() { new.next() } else { None };
            match (listed, found) {
                (Some(listed), Some(found)) if listed.size == found.size => {}
                (Some(listed), Some(found)) => changes.push(ManifestChange::Resized {
                    path: listed.path.clone(),
                    listed: listed.size,
                    found: found.size,
                }),
                (Some(listed), None) => changes.push(ManifestChange::Removed { path: listed.path.clone() }),
                (None, Some(found)) => changes.push(ManifestChange::Added { path: found.path.clone() }),
                (None, None) => {}
            }
        }
    }

    /// Describes the differences to a newer manifest of the same folder in one line: the first
    /// difference, and the number of the others. Returns `None` if the manifests are equal.
    #[must_use]
    pub fn difference(&self, now: &Self) -> Option<String> {
        let changes = self.changes(now);
        let first = changes.first()?;
        Some(match changes.len() - 1 {
            0 => first.to_string(),
            1 => format!("{first}, and 1 more difference"),
            more => format!("{first}, and {more} more differences"),
        })
    }

    /// Returns the size of a listed file. `path` must be valid.
    pub(super) fn size(&self, path: &str) -> Option<u64> {
        let place = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        self.entries.get(place).map(|entry| entry.size)
    }

    /// Returns the entries below a folder. `prefix` is `""` or ends with `/`.
    fn below(&self, prefix: &str) -> &[ManifestEntry] {
        let rest = &self.entries[self.entries.partition_point(|entry| entry.path.as_str() < prefix)..];
        &rest[..rest.partition_point(|entry| entry.path.starts_with(prefix))]
    }

    /// Returns the kind of a valid path.
    pub(super) fn kind(&self, path: &str) -> Option<EntryKind> {
        if path.is_empty() {
            return Some(EntryKind::Folder);
        }
        if self.size(path).is_some() {
            return Some(EntryKind::File);
        }
        (!self.below(&format!("{path}/")).is_empty()).then_some(EntryKind::Folder)
    }

    /// Lists a folder like [`Storage::list`](crate::Storage::list). `prefix` is `""` or ends with `/`.
    pub(super) fn list(&self, prefix: &str) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut rest = self.below(prefix);
        while let Some(first) = rest.first() {
            let name = &first.path[prefix.len()..];
            let skip = match name.split_once('/') {
                // The path of the empty folder itself.
                _ if name.is_empty() => 1,
                None => {
                    entries.push(Entry::file(name, first.size));
                    1
                }
                Some((folder, _)) => {
                    entries.push(Entry::folder(folder));
                    let inside = &first.path[..prefix.len() + folder.len() + 1];
                    rest.partition_point(|entry| entry.path.starts_with(inside))
                }
            };
            rest = &rest[skip..];
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        entries
    }
}

impl ManifestEntry {
    /// Returns `true` for an empty folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.path.ends_with('/')
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        self.entries.iter().try_for_each(|entry| writeln!(f, "{} {}", entry.size, Encoded(&entry.path)))
    }
}
