//! Writing of metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_metadata::{MetadataChange, MetadataFile, MetadataValue};
use tdb_snapshot::{Access, ArrayError, Result, Snapshot};
use tdb_storage::Storage;
use tdb_types::names::METADATA_FOLDER;
use tdb_types::{ByteWriter, Datatype, Feature, FormatVersion, NameForm};

use crate::WriteIds;

/// Changes to the metadata of an array or a group. [`commit`](Self::commit) applies them
/// atomically.
///
/// ```
/// use tdb_array::{Array, MetadataValue};
/// # use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("array");
/// # let rows = Dimension::new("row", 1i32..=100);
/// # let schema = SchemaBuilder::sparse().dimension(rows).build()?;
/// # Array::create(&path, schema)?;
///
/// let array = Array::open(&path)?;
/// array.write_metadata().put("title", MetadataValue::text("Rain")?).delete("draft").commit()?;
/// // Arrays that are opened afterwards have the change.
/// assert_eq!(Array::open(&path)?.metadata()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing changes before `commit`"]
pub struct MetadataWriter {
    storage: Arc<dyn Storage>,
    access: Access,
    /// Format version in the header of the new file.
    version: FormatVersion,
    names: WriteIds,
    changes: BTreeMap<Vec<u8>, Option<MetadataValue>>,
}

/// Returns the version in the headers of an array's metadata files: the array's version, which
/// releases of the same age can read. For versions without metadata, returns the first version with
/// metadata. The first release that supports metadata also reads metadata files in older arrays.
pub(crate) fn version_of_files(array: FormatVersion) -> FormatVersion {
    let known = FormatVersion::all().find(|version| version.has(Feature::MetadataFolder));
    known.map_or(array, |known| known.max(array))
}

impl MetadataWriter {
    /// Starts a change of an array's metadata.
    pub fn of_array(array: &Snapshot) -> Self {
        let version = version_of_files(array.schema().version());
        Self::new(array.storage(), array.access(), version)
    }

    /// Starts a change of a group's metadata. The new file has the current format version, because
    /// groups have no version.
    pub fn of_group(storage: &Arc<dyn Storage>, access: &Access) -> Self {
        Self::new(storage, access, FormatVersion::DEFAULT)
    }

    fn new(storage: &Arc<dyn Storage>, access: &Access, version: FormatVersion) -> Self {
        let (storage, access) = (Arc::clone(storage), access.clone());
        Self { storage, access, version, names: WriteIds::new(), changes: BTreeMap::new() }
    }

    /// Sets the source of the file name, which also determines the time of the change.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// Sets the value of a key. Replaces an existing value.
    pub fn put(mut self, key: impl Into<Vec<u8>>, value: MetadataValue) -> Self {
        self.changes.insert(key.into(), Some(value));
        self
    }

    /// Deletes a key, if present.
    pub fn delete(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.changes.insert(key.into(), None);
        self
    }

    /// Writes the changes durably. Writes nothing if there are no changes.
    ///
    /// # Errors
    /// A key or a value is too long, a value has the datatype `any`, the clock or random bytes are
    /// not available, or the storage fails. The metadata then remains unchanged.
    pub fn commit(self) -> Result<()> {
        if self.changes.is_empty() {
            return Ok(());
        }
        if self.changes.values().flatten().any(|value| value.datatype() == Datatype::Any) {
            let what = "metadata cannot have the datatype any; use blob for uninterpreted bytes";
            return Err(ArrayError::Write(what.to_owned()));
        }
        let changes = self.changes.into_iter().map(|(key, value)| MetadataChange { key, value }).collect();
        let file = || self.storage.describe(METADATA_FOLDER);
        let bytes = encode(&self.access, self.version, changes, file)?;
        self.storage.create_folder(METADATA_FOLDER)?;
        let name = self.names.next(NameForm::Unversioned, &self.access.environment)?;
        Ok(self.storage.create_new(&format!("{METADATA_FOLDER}/{name}"), &bytes)?)
    }
}

/// Encodes changes as a metadata file. `file` returns the name of the file for error messages.
pub(crate) fn encode(
    access: &Access,
    version: FormatVersion,
    changes: Vec<MetadataChange>,
    file: impl FnOnce() -> String,
) -> Result<Vec<u8>> {
    let (mut payload, mut bytes) = (ByteWriter::new(), ByteWriter::new());
    MetadataFile { changes }.write(&mut payload).map_err(|error| ArrayError::Write(error.to_string()))?;
    let encoded = access.encoder(version)?.encode(payload.as_slice(), &mut bytes);
    encoded.map_err(|source| ArrayError::GenericTile { file: file(), source })?;
    Ok(bytes.into_bytes())
}
