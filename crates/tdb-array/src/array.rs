//! An array, open at a time, with all that can be done with it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use tdb_condition::Condition;
use tdb_consolidate::{FragmentCopy, Join};
use tdb_read::{Label, Query, Statistics};
use tdb_schema::{ArrayDefinition, DimensionLabel, SchemaEvolution};
use tdb_snapshot::{Fragment, FragmentEntry, Open, Options, Result, Snapshot, TimeRange};
use tdb_storage::Storage;
use tdb_types::TimestampedName;
use tdb_write::{CreateOptions, Leftover, MetadataWriter, Names, SmallFiles, Write};

/// How to open an array.
pub type ArrayOptions = Options<Array>;

/// An array as it was at one time: its schema and its committed fragments, to be read and written.
///
/// It is an immutable snapshot, cheap to clone and to share between threads. Nothing that a query doesn't need has been
/// read: footers of fragments, R-trees and tile offsets are loaded on first use and kept. What it consists of are the methods
/// of [`Snapshot`].
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
    /// Opens the array in the folder `path` as it is now; see [`ArrayOptions`] for more to say.
    ///
    /// # Errors
    /// The folder is missing or no array, or its schema or a commit file can't be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        ArrayOptions::new().open(path)
    }

    /// Makes an array in the folder `path`, which need not be there, of the format version that the schema states; see
    /// [`CreateOptions`] for more to say.
    ///
    /// ```
    /// use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
    /// use tdb_array::tdb_types::{Datatype, Scalar};
    /// use tdb_array::Array;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// let rows = Dimension::new("row", Datatype::Int32, Scalar::I32(1), Scalar::I32(100));
    /// let temperature = Attribute::new("temperature", Datatype::Float32);
    /// let schema = SchemaBuilder::dense().dimension(rows).attribute(temperature).build()?;
    /// Array::create(&path, &ArrayDefinition::new(schema)?)?;
    /// assert_eq!(Array::open(&path)?.schema().dimensions()[0].name(), "row");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayError::AlreadyThere`](crate::ArrayError::AlreadyThere) if the folder is an array or a group; an enumeration whose values are missing; whatever
    /// the storage can't do. Then nothing is left of what was made, as far as that is possible.
    pub fn create(path: impl AsRef<Path>, definition: &ArrayDefinition) -> Result<()> {
        CreateOptions::new().create(path, definition)
    }

    /// Starts a query.
    pub fn read(&self) -> Query {
        Query::new(self)
    }

    /// Starts to write cells to the array, by the schema that it was opened with.
    pub fn write(&self) -> Write {
        Write::new(self)
    }

    /// The dimension label called `name`, its array opened as it was at this array's time.
    ///
    /// # Errors
    /// [`ArrayError::Label`](crate::ArrayError::Label) if there is no such label, or its array lies elsewhere; what opening it gives.
    pub fn label(&self, name: &str) -> Result<Label> {
        Label::open(self, name)
    }

    /// What metadata alone says of all cells and of the values of a field.
    ///
    /// ```
    /// use tdb_array::{Array, Stated};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// match array.statistics("a")?.max {
    ///     Stated::Exact(max) => println!("{max:?}"),
    ///     Stated::Unknown(why) => println!("not known without a look at cells: {why}"),
    /// }
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Query::statistics`].
    pub fn statistics(&self, field: &str) -> Result<Statistics> {
        Query::new(self).statistics(field)
    }

    /// Starts a change of the array's metadata.
    pub fn write_metadata(&self) -> MetadataWriter {
        MetadataWriter::of_array(self)
    }

    /// Changes the schema: writes the enumerations that are new or have more values, then the new schema, which readers
    /// go by from then on. An array without a change asked for gets a schema like the one it has, in its version.
    ///
    /// ```
    /// use tdb_array::tdb_schema::{Attribute, SchemaEvolution};
    /// # use tdb_array::tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
    /// # use tdb_array::tdb_types::Scalar;
    /// use tdb_array::tdb_types::Datatype;
    /// use tdb_array::{Array, Names};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// # let rows = Dimension::new("row", Datatype::Int32, Scalar::I32(1), Scalar::I32(100));
    /// # let schema = SchemaBuilder::sparse().dimension(rows).build()?;
    /// # Array::create(&path, &ArrayDefinition::new(schema)?)?;
    ///
    /// let evolution = SchemaEvolution::new().add_attribute(Attribute::new("quality", Datatype::Float32));
    /// Array::open(&path)?.evolve(&evolution, &Names::new())?;
    /// assert_eq!(Array::open(&path)?.schema().attr_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayError::NewSchema`](crate::ArrayError::NewSchema) for changes that can't be made; [`ArrayError::Outdated`](crate::ArrayError::Outdated) if the array's schema is another
    /// by now, or is dated later than the new one would be; whatever the storage can't do. Then nothing has changed.
    pub fn evolve(&self, evolution: &SchemaEvolution, names: &Names) -> Result<()> {
        tdb_write::evolve(self, evolution, names)
    }

    /// Deletes the cells of a sparse array that fulfil a condition, of all that was written up to the time of the deletion
    /// (now, unless `names` says otherwise). Cells that are written later stay. By format, cells whose field is null are
    /// deleted by any comparison of it, and so are those of fragments that lack the field.
    ///
    /// ```
    /// use tdb_array::tdb_condition::Condition;
    /// use tdb_array::{Array, Names};
    /// # use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
    /// # use tdb_array::tdb_types::{Datatype, Scalar};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// # let rows = Dimension::new("row", Datatype::Int32, Scalar::I32(1), Scalar::I32(100));
    /// # let quality = Attribute::new("quality", Datatype::Float32);
    /// # let schema = SchemaBuilder::sparse().dimension(rows).attribute(quality).build()?;
    /// # Array::create(&path, &ArrayDefinition::new(schema)?)?;
    ///
    /// Array::open(&path)?.delete_cells(&Condition::field("quality").lt(10.0f32), &Names::new())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A dense array, or one of a format that has no deletes; a condition that doesn't fit the array, that tests for null,
    /// which the format has no way to store, or that is above the array's limits, so that it couldn't be read again; a time within that of a fragment too old to know the times of its cells;
    /// whatever the storage can't do. Then nothing is deleted.
    pub fn delete_cells(&self, condition: &Condition, names: &Names) -> Result<()> {
        tdb_write::delete_cells(self, condition, names)
    }

    /// Deletes the fragments that were written within a range of time, from its first to its last millisecond, those that
    /// were consolidated since included, and gives how many they were. Of fragments that began before it or ended after
    /// it, nothing is deleted.
    ///
    /// If all of them are of format 12 or later, they are gone at one moment, for readers and after a crash; older ones go
    /// one by one, the newest first.
    ///
    /// # Errors
    /// Whatever the storage can't do.
    pub fn delete_fragments(&self, time: TimeRange) -> Result<usize> {
        tdb_write::delete_fragments(self, time)
    }

    /// Everything that the array's schema says, to make others like it.
    ///
    /// # Errors
    /// An enumeration or the array of a label can't be read.
    pub fn definition(&self) -> Result<ArrayDefinition> {
        tdb_write::definition(self)
    }

    /// What interrupted writes have left behind, in the order of their paths. A write that is going on looks the same until
    /// it commits: whoever removes leftovers has to know that nobody writes, or go by their age.
    ///
    /// # Errors
    /// A folder can't be listed, a commit file or a schema can't be read: then nothing is known.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        tdb_write::leftovers(self)
    }

    /// Removes those that are still left over; what is gone already, or was committed meanwhile, is passed over. Gives those
    /// that it has removed.
    ///
    /// # Errors
    /// As [`leftovers`](Self::leftovers); whatever the storage can't do. Then some of it may be gone.
    pub fn remove_leftovers(&self, leftovers: &[Leftover]) -> Result<Vec<Leftover>> {
        tdb_write::remove_leftovers(self, leftovers)
    }

    /// The array's small files.
    #[must_use]
    pub fn small_files(&self) -> SmallFiles {
        SmallFiles::of_array(self)
    }

    /// Begins to join some of the fragments that this array shows. For all that there is, it is to be
    /// [reopened](Self::reopened) before.
    ///
    /// # Errors
    /// A fragment isn't there.
    pub fn join(&self, fragments: &[TimestampedName]) -> Result<Join> {
        Join::new(self, fragments)
    }

    /// Begins to copy a fragment of another array into this one: with the same times and the same unique part of its name, its
    /// cells in this array's order, tiles and filters. Both arrays have the same dimensions and domain, and the schema that
    /// this array was opened with has the same attributes in the same order as that of the fragment.
    ///
    /// # Errors
    /// The arrays differ otherwise; the fragment has no cells but is dense, or has times of cells that this array's format
    /// can't have.
    pub fn copy_fragment(&self, from: &Self, fragment: &Fragment) -> Result<FragmentCopy> {
        FragmentCopy::new(self, from, fragment)
    }

    /// Begins to write all cells of the dense array `from`, as it was opened, into one fragment of this one, dated as
    /// `names` say. What holds for the schemas of [`copy_fragment`](Self::copy_fragment) holds here for those that both arrays
    /// were opened with.
    ///
    /// # Errors
    /// The arrays differ otherwise, or are sparse.
    pub fn copy_dense_cells(&self, from: &Self, names: Names) -> Result<FragmentCopy> {
        FragmentCopy::of_dense_cells(self, from, names)
    }

    /// Copies a delete commit of another array, with its time, so that it applies to the copies of the same fragments.
    ///
    /// # Errors
    /// The format has no deletes; something can't be read or written.
    pub fn copy_delete(&self, from: &Self, path: &str) -> Result<()> {
        tdb_consolidate::copy_delete(self, from, path)
    }

    /// The array with the values of a label, at the time of this one.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn array_of_label(&self, label: &DimensionLabel) -> Result<Self> {
        let options = ArrayOptions::new().between(self.time()).like(self);
        options.open_on(self.storage().sub(&label.uri)?)
    }

    /// The array as it is now, or of a range of time, opened once more: on the same storage, with the same key, limits and number of
    /// threads. Its folders are listed again. Of schemas, fragments, enumerations and commits that are still there nothing is read again, and
    /// what was read and found out about them since is shared by both: this costs what listing does, and what has come since.
    ///
    /// Both are snapshots: neither changes by what is written later. [`counters`](Snapshot::counters) count for both together.
    ///
    /// A file counts as the same if its name is, and its size: names of these files are never used twice. Only of a storage [whose answers take
    /// long](tdb_storage::ReadProfile::is_remote) the sizes of fragments' metadata aren't asked for.
    ///
    /// ```
    /// use tdb_array::Array;
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let array = Array::open(folder)?;
    /// let before = array.fragments()?.len();
    /// // Somebody may have written meanwhile.
    /// let now = array.opened_again(None)?;
    /// assert!(now.fragments()?.len() >= before);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn opened_again(&self, time: Option<TimeRange>) -> Result<Self> {
        self.0.opened_again(time).map(Self)
    }

    /// The array as it is now, over all time: also what is dated in the future counts. Opened anew, with the same key, limits
    /// and number of threads.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn reopened(&self) -> Result<Self> {
        self.0.reopened().map(Self)
    }

    /// The array as it is now, of a range of time. Opened anew, with the same key, limits and number of threads.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn reopened_between(&self, time: TimeRange) -> Result<Self> {
        self.0.reopened_between(time).map(Self)
    }

    /// The same; of fragments that `last`, which was opened before, has loaded, nothing is read again. For those who look at an
    /// array again and again: a fragment never changes, though it may go.
    ///
    /// # Errors
    /// Those of [`Array::open`].
    pub fn reopened_after(&self, last: &Self) -> Result<Self> {
        self.0.reopened_after(last).map(Self)
    }

    /// The same snapshot with these fragments alone, which count in this order, also if nothing commits them, or others stand
    /// for them. What deletes cells still does.
    #[must_use]
    pub fn restricted_to(&self, fragments: Vec<FragmentEntry>) -> Self {
        Self(self.0.restricted_to(fragments))
    }

    /// The same snapshot as if nothing had been deleted by a condition since its fragments were made.
    #[must_use]
    pub fn without_deletes(&self) -> Self {
        Self(self.0.without_deletes())
    }

    /// One of its fragments as it was written, as an array: alone, by its own schema, without what was deleted since. It may be
    /// one that others stand for.
    #[must_use]
    pub fn of_fragment(&self, fragment: &Fragment) -> Self {
        Self(self.0.of_fragment(fragment))
    }

    /// The array by one of its schemas, whatever the time that was opened: for those who look at its past.
    ///
    /// # Errors
    /// The schema can't be read.
    pub fn by_schema(&self, path: &str) -> Result<Self> {
        self.0.by_schema(path).map(Self)
    }
}
