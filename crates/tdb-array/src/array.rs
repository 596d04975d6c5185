//! The array type: a snapshot with all operations.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use tdb_condition::Condition;
use tdb_consolidate::{FragmentCopy, FragmentJoin};
use tdb_read::{Label, Query, Statistics};
use tdb_schema::{ArrayDefinition, DimensionLabel, SchemaEvolution};
use tdb_snapshot::{ArrayError, Fragment, FragmentEntry, Open, Options, Result, Snapshot, TimeRange};
use tdb_storage::Storage;
use tdb_types::TimestampedName;
use tdb_write::{CreateOptions, Leftover, MetadataWriter, SmallFiles, Write, WriteIds};

/// Options for opening an array.
pub type ArrayOptions = Options<Array>;

/// A snapshot of an array at a point in time, to be read and written.
///
/// Immutable, cheap to clone, and safe to share between threads. Footers of fragments, R-trees and
/// tile offsets are loaded on first use and cached. The methods of [`Snapshot`] give access to
/// schema and fragments.
#[derive(Clone, Debug)]
pub struct Array(Snapshot);

impl Deref for Array {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        &self.0
    }
}

impl From<Snapshot> for Array {
    fn from(snapshot: Snapshot) -> Self {
        Self(snapshot)
    }
}

impl Open for Array {
    fn open_on(storage: Arc<dyn Storage>, folder: Option<&Path>, options: &Options<Self>) -> Result<Self> {
        Snapshot::open_on(storage, folder, &options.to_open()).map(Self)
    }
}

impl Array {
    /// Opens the array in the folder `path` at the current time. See [`ArrayOptions`] for further
    /// options.
    ///
    /// # Errors
    /// The folder is missing or not an array, or the schema or a commit file cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        ArrayOptions::new().open(path)
    }

    /// Creates an array in the folder `path`, which need not exist. The format version is the
    /// schema's. See [`CreateOptions`] for further options.
    ///
    /// ```
    /// use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
    /// use tdb_array::tdb_types::Datatype;
    /// use tdb_array::Array;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// let rows = Dimension::new("row", 1i32..=100);
    /// let temperature = Attribute::new("temperature", Datatype::Float32);
    /// let schema = SchemaBuilder::dense().dimension(rows).attribute(temperature).build()?;
    /// Array::create(&path, schema)?;
    /// assert_eq!(Array::open(&path)?.schema().dimensions()[0].name(), "row");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayError::AlreadyThere`](crate::ArrayError::AlreadyThere) if the folder is an array or a
    /// group. Also fails if the values of an enumeration are missing, or if the storage fails.
    /// Created files are then removed as far as possible.
    pub fn create<D>(path: impl AsRef<Path>, definition: D) -> Result<()>
    where
        D: TryInto<ArrayDefinition>,
        ArrayError: From<D::Error>,
    {
        CreateOptions::new().create(path, definition)
    }

    /// Starts a query.
    pub fn read(&self) -> Query {
        Query::new(self)
    }

    /// Starts a write of cells, with the schema of this snapshot.
    pub fn write(&self) -> Write {
        Write::new(self)
    }

    /// Opens the dimension label `name` at the time of this array.
    ///
    /// # Errors
    /// [`ArrayError::Label`](crate::ArrayError::Label) if the label does not exist or its array is
    /// in another location. Also fails if the label's array cannot be opened.
    pub fn label(&self, name: &str) -> Result<Label> {
        Label::open(self, name)
    }

    /// Returns statistics of all cells and of the values of a field, from metadata alone.
    ///
    /// ```
    /// use tdb_array::{Array, Exactness};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// match array.statistics("a")?.max {
    ///     Exactness::Exact(max) => println!("{max:?}"),
    ///     Exactness::Unknown(why) => println!("unknown without reading cells: {why}"),
    /// }
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// See [`Query::statistics`].
    pub fn statistics(&self, field: &str) -> Result<Statistics> {
        Query::new(self).statistics(field)
    }

    /// Starts a change of the array's metadata.
    pub fn write_metadata(&self) -> MetadataWriter {
        MetadataWriter::of_array(self)
    }

    /// Evolves the schema. Writes new and extended enumerations, then the new schema. Readers use
    /// the new schema from then on. An empty evolution writes a copy of the current schema, with
    /// the same version.
    ///
    /// ```
    /// use tdb_array::tdb_schema::{Attribute, SchemaEvolution};
    /// # use tdb_array::tdb_schema::{Dimension, SchemaBuilder};
    /// use tdb_array::tdb_types::Datatype;
    /// use tdb_array::{Array, WriteIds};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// # let rows = Dimension::new("row", 1i32..=100);
    /// # let schema = SchemaBuilder::sparse().dimension(rows).build()?;
    /// # Array::create(&path, schema)?;
    ///
    /// let evolution = SchemaEvolution::new().add_attribute(Attribute::new("quality", Datatype::Float32));
    /// Array::open(&path)?.evolve(&evolution, &WriteIds::new())?;
    /// assert_eq!(Array::open(&path)?.schema().attr_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayError::NewSchema`](crate::ArrayError::NewSchema) if a change is not possible.
    /// [`ArrayError::Outdated`](crate::ArrayError::Outdated) if the array's schema has changed
    /// since it was opened, or if the current timestamp is later than the new timestamp. Also fails
    /// if the storage fails. The array is then unchanged.
    pub fn evolve(&self, evolution: &SchemaEvolution, names: &WriteIds) -> Result<()> {
        tdb_write::evolve(self, evolution, names)
    }

    /// Deletes the cells of a sparse array that meet a condition, if they were written up to the
    /// time of the deletion. The time is that of `names`, by default now. Later cells stay. By
    /// format, any comparison of a field deletes cells whose field is null, and all cells of
    /// fragments without the field.
    ///
    /// ```
    /// use tdb_array::tdb_condition::Condition;
    /// use tdb_array::{Array, WriteIds};
    /// # use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
    /// # use tdb_array::tdb_types::Datatype;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// # let rows = Dimension::new("row", 1i32..=100);
    /// # let quality = Attribute::new("quality", Datatype::Float32);
    /// # let schema = SchemaBuilder::sparse().dimension(rows).attribute(quality).build()?;
    /// # Array::create(&path, schema)?;
    ///
    /// Array::open(&path)?.delete_cells(&Condition::field("quality").lt(10.0f32), &WriteIds::new())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - The array is dense, or its format version has no deletes.
    /// - The condition does not fit the array.
    /// - The condition tests for null, which the format cannot store.
    /// - The condition exceeds the array's limits and would not be readable again.
    /// - The time is within the time range of a fragment without timestamps per cell, by format.
    /// - The storage fails.
    ///
    /// No cell is then deleted.
    pub fn delete_cells(&self, condition: &Condition, names: &WriteIds) -> Result<()> {
        tdb_write::delete_cells(self, condition, names)
    }

    /// Deletes the fragments written within a time range in milliseconds, both ends included.
    /// Superseded fragments are deleted too. Fragments extending beyond the range stay. Returns the
    /// number of deleted fragments.
    ///
    /// The deletion is atomic, for readers and after a crash, if all fragments have format 12 or
    /// later. Older fragments are deleted one by one, newest first.
    ///
    /// # Errors
    /// The storage fails.
    pub fn delete_fragments(&self, time: TimeRange) -> Result<usize> {
        tdb_write::delete_fragments(self, time)
    }

    /// Returns the complete definition of the array, from which similar arrays can be created.
    ///
    /// # Errors
    /// An enumeration or the array of a dimension label cannot be read.
    pub fn definition(&self) -> Result<ArrayDefinition> {
        tdb_write::definition(self)
    }

    /// Finds the orphaned files of interrupted writes, sorted by path. An ongoing write looks the
    /// same before the commit. Before removing orphaned files, exclude writes in progress, or check
    /// the age of the files.
    ///
    /// # Errors
    /// A folder cannot be listed, or a commit file or a schema cannot be read. No result is then
    /// reliable.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        tdb_write::leftovers(self)
    }

    /// Removes the given files and folders that are still orphaned. Skips missing entries, and
    /// entries committed in the meantime. Returns the removed entries.
    ///
    /// # Errors
    /// See [`leftovers`](Self::leftovers). Also fails if the storage fails. Some entries may then
    /// be removed already.
    pub fn remove_leftovers(&self, leftovers: &[Leftover]) -> Result<Vec<Leftover>> {
        tdb_write::remove_leftovers(self, leftovers)
    }

    /// Returns access to the array's commit, footer and metadata files.
    #[must_use]
    pub fn small_files(&self) -> SmallFiles {
        SmallFiles::of_array(self)
    }

    /// Prepares to consolidate the given fragments of this snapshot. To consolidate all fragments
    /// of the array, [reopen](Self::reopened) the snapshot first.
    ///
    /// # Errors
    /// A fragment is missing.
    pub fn join(&self, fragments: &[TimestampedName]) -> Result<FragmentJoin> {
        FragmentJoin::new(self, fragments)
    }

    /// Prepares to copy a fragment of another array into this array. The copy keeps the timestamps
    /// and the unique part of the name. The cells get the order, tiles and filters of this array.
    /// Both arrays must have the same dimensions and domain. The schema of this snapshot must have
    /// the same attributes, in the same order, as the fragment's schema.
    ///
    /// # Errors
    /// The schemas do not meet these requirements, the fragment is dense without cells, or the
    /// format of this array does not support the stored timestamps of cells.
    pub fn copy_fragment(&self, from: &Self, fragment: &Fragment) -> Result<FragmentCopy> {
        FragmentCopy::new(self, from, fragment)
    }

    /// Prepares to write all cells of the dense snapshot `from` into one fragment of this array,
    /// with the timestamp of `names`. The requirements of [`copy_fragment`](Self::copy_fragment)
    /// apply to the schemas of both snapshots.
    ///
    /// # Errors
    /// The schemas do not meet these requirements, or the arrays are sparse.
    pub fn copy_dense_cells(&self, from: &Self, names: WriteIds) -> Result<FragmentCopy> {
        FragmentCopy::of_dense_cells(self, from, names)
    }

    /// Copies a delete commit of another array with its timestamp, and therefore with the same
    /// effect on the copied fragments.
    ///
    /// # Errors
    /// The format has no deletes, or a file cannot be read or written.
    pub fn copy_delete(&self, from: &Self, path: &str) -> Result<()> {
        tdb_consolidate::copy_delete(self, from, path)
    }

    /// Opens the array with the values of a label, at the time of this array.
    ///
    /// # Errors
    /// The label's array cannot be opened.
    pub fn array_of_label(&self, label: &DimensionLabel) -> Result<Self> {
        let options = ArrayOptions::new().between(self.time()).like(self);
        options.open_on(self.storage().sub(&label.uri)?)
    }

    /// Reopens the array, at the current time or for a time range. Keeps the storage, key, limits
    /// and number of threads.
    ///
    /// Lists the folders again. Known schemas, fragments, enumerations and commits are not read
    /// again. Both snapshots share cached data. The cost is limited to the listing and new files.
    ///
    /// Neither snapshot changes if files are written later. [`counters`](Snapshot::counters) count
    /// for both together.
    ///
    /// A file with the same name and size is considered unchanged, because names are never reused.
    /// On a [remote storage](tdb_storage::ReadProfile::is_remote), the size of fragment metadata is
    /// not checked.
    ///
    /// ```
    /// use tdb_array::Array;
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let array = Array::open(folder)?;
    /// let before = array.fragments()?.len();
    /// // Another writer may have added fragments.
    /// let now = array.refreshed(None)?;
    /// assert!(now.fragments()?.len() >= before);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// See [`Array::open`].
    pub fn refreshed(&self, time: Option<TimeRange>) -> Result<Self> {
        self.0.refreshed(time).map(Self)
    }

    /// Reopens the array over all time, including files with timestamps in the future. Keeps the
    /// key, limits and number of threads.
    ///
    /// # Errors
    /// See [`Array::open`].
    pub fn reopened(&self) -> Result<Self> {
        self.0.reopened().map(Self)
    }

    /// Reopens the array for a time range. Keeps the key, limits and number of threads.
    ///
    /// # Errors
    /// See [`Array::open`].
    pub fn reopened_between(&self, time: TimeRange) -> Result<Self> {
        self.0.reopened_between(time).map(Self)
    }

    /// Reopens the array like [`reopened`](Self::reopened), and reuses the fragments that the
    /// earlier snapshot `last` has loaded. Use it to poll an array: fragments never change, but may
    /// disappear.
    ///
    /// # Errors
    /// See [`Array::open`].
    pub fn reopened_after(&self, last: &Self) -> Result<Self> {
        self.0.reopened_after(last).map(Self)
    }

    /// Restricts the snapshot to these fragments, in this order. Fragments may be uncommitted or
    /// superseded. Deletes still apply.
    #[must_use]
    pub fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        Self(self.0.restricted_to(fragments))
    }

    /// Returns the snapshot without delete commits.
    #[must_use]
    pub fn without_deletes(&self) -> Self {
        Self(self.0.without_deletes())
    }

    /// Returns a fragment as an array, as written: with the fragment's schema, without later
    /// deletes. The fragment may be superseded.
    #[must_use]
    pub fn of_fragment(&self, fragment: &Fragment) -> Self {
        Self(self.0.of_fragment(fragment))
    }

    /// Returns the array with the schema at `path`, independent of the opened time. Serves to
    /// inspect the history of an array.
    ///
    /// # Errors
    /// The schema cannot be read.
    pub fn by_schema(&self, path: &str) -> Result<Self> {
        self.0.by_schema(path).map(Self)
    }
}
