//! Reading and encoding of commit, footer and metadata files, for their consolidation.

use std::sync::Arc;

use tdb_fragment::{ConsolidatedFooters, FragmentError};
use tdb_generic_tile::GenericTileEncoder;
use tdb_metadata::{MetadataChange, MetadataFile};
use tdb_snapshot::{Access, ArrayError, Result, Snapshot, TimeRange, version_of_new_fragments};
use tdb_storage::Storage;
use tdb_types::{FormatVersion, NameForm, TimestampedName};

use crate::{WriteIds, version_of_metadata};

/// Access to the commit, footer and metadata files of an array or a group, with its key and limits.
/// Consolidations use this access.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-metadata/array");
/// let files = tdb_array::Array::open(folder)?.small_files();
/// for file in files.storage().list("__meta")? {
///     let changes = files.read_metadata(&format!("__meta/{}", file.name))?;
///     assert!(!changes.is_empty());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SmallFiles {
    storage: Arc<dyn Storage>,
    access: Access,
    version: FormatVersion,
    metadata_version: FormatVersion,
}

impl SmallFiles {
    /// Accesses the files of an array.
    #[must_use]
    pub fn of_array(array: &Snapshot) -> Self {
        Self {
            storage: Arc::clone(array.storage()),
            access: array.access().clone(),
            version: version_of_new_fragments(array.schema()),
            metadata_version: version_of_metadata(array.schema().version()),
        }
    }

    /// Accesses the files of a group.
    #[must_use]
    pub fn of_group(storage: &Arc<dyn Storage>, access: &Access) -> Self {
        let (storage, access, version) = (Arc::clone(storage), access.clone(), FormatVersion::DEFAULT);
        Self { storage, access, version, metadata_version: version }
    }

    /// Returns an encoder of generic tiles with this version in their headers. The encoder encrypts
    /// if the array or group has a key.
    ///
    /// # Errors
    /// Random bytes for the encryption are not available.
    pub fn encoder(&self, version: FormatVersion) -> Result<GenericTileEncoder> {
        self.access.encoder(version)
    }

    /// Returns the storage of the files.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Returns the format version of new files: the array's version, or the current version if the
    /// array has a version below 7 or is a group. The version determines the names and folders of
    /// new files and the form of the paths in these files.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// Returns the name of a new file that replaces the files of a time range.
    ///
    /// # Errors
    /// The clock or the random bytes for the unique part are not available.
    pub fn new_name(&self, names: &WriteIds, form: NameForm, time: TimeRange) -> Result<TimestampedName> {
        names.next_over(form, time, &self.access.environment)
    }

    /// Reads the changes in a metadata file, including deletions, in stored order.
    ///
    /// # Errors
    /// The file is damaged, too large, missing, encrypted with another key, or cannot be read.
    pub fn read_metadata(&self, path: &str) -> Result<Vec<MetadataChange>> {
        let bytes = self.access.read(&*self.storage, path)?;
        let file = MetadataFile::parse_file(&bytes, &mut self.access.decoder(), None);
        Ok(file.map_err(|source| ArrayError::GenericTile { file: self.storage.describe(path), source })?.changes)
    }

    /// Encodes changes as a metadata file.
    ///
    /// # Errors
    /// A key or value is too long for the format, or random bytes for the encryption are not
    /// available.
    pub fn encode_metadata(&self, changes: Vec<MetadataChange>) -> Result<Vec<u8>> {
        crate::metadata::encode(&self.access, self.metadata_version, changes, || self.storage.describe(""))
    }

    /// Reads a file that lists other files.
    ///
    /// # Errors
    /// The file is too large, missing, or cannot be read.
    pub fn read_list(&self, path: &str) -> Result<Vec<u8>> {
        Ok(self.storage.read_up_to(path, self.access.limits.commit_bytes)?)
    }

    /// Reads the file of a delete commit.
    ///
    /// # Errors
    /// The file is too large, missing, or cannot be read.
    pub fn read_delete(&self, path: &str) -> Result<Vec<u8>> {
        self.access.read(&*self.storage, path)
    }

    /// Reads a consolidated footers file.
    ///
    /// # Errors
    /// The file is damaged, too large, missing, encrypted with another key, or cannot be read.
    pub fn read_footers(&self, path: &str) -> Result<ConsolidatedFooters> {
        let bytes = self.access.read(&*self.storage, path)?;
        let footers = ConsolidatedFooters::parse_file(&bytes, &mut self.access.decoder(), None);
        footers.map_err(|source| self.fragment_error(path, source))
    }

    /// Encodes a consolidated footers file. `fragments` lists the name to store and the footer of
    /// each fragment.
    ///
    /// # Errors
    /// There are 2^32 or more fragments, or random bytes for the encryption are not available.
    pub fn encode_footers(&self, fragments: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        let file = ConsolidatedFooters::write_file(fragments, &mut self.access.encoder(self.version)?);
        file.map_err(|source| self.fragment_error("", source))
    }

    fn fragment_error(&self, path: &str, source: FragmentError) -> ArrayError {
        ArrayError::Fragment { file: self.storage.describe(path), source }
    }
}
