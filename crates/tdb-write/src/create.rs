//! Creation of arrays.

use std::path::Path;
use std::sync::Arc;

use tdb_filters::EncryptionKey;
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, SchemaError};
use tdb_snapshot::{Access, ArrayError, Environment, Listing, Options, Result, Snapshot, list_named};
use tdb_storage::{EntryKind, LocalStorage, Storage, StorageError};
use tdb_types::names::{
    COMMITS_FOLDER, ENUMERATIONS_FOLDER, FIRST_SCHEMA, FRAGMENT_META_FOLDER, FRAGMENTS_FOLDER, LABELS_FOLDER,
    LEGACY_SCHEMA, LOCK_FILE, METADATA_FOLDER, SCHEMA_FOLDER,
};
use tdb_types::{ByteWriter, Feature, FormatVersion, NameForm};

use crate::WriteIds;
use crate::files::NewFiles;

/// Options for creating arrays and groups: names, encryption key, and source of time and random
/// bytes.
#[derive(Clone, Debug, Default)]
#[must_use = "options have no effect until an array is created"]
pub struct CreateOptions {
    pub(super) names: WriteIds,
    pub(super) access: Access,
}

impl CreateOptions {
    /// Creates options for unencrypted arrays and groups with the current time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source of file names, which also determines the creation time.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// Encrypts the schema and all data written later.
    pub fn key(mut self, key: impl Into<Option<EncryptionKey>>) -> Self {
        self.access.key = key.into();
        self
    }

    /// Sets the source of time and random bytes.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.access.environment = environment;
        self
    }

    /// Returns options that open the created array with the same key and environment.
    pub fn array_options<T>(&self) -> Options<T> {
        Options::new().access(self.access.clone())
    }

    /// Creates an array in the folder `path`, which need not exist. The array has the format
    /// version of its schema.
    ///
    /// # Errors
    /// [`ArrayError::AlreadyThere`] if the folder is an array or a group. [`ArrayError::NewSchema`]
    /// if the definition is not valid, for example because the values of an enumeration are
    /// missing. Also fails if the clock or random bytes are not available, or if the storage fails.
    /// Created files are then removed as far as possible.
    pub fn create<D>(&self, path: impl AsRef<Path>, definition: D) -> Result<()>
    where
        D: TryInto<ArrayDefinition>,
        ArrayError: From<D::Error>,
    {
        let path = path.as_ref();
        let is_new = !path.exists();
        let result = self.create_on(&(Arc::new(LocalStorage::new(path)) as _), definition);
        if result.is_err() && is_new {
            // Succeeds only if the folder exists and is empty. The first error is reported.
            let _ = std::fs::remove_dir(path);
        }
        result
    }

    /// Creates an array at the root of a storage.
    ///
    /// # Errors
    /// See [`create`](Self::create).
    pub fn create_on<D>(&self, storage: &Arc<dyn Storage>, definition: D) -> Result<()>
    where
        D: TryInto<ArrayDefinition>,
        ArrayError: From<D::Error>,
    {
        self.create_array(storage, definition.try_into()?)
    }

    fn create_array(&self, storage: &Arc<dyn Storage>, definition: ArrayDefinition) -> Result<()> {
        definition.check()?;
        check_free(&**storage)?;
        let (names, environment) = (&self.names, &self.access.environment);
        let definition = definition.place_enumerations(|| names.enumeration_file(environment))?;
        let mut files = NewFiles::new(storage);
        files.folder("")?;
        let version = definition.schema().version();
        for folder in folders(version) {
            files.folder(folder)?;
        }
        for (label, schema) in definition.labels() {
            // The folder may exist after an interrupted creation.
            if storage.exists(&label.uri)? {
                storage.remove_folder(&label.uri)?;
            }
            files.tree(&label.uri)?;
            self.create_array(&storage.sub(&label.uri)?, ArrayDefinition::new(schema.clone())?)?;
        }
        if version.has(Feature::LockFile) && !storage.exists(LOCK_FILE)? {
            files.file(LOCK_FILE, &[])?;
        }
        // From here on, the folder looks like an array. The last file makes it valid.
        if version.has(Feature::SchemaFolder) {
            files.folder(SCHEMA_FOLDER)?;
        }
        if version.has(Feature::Enumerations) {
            files.folder(&format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}"))?;
        }
        let name = names.next(NameForm::Unversioned, environment)?;
        SchemaWriter { access: &self.access, storage: &**storage }.write(&definition, name.as_str(), &mut files)?;
        files.keep();
        Ok(())
    }

    /// Adds a past or current schema to an array under construction, to copy an array whose schema
    /// evolved. The timestamp of [`ids`](Self::ids) determines when the schema takes effect. The
    /// folders of the array must exist.
    ///
    /// # Errors
    /// The format allows a single schema only, the definition is not valid, the clock or random
    /// bytes are not available, or the storage fails.
    pub fn add_schema_on(&self, storage: &Arc<dyn Storage>, definition: &ArrayDefinition) -> Result<()> {
        definition.check()?;
        let (names, environment, version) = (&self.names, &self.access.environment, definition.schema().version());
        if !version.has(Feature::SchemaFolder) {
            return Err(ArrayError::Write(format!("arrays of format version {version} support only one schema")));
        }
        let definition = definition.clone().place_enumerations(|| names.enumeration_file(environment))?;
        let mut files = NewFiles::new(storage);
        let name = names.next(NameForm::Unversioned, environment)?;
        SchemaWriter { access: &self.access, storage: &**storage }.write(&definition, name.as_str(), &mut files)?;
        files.keep();
        Ok(())
    }
}

/// Returns the definition of an array, from which similar arrays can be created: the schema, the
/// values of enumerations, and the labels whose arrays are stored in the array's folder.
///
/// # Errors
/// An enumeration or the array of a dimension label cannot be read.
pub fn definition(array: &Snapshot) -> Result<ArrayDefinition> {
    let failed = |source| ArrayError::Schema { file: array.storage().describe(array.schema_path()), source };
    let mut definition = ArrayDefinition::new(ArraySchema::clone(array.schema())).map_err(failed)?;
    for reference in array.schema().enumerations() {
        let enumeration = array.enumeration(&reference.name)?;
        definition = definition.with_enumeration((*enumeration).clone()).map_err(failed)?;
    }
    for label in array.schema().labels().iter().filter(|label| !label.external) {
        let options = Options::<Snapshot>::new().between(array.time()).access(array.access().clone()).threads(1);
        let array = options.open_on(array.storage().sub(&label.uri)?)?;
        let extent = array.schema().dimensions().first().and_then(Dimension::tile_extent);
        let values = array.schema().attributes().iter().find(|attribute| attribute.name() == label.attribute);
        let filters = values.map(Attribute::filters).cloned().unwrap_or_default();
        definition = definition.with_label(&label.name, extent, filters).map_err(failed)?;
    }
    Ok(definition)
}

/// Returns the folders of a new array of this version, without the schema folders.
fn folders(version: FormatVersion) -> impl Iterator<Item = &'static str> {
    let rows = [
        (COMMITS_FOLDER, Feature::CommitsFolder),
        (FRAGMENTS_FOLDER, Feature::CommitsFolder),
        (METADATA_FOLDER, Feature::MetadataFolder),
        (FRAGMENT_META_FOLDER, Feature::CommitsFolder),
        (LABELS_FOLDER, Feature::DimensionLabels),
    ];
    rows.into_iter().filter(move |(_, feature)| version.has(*feature)).map(|(folder, _)| folder)
}

/// Checks that the root of a storage is neither an array nor a group. Remains of an interrupted
/// creation are accepted.
pub(super) fn check_free(storage: &dyn Storage) -> Result<()> {
    let root = match storage.list("") {
        Ok(root) => root,
        Err(StorageError::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut listing = Listing::of_root(root);
    let taken = |what| Err(ArrayError::AlreadyThere { path: storage.describe(""), what });
    if listing.root.iter().any(|entry| entry.name == SCHEMA_FOLDER && entry.kind == EntryKind::Folder) {
        listing.schemas = list_named(storage, SCHEMA_FOLDER)?;
    }
    if let Some((name, _)) = listing.older_than_format_1() {
        return taken(if name == FIRST_SCHEMA { "an array" } else { "a key-value store" });
    }
    match (listing.schemas().is_empty(), listing.is_group()) {
        (false, _) => taken("an array"),
        (true, true) => taken("a group"),
        (true, false) => Ok(()),
    }
}

impl WriteIds {
    /// Returns the name of a new enumeration file.
    pub(super) fn enumeration_file(&self, environment: &Environment) -> Result<String> {
        Ok(format!("__{:032x}_0", self.uuid(environment)?))
    }
}

/// A writer for the files of schemas.
pub(super) struct SchemaWriter<'a> {
    pub(super) access: &'a Access,
    pub(super) storage: &'a dyn Storage,
}

impl SchemaWriter<'_> {
    /// Writes missing enumerations, then the schema. Formats without a schema folder ignore `name`.
    pub(super) fn write(&self, definition: &ArrayDefinition, name: &str, files: &mut NewFiles) -> Result<()> {
        let schema = definition.schema();
        let version = schema.version();
        for enumeration in definition.enumerations() {
            let path = format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}/{}", enumeration.file_name());
            if !self.storage.exists(&path)? {
                let bytes = self.tile(version, &path, Ok(enumeration.to_payload()))?;
                files.file(&path, &bytes)?;
            }
        }
        let path = if version.has(Feature::SchemaFolder) {
            format!("{SCHEMA_FOLDER}/{name}")
        } else {
            LEGACY_SCHEMA.to_owned()
        };
        let bytes = self.tile(version, &path, schema.to_payload())?;
        files.file(&path, &bytes)
    }

    /// Encodes the payload of a schema or enumeration as a generic tile.
    fn tile(&self, version: FormatVersion, path: &str, payload: Result<Vec<u8>, SchemaError>) -> Result<Vec<u8>> {
        let mut encoder = self.access.encoder(version)?;
        let mut file = ByteWriter::new();
        payload
            .and_then(|payload| encoder.encode(&payload, &mut file).map_err(SchemaError::from))
            .map_err(|source| ArrayError::Schema { file: self.storage.describe(path), source })?;
        Ok(file.into_bytes())
    }
}
