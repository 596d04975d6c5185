//! Metadata of arrays and groups, merged over the files of a time range.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use tdb_metadata::{CommitKind, MetadataChange, MetadataFile, MetadataValue, PathList};
use tdb_storage::{Entry, EntryKind, Storage, StorageError};
use tdb_types::names::{METADATA_FOLDER, file_name};
use tdb_types::{ByteReader, TimestampedName};

use crate::access::Access;
use crate::{ArrayError, Result, TimeRange};

/// The metadata of an array or group at a time range: keys with typed values, sorted by the bytes
/// of the keys.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-metadata/array");
/// let array = tdb_snapshot::Snapshot::open(folder)?;
/// let metadata = array.metadata()?;
/// assert_eq!(metadata.get("number").and_then(|value| value.as_integers()), Some(vec![6]));
/// for (key, value) in metadata.iter() {
///     println!("{key}: {} = {value}", value.datatype());
/// }
/// # Ok::<(), tdb_snapshot::ArrayError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    entries: BTreeMap<Vec<u8>, MetadataValue>,
}

/// A numeric array as stored by the Python package of the reference library. See
/// [`Metadata::numpy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumpyArray<'a> {
    /// The elements in row-major order.
    pub values: &'a MetadataValue,
    /// The length of each axis.
    pub shape: Vec<u64>,
}

impl Metadata {
    /// The key prefix of the elements of a NumPy array.
    pub const NUMPY_FLAT: &'static str = "__np_flat_";
    /// The key prefix of the shape of a NumPy array, stored for two or more axes.
    pub const NUMPY_SHAPE: &'static str = "__np_shape_";

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&MetadataValue> {
        self.entries.get(key.as_bytes())
    }

    /// Iterates over keys and values. Invalid UTF-8 in keys is replaced. [`entries`](Self::entries)
    /// has the original bytes.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &MetadataValue)> {
        self.entries.iter().map(|(key, value)| (String::from_utf8_lossy(key), value))
    }

    /// Returns the keys, as bytes, and values.
    #[must_use]
    pub fn entries(&self) -> &BTreeMap<Vec<u8>, MetadataValue> {
        &self.entries
    }

    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the array stored by Python under `key`. The elements are stored under
    /// [`NUMPY_FLAT`](Self::NUMPY_FLAT) plus `key`, the shape under
    /// [`NUMPY_SHAPE`](Self::NUMPY_SHAPE) plus `key`.
    ///
    /// Returns `None` for an unknown array, or if shape and number of elements disagree.
    #[must_use]
    pub fn numpy(&self, key: &str) -> Option<NumpyArray<'_>> {
        let values = self.get(&format!("{}{key}", Self::NUMPY_FLAT))?;
        let shape = match self.get(&format!("{}{key}", Self::NUMPY_SHAPE)) {
            None => vec![u64::from(values.count())],
            Some(shape) => {
                shape.as_integers()?.into_iter().map(|len| u64::try_from(len).ok()).collect::<Option<_>>()?
            }
        };
        let count = shape.iter().try_fold(1u64, |count, len| count.checked_mul(*len));
        (count == Some(values.count().into())).then_some(NumpyArray { values, shape })
    }

    /// Reads the metadata files in effect at `time`. Returns empty metadata if the folder is
    /// missing.
    ///
    /// # Errors
    /// A file cannot be read, is damaged, or exceeds the limits.
    pub fn load(storage: &dyn Storage, time: TimeRange, access: &Access) -> Result<Self> {
        let mut decoder = access.decoder();
        let mut left = access.limits.commit_bytes;
        let entries = match storage.list(METADATA_FOLDER) {
            Ok(entries) => entries,
            // Some copy tools drop empty folders.
            Err(StorageError::NotFound { .. }) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let mut vacuumed = HashSet::new();
        for path in vacuum_files(&entries, time) {
            let bytes = storage.read_up_to(&path, left)?;
            left -= bytes.len() as u64;
            let named = |line: Cow<'_, str>| {
                // Other lines cannot name a metadata file.
                let name = file_name(PathList::target(&line));
                if TimestampedName::is_one(name) && !vacuumed.contains(name) {
                    vacuumed.insert(name.to_owned());
                }
            };
            PathList::for_each(&mut ByteReader::new(&bytes), named)
                .map_err(|source| ArrayError::Commits { file: storage.describe(&path), source })?;
        }
        let mut metadata = Self::default();
        for name in files(&entries, time).into_iter().filter(|name| !vacuumed.contains(name.as_str())) {
            let path = format!("{METADATA_FOLDER}/{name}");
            let bytes = access.read(storage, &path)?;
            let tile = decoder.decode_file(&bytes, None);
            drop(bytes);
            let take = |change: MetadataChange| change.apply(&mut metadata.entries);
            tile.and_then(|tile| Ok(tile.parse_payload(None, |reader| MetadataFile::for_each(reader, take))?))
                .map_err(|source| ArrayError::GenericTile { file: storage.describe(&path), source })?;
        }
        Ok(metadata)
    }
}

/// Returns the names of metadata files within `time`, in order of application.
fn files(entries: &[Entry], time: TimeRange) -> Vec<TimestampedName> {
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File && !entry.name.contains('.'));
    names_within(files, time)
}

/// Returns the vacuum files of consolidated metadata files within `time`.
fn vacuum_files(entries: &[Entry], time: TimeRange) -> Vec<String> {
    let is_vacuum = |entry: &&Entry| CommitKind::of(&entry.name) == Some(CommitKind::Vacuum);
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File).filter(is_vacuum);
    let is_within = |entry: &&Entry| {
        TimestampedName::parse(&entry.name).is_some_and(|name| time.contains(name.start(), name.end()))
    };
    files.filter(is_within).map(|entry| format!("{METADATA_FOLDER}/{}", entry.name)).collect()
}

/// Returns the names within a time range, oldest first.
pub fn names_within<'a>(entries: impl Iterator<Item = &'a Entry>, time: TimeRange) -> Vec<TimestampedName> {
    let names = entries.filter_map(|entry| TimestampedName::parse(&entry.name));
    let mut names: Vec<_> = names.filter(|name| time.contains(name.start(), name.end())).collect();
    names.sort_by(|a, b| (a.start(), a.as_str()).cmp(&(b.start(), b.as_str())));
    names
}
