//! The builder of a write.

use std::ops::RangeBounds;
use std::sync::Arc;

use tdb_cells::{CellsError, Coordinate, Order, WriteBatch, range_on};
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{Result, Snapshot};
use tdb_types::FormatVersion;

use crate::settings::{Duplicates, Settings, Written};
use crate::target::Target;
use crate::{AtomicWriter, GlobalWriter, WriteIds, dense, sparse};

/// A write under construction, created by [`Write::new`]. Set options, then call
/// [`cells`](Self::cells).
///
/// The written cells become visible atomically to readers that open the array afterwards. The
/// snapshot given to `new` does not change. If the write fails, the array does not change either. A
/// write to a [watched](Snapshot::watched) array fails with
/// [`Cancelled`](tdb_snapshot::ArrayError::Cancelled)
/// when the monitor is cancelled before the commit.
///
/// ```
/// use tdb_array::{Array, WriteBatch, WriteColumn, WriteIds};
/// # use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// # use tdb_array::tdb_storage::{MemoryStorage, Storage};
/// # use tdb_array::tdb_types::{CellValNum, Datatype};
/// # let pos = Dimension::new("pos", 0u32..=999).with_tile(100);
/// # let schema = SchemaBuilder::sparse().dimension(pos).attribute(Attribute::new("qual", Datatype::Float32))
/// #     .attribute(Attribute::new("name", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var)).build()?;
/// # let storage = std::sync::Arc::new(MemoryStorage::new());
/// # for folder in ["__schema", "__fragments", "__commits"] { storage.create_folder(folder)?; }
/// # storage.create_new("__schema/__1_1_0123456789abcdef0123456789abcdef", &schema.to_file()?)?;
/// # let open = || tdb_array::ArrayOptions::new().open_on(storage.clone());
///
/// let array: Array = open()?;
/// array.write().ids(WriteIds::new().at(1_700_000_000_000)).cells([
///     ("pos", WriteColumn::values(&[30u32, 10, 20])),
///     ("qual", WriteColumn::values(&[3.5f32, 1.5, 2.5])),
///     ("name", WriteColumn::strings(["c", "a", "b"])),
/// ])?;
///
/// let batch = open()?.read().batches()?.next().unwrap()?;
/// assert_eq!(batch.column("qual")?.values::<f32>()?, [1.5, 2.5, 3.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is written until cells are passed"]
pub struct Write {
    array: Snapshot,
    settings: Settings,
    ranges: Vec<Option<DimRange>>,
    order: Order,
    max_fragment_size: Option<u64>,
    version: Option<FormatVersion>,
}

impl Write {
    /// Starts a write to an array, with the schema of the snapshot.
    pub fn new(array: &Snapshot) -> Self {
        let settings = Settings { names: WriteIds::new(), any_utf8: false, duplicates: None, budget: 16 << 20 };
        let ranges = vec![None; array.schema().dim_count()];
        Self { array: array.clone(), settings, ranges, order: Order::RowMajor, max_fragment_size: None, version: None }
    }

    /// Sets the timestamp and the names of the new files. Defaults to the current time and unique
    /// names.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.settings.names = ids;
        self
    }

    /// Sets the handling of cells with equal coordinates. By default, the write keeps all of these
    /// cells if the schema allows duplicates, and fails otherwise.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.settings.duplicates = Some(duplicates);
        self
    }

    /// Sets the format version of the new fragments. The default is the version of the array's
    /// schema, or the current version if the schema has a version below 7, as in the reference
    /// library. Arrays of format 1 to 6 accept the version of the schema and any later version. Old
    /// releases of the reference library can read only fragments of the schema's version.
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Accepts any bytes in UTF-8 strings, like the reference library. By default, invalid UTF-8 is
    /// rejected.
    pub fn any_utf8(mut self) -> Self {
        self.settings.any_utf8 = true;
        self
    }

    /// Sets the memory limit in bytes for tiles that are not yet written to files. The given cells
    /// take additional memory. Defaults to 16 MiB. At least one tile is always in memory, or two
    /// tiles with several threads.
    ///
    /// A stream of cells ([`global_order`](Self::global_order)) takes at most this limit plus 32
    /// MiB, or plus two tiles if these are larger. The limit includes the current batch. The
    /// metadata of the fragment's tiles takes additional memory.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.settings.budget = bytes.max(1);
        self
    }

    /// Restricts a dense write to a range of a dimension. Defaults to the current domain, or to the
    /// domain if the array has no current domain.
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`], or [`CellsError::Range`] if the array is sparse, or if the
    /// range is empty, outside of the domain, of the wrong type, or the second range for this
    /// dimension.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: impl RangeBounds<C>) -> Result<Self> {
        let (index, range) = range_on(self.array.schema(), dimension, &range)?;
        let known = self.array.schema().dimensions()[index].kind();
        let why = if !self.array.schema().is_dense() {
            "a sparse array takes coordinates, not ranges"
        } else if self.ranges[index].is_some() {
            "duplicate range; a write takes one range per dimension"
        } else {
            self.ranges[index] = Some(range);
            return Ok(self);
        };
        let range = range.display(known).to_string();
        Err(CellsError::Range { dimension: dimension.to_owned(), range, why: why.to_owned() }.into())
    }

    /// Sets the order of the given cells of a dense array. Defaults to row-major. Sparse arrays
    /// ignore this setting, because they accept cells in any order.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Writes cells as one fragment. A sparse array accepts cells in any order. A dense array needs
    /// all cells of the [ranges](Self::range), in the configured [order](Self::order).
    ///
    /// Writes nothing if there are no cells.
    ///
    /// # Errors
    /// The columns or cells do not fit the array, the array does not support the requested
    /// [version](Self::version), a tile exceeds the limit `tile_bytes`, a filter cannot store a
    /// value, or the storage fails. The array then remains unchanged.
    pub fn cells<'a>(self, cells: impl Into<WriteBatch<'a>>) -> Result<Written> {
        let cells = cells.into();
        let target = Arc::new(Target::new(&self.array, self.version)?);
        if !target.schema.is_dense() {
            return sparse::write(&target, &self.settings, &cells);
        }
        dense::write(&target, &self.settings, self.region(), self.order, &cells)
    }

    /// Starts a write in global order, the order in which the array stores cells. Batches can have
    /// any size. Memory stays within the [budget](Self::budget), independent of the number of
    /// cells.
    ///
    /// In a dense array, the global order is the order of the tiles, and within each tile the order
    /// of the cells. The [ranges](Self::range) must consist of whole tiles.
    ///
    /// # Errors
    /// [`CellsError::Range`] if a range of a dense array cuts tiles. Also fails if the array does
    /// not support the requested [version](Self::version), or the configured handling of
    /// [duplicates](Self::duplicates).
    pub fn global_order(self) -> Result<GlobalWriter> {
        let region = self.region();
        GlobalWriter::new(
            Arc::new(Target::new(&self.array, self.version)?),
            self.settings,
            region,
            self.max_fragment_size,
        )
    }

    /// Starts a write of several fragments that become visible atomically. In a sparse array,
    /// batches can have any size, and the cells of a batch can have any order. In a dense array,
    /// each fragment is a box ([`AtomicWriter::push_box`]).
    ///
    /// ```
    /// # use tdb_array::tdb_schema::{Dimension, SchemaBuilder};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// # let x = Dimension::new("x", 0u32..=99);
    /// # tdb_array::Array::create(&path, SchemaBuilder::sparse().dimension(x).build()?)?;
    /// let mut writer = tdb_array::Array::open(&path)?.write().atomic()?;
    /// writer.push([("x", &[7u32, 3])])?;
    /// writer.push([("x", &[5u32, 1, 9])])?;
    /// assert_eq!(tdb_array::Array::open(&path)?.fragments()?.len(), 0);
    /// assert_eq!(writer.commit()?.cells, 5);
    /// assert_eq!(tdb_array::Array::open(&path)?.fragments()?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The clock is not available, or the array does not support the requested
    /// [version](Self::version).
    pub fn atomic(self) -> Result<AtomicWriter> {
        AtomicWriter::new(Arc::new(Target::new(&self.array, self.version)?), self.settings)
    }

    /// Limits the size of fragments that [`global_order`](Self::global_order) writes. A new
    /// fragment begins before the data files of the current fragment exceed this number of bytes.
    /// Sparse fragments have at least one tile. Dense fragments end between slices of tiles and
    /// have at least one slice. The size of the next slice is an estimate, so a dense fragment can
    /// exceed the limit.
    pub fn max_fragment_size(mut self, bytes: u64) -> Self {
        self.max_fragment_size = Some(bytes);
        self
    }

    /// Returns the ranges of a dense write.
    fn region(&self) -> NdRange {
        let schema = self.array.schema();
        let range = |(index, range): (usize, &Option<DimRange>)| range.clone().unwrap_or_else(|| schema.limits(index));
        NdRange(self.ranges.iter().enumerate().map(range).collect())
    }
}
