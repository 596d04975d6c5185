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

/// A snapshot of an array at a point in time, with methods to read and write the array.
///
/// A snapshot is immutable, cheap to clone, and safe to share between threads. It loads fragment
/// footers, R-trees and tile offsets on first use and caches them. The methods of [`Snapshot`] give
/// access to the schema and the fragments.
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

    /// Creates an array in the folder `path`, which need not exist. The array has the format
    /// version of its schema. See [`CreateOptions`] for further options.
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
    /// group. [`ArrayError::NewSchema`](crate::ArrayError::NewSchema) if the definition is not
    /// valid, for example because the values of an enumeration are missing. Also fails if the clock
    /// or random bytes are not available, or if the storage fails. Created files are then removed
    /// as far as possible.
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

    /// Returns statistics of all cells and of the values of a field, without reading cells.
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

    /// Evolves the schema. Writes new and extended enumerations, then the new schema. Readers that
    /// open the array afterwards use the new schema. An empty evolution writes a copy of the
    /// current schema, with the same version.
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
    /// [`ArrayError::Outdated`](crate::ArrayError::Outdated) if the schema has changed since the
    /// array was opened, or if the current schema has a later timestamp than the new schema. Also
    /// fails if an enumeration or the array of a dimension label cannot be read, if the clock or
    /// random bytes are not available, or if the storage fails. The array then remains unchanged.
    pub fn evolve(&self, evolution: &SchemaEvolution, names: &WriteIds) -> Result<()> {
        tdb_write::evolve(self, evolution, names)
    }

    /// Deletes the cells of a sparse array that meet a condition and were written up to the time of
    /// the deletion. `names` determines this time, by default the current time. Cells written later
    /// stay. The format defines that in a delete, a comparison of a field is also true for cells
    /// whose field is null, and for all cells of fragments without the field.
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
    /// - The array is dense, or its format version does not support deletes.
    /// - The condition does not fit the array.
    /// - The condition tests for null, which the format cannot store.
    /// - The condition exceeds the array's limits, so that readers would reject it.
    /// - The time of the deletion is within the time range of a fragment with a format before 15.
    ///   Readers could not apply the deletion to only some cells of this fragment.
    /// - The clock or random bytes are not available, or the storage fails.
    ///
    /// No cell is then deleted.
    pub fn delete_cells(&self, condition: &Condition, names: &WriteIds) -> Result<()> {
        tdb_write::delete_cells(self, condition, names)
    }

    /// Deletes the fragments written within a time range in milliseconds, both ends included. Also
    /// deletes superseded fragments in this range. Fragments whose time range extends beyond the
    /// given range stay. Returns the number of deleted fragments.
    ///
    /// If all deleted fragments have format 12 or later, the deletion is atomic for readers and
    /// after a crash. Otherwise the fragments are deleted one by one, newest first.
    ///
    /// # Errors
    /// A commit file cannot be read, the clock or random bytes are not available, or the storage
    /// fails. Some of the fragments may then already be deleted.
    pub fn delete_fragments(&self, time: TimeRange) -> Result<usize> {
        tdb_write::delete_fragments(self, time)
    }

    /// Returns the definition of the array, from which similar arrays can be created: the schema,
    /// the values of enumerations, and the labels whose arrays are stored in the array's folder.
    ///
    /// # Errors
    /// An enumeration or the array of a dimension label cannot be read.
    pub fn definition(&self) -> Result<ArrayDefinition> {
        tdb_write::definition(self)
    }

    /// Finds the orphaned files of interrupted writes, sorted by path. Before its commit, a write
    /// in progress looks the same as an interrupted write. Before you remove orphaned files, make
    /// sure that no write is in progress, or check the age of the files.
    ///
    /// # Errors
    /// A folder cannot be listed, or a commit file or a schema cannot be read. Also fails if the
    /// array has the folder `__fragments` with entries, but not the folder `__commits`.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        tdb_write::leftovers(self)
    }

    /// Removes the given files and folders that are still orphaned. Skips missing entries, and
    /// entries committed in the meantime. Returns the removed entries.
    ///
    /// # Errors
    /// See [`leftovers`](Self::leftovers). Also fails if an entry cannot be removed. Other entries
    /// may then already be removed.
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
    /// `fragments` is empty, or a fragment does not belong to the snapshot.
    pub fn join(&self, fragments: &[TimestampedName]) -> Result<FragmentJoin> {
        FragmentJoin::new(self, fragments)
    }

    /// Prepares to copy a fragment of another array into this array. The copy keeps the timestamps
    /// and the unique part of the name. The cells get the order, tiles and filters of this array.
    /// Both arrays must have the same dimensions and domain. The schema of this snapshot must have
    /// the same attributes, in the same order, as the fragment's schema. The format of this array
    /// must support the timestamps and deletions that the fragment stores per cell.
    ///
    /// # Errors
    /// The schemas do not meet these requirements. The support of timestamps and deletions is not
    /// checked.
    pub fn copy_fragment(&self, from: &Self, fragment: &Fragment) -> Result<FragmentCopy> {
        FragmentCopy::new(self, from, fragment)
    }

    /// Prepares to write all cells of the dense snapshot `from` into one fragment of this array,
    /// with the timestamp of `names`. The requirements of [`copy_fragment`](Self::copy_fragment)
    /// apply to the schemas of both snapshots.
    ///
    /// # Errors
    /// The schemas do not meet these requirements, or this array is sparse.
    pub fn copy_dense_cells(&self, from: &Self, names: WriteIds) -> Result<FragmentCopy> {
        FragmentCopy::of_dense_cells(self, from, names)
    }

    /// Copies a delete commit of another array. The copy keeps the timestamp, and therefore has the
    /// same effect on the copied fragments.
    ///
    /// # Errors
    /// The format of this array does not support deletes, a copy already exists, or a file cannot
    /// be read or written.
    pub fn copy_delete(&self, from: &Self, path: &str) -> Result<()> {
        tdb_consolidate::copy_delete(self, from, path)
    }

    /// Opens the array that stores the values of a label, at the time of this array.
    ///
    /// # Errors
    /// The label's array cannot be opened.
    pub fn array_of_label(&self, label: &DimensionLabel) -> Result<Self> {
        let options = ArrayOptions::new().between(self.time()).like(self);
        options.open_on(self.storage().sub(&label.uri)?)
    }

    /// Reopens the array for the range `time`, or by default at the current time. Keeps the
    /// storage, key, limits and number of threads.
    ///
    /// Lists the folders again, and reads only new files. Does not read known schemas, fragments,
    /// enumerations and commits again. Both snapshots share cached data.
    ///
    /// Neither snapshot changes if files are written later. [`counters`](Snapshot::counters)
    /// include the requests of both snapshots.
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

    /// Reopens the array for the range of all times, including times in the future. Keeps the key,
    /// limits and number of threads.
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
    /// earlier snapshot `last` has loaded. Use this method to poll an array. Fragments may have
    /// disappeared since, but never change.
    ///
    /// # Errors
    /// See [`Array::open`].
    pub fn reopened_after(&self, last: &Self) -> Result<Self> {
        self.0.reopened_after(last).map(Self)
    }

    /// Returns a snapshot of only these fragments, in this order. The fragments may be uncommitted
    /// or superseded. Delete commits still apply.
    #[must_use]
    pub fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        Self(self.0.restricted_to(fragments))
    }

    /// Returns the snapshot without delete commits.
    #[must_use]
    pub fn without_deletes(&self) -> Self {
        Self(self.0.without_deletes())
    }

    /// Returns an array of the cells of a single fragment, with the fragment's schema and without
    /// delete commits. The fragment may be superseded.
    #[must_use]
    pub fn of_fragment(&self, fragment: &Fragment) -> Self {
        Self(self.0.of_fragment(fragment))
    }

    /// Returns the array with the schema at `path`, regardless of the opening time. Use this method
    /// to inspect the history of an array.
    ///
    /// # Errors
    /// The schema cannot be read.
    pub fn by_schema(&self, path: &str) -> Result<Self> {
        self.0.by_schema(path).map(Self)
    }
}
