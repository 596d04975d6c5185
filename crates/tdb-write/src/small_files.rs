//! Reading and making the small files of arrays and groups: what joining them takes.

use std::sync::Arc;

use tdb_fragment::{ConsolidatedFooters, FragmentError};
use tdb_generic_tile::GenericTileEncoder;
use tdb_metadata::{MetadataChange, MetadataFile};
use tdb_snapshot::{Access, ArrayError, Result, Snapshot, TimeRange, version_of_new_fragments};
use tdb_storage::Storage;
use tdb_types::{ByteWriter, FormatVersion, NameForm, TimestampedName};

use crate::{Names, version_of_metadata};

/// The small files of an array or a group, under its key and within its limits: for those who join them.
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
    /// Those of an array.
    #[must_use]
    pub fn of_array(array: &Snapshot) -> Self {
        Self {
            storage: Arc::clone(array.storage()),
            access: array.access().clone(),
            version: version_of_new_fragments(array.schema()),
            metadata_version: version_of_metadata(array.schema().version()),
        }
    }

    /// Those of a group.
    #[must_use]
    pub fn of_group(storage: &Arc<dyn Storage>, access: &Access) -> Self {
        let (storage, access, version) = (Arc::clone(storage), access.clone(), FormatVersion::DEFAULT);
        Self { storage, access, version, metadata_version: version }
    }

    /// What makes generic tiles with this version in their headers, encrypted if the others are.
    ///
    /// # Errors
    /// There are no random bytes for encryption.
    pub fn encoder(&self, version: FormatVersion) -> Result<GenericTileEncoder> {
        self.access.encoder(version)
    }

    /// Where they lie.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// The format version of what is added to the array now: its own, or today's if that is too old to be written. It decides
    /// what new files are called, where they lie, and how they name others.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// The name of a new file that stands for others of a range of time.
    ///
    /// # Errors
    /// No random bytes, or no clock, which are what makes it different from all others.
    pub fn new_name(&self, names: &Names, form: NameForm, time: TimeRange) -> Result<TimestampedName> {
        names.next_over(form, time, &self.access.environment)
    }

    /// What a file of metadata says, deletions included, in the file's order.
    ///
    /// # Errors
    /// The file is damaged, too large, not there, or encrypted with another key.
    pub fn read_metadata(&self, path: &str) -> Result<Vec<MetadataChange>> {
        let bytes = self.access.read(&*self.storage, path)?;
        let file = MetadataFile::parse_file(&bytes, &mut self.access.decoder(), None);
        Ok(file.map_err(|source| ArrayError::GenericTile { file: self.storage.describe(path), source })?.changes)
    }

    /// The bytes of a file of metadata with these changes.
    ///
    /// # Errors
    /// A key or value that is too long for the format; no random bytes to encrypt with.
    pub fn encode_metadata(&self, changes: Vec<MetadataChange>) -> Result<Vec<u8>> {
        let mut payload = ByteWriter::new();
        MetadataFile { changes }.write(&mut payload).map_err(|error| ArrayError::Write(error.to_string()))?;
        let mut file = ByteWriter::new();
        let encoded = self.access.encoder(self.metadata_version)?.encode(payload.as_slice(), &mut file);
        encoded.map_err(|source| ArrayError::GenericTile { file: self.storage.describe(""), source })?;
        Ok(file.into_bytes())
    }

    /// The bytes of a file that lists others.
    ///
    /// # Errors
    /// The file is larger than such files may be, or not there.
    pub fn read_list(&self, path: &str) -> Result<Vec<u8>> {
        Ok(self.storage.read_up_to(path, self.access.limits.commit_bytes)?)
    }

    /// The bytes of a delete commit's own file.
    ///
    /// # Errors
    /// The file is too large, or not there.
    pub fn read_delete(&self, path: &str) -> Result<Vec<u8>> {
        self.access.read(&*self.storage, path)
    }

    /// The footers of many fragments.
    ///
    /// # Errors
    /// The file is damaged, too large, not there, or encrypted with another key.
    pub fn read_footers(&self, path: &str) -> Result<ConsolidatedFooters> {
        let bytes = self.access.read(&*self.storage, path)?;
        let footers = ConsolidatedFooters::parse_file(&bytes, &mut self.access.decoder(), None);
        footers.map_err(|source| self.fragment_error(path, source))
    }

    /// The bytes of a file with the footers of these fragments, by the names that the file is to give them.
    ///
    /// # Errors
    /// More than 2^32 fragments; no random bytes to encrypt with.
    pub fn encode_footers(&self, fragments: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        let file = ConsolidatedFooters::write_file(fragments, &mut self.access.encoder(self.version)?);
        file.map_err(|source| self.fragment_error("", source))
    }

    fn fragment_error(&self, path: &str, source: FragmentError) -> ArrayError {
        ArrayError::Fragment { file: self.storage.describe(path), source }
    }
}
