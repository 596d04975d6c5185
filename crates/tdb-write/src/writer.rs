//! What to write, and how: options, then one call.

use std::ops::RangeBounds;
use std::sync::Arc;

use tdb_cells::{CellsError, Coordinate, NewCells, Order, range_on};
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{Result, Snapshot};
use tdb_types::FormatVersion;

use crate::settings::{Duplicates, Settings, Written};
use crate::target::Target;
use crate::{GlobalWriter, Names, TogetherWriter, dense, sparse};

/// A write under construction, made by [`Write::new`]: set what there is to set, then give it [`cells`](Self::cells).
///
/// What is written becomes visible all at once, to those who open the array afterwards: the array that was written to stays the snapshot
/// that it is. Whatever goes wrong before, the array remains as it was.
///
/// ```
/// use tdb_array::{Array, NewCells, NewColumn, Names};
/// # use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// # use tdb_array::tdb_storage::{MemoryStorage, Storage};
/// # use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};
/// # let pos = Dimension::new("pos", Datatype::UInt32, Scalar::U32(0), Scalar::U32(999)).with_tile_extent(Scalar::U32(100));
/// # let schema = SchemaBuilder::sparse().dimension(pos).attribute(Attribute::new("qual", Datatype::Float32))
/// #     .attribute(Attribute::new("name", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var)).build()?;
/// # let storage = std::sync::Arc::new(MemoryStorage::new());
/// # for folder in ["__schema", "__fragments", "__commits"] { storage.create_folder(folder)?; }
/// # storage.create_new("__schema/__1_1_0123456789abcdef0123456789abcdef", &schema.to_file()?)?;
/// # let open = || tdb_array::ArrayOptions::new().open_on(storage.clone());
///
/// let array: Array = open()?;
/// array.write().names(Names::new().at(1_700_000_000_000)).cells([
///     ("pos", NewColumn::values(&[30u32, 10, 20])),
///     ("qual", NewColumn::values(&[3.5f32, 1.5, 2.5])),
///     ("name", NewColumn::strings(["c", "a", "b"])),
/// ])?;
///
/// let batch = open()?.read().batches()?.next().unwrap()?;
/// assert_eq!(batch.column("qual")?.values::<f32>()?, [1.5, 2.5, 3.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is written until cells are given"]
pub struct Write {
    array: Snapshot,
    settings: Settings,
    ranges: Vec<Option<DimRange>>,
    order: Order,
    max_fragment_size: Option<u64>,
    version: Option<FormatVersion>,
}

impl Write {
    /// Starts to write cells to an array, by the schema that it was opened with.
    pub fn new(array: &Snapshot) -> Self {
        let settings = Settings { names: Names::new(), any_utf8: false, duplicates: None, budget: 16 << 20 };
        let ranges = vec![None; array.schema().dim_count()];
        Self { array: array.clone(), settings, ranges, order: Order::RowMajor, max_fragment_size: None, version: None }
    }

    /// The time that the write is said to have happened at, and the names that it takes; by default now.
    pub fn names(mut self, names: Names) -> Self {
        self.settings.names = names;
        self
    }

    /// What becomes of cells of equal coordinates. By default they stay where the schema allows it, and are refused where
    /// it doesn't.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.settings.duplicates = Some(duplicates);
        self
    }

    /// The format version of the new fragments. By default it is that of the array's schema, or today's if that is below 7, as
    /// the reference library does it. In arrays of format 1 to 6 it may be any from the schema's on: fragments of the
    /// schema's own version are what the releases of its time can read.
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Takes any bytes for strings of UTF-8, as the reference library does. By default those that aren't valid are refused.
    pub fn any_utf8(mut self) -> Self {
        self.settings.any_utf8 = true;
        self
    }

    /// About how many bytes tiles may take that are on their way to their files, in addition to the cells given; by default 16 MiB.
    /// As many tiles as there are threads, up to two, are always there.
    ///
    /// A stream of cells ([`global_order`](Self::global_order)) holds no more at its peak than this and 32 MiB, with the batch
    /// that it is given, and what two tiles take if that is more; to this comes what the fragment's metadata will say of each tile.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.settings.budget = bytes.max(1);
        self
    }

    /// The part of a dense array to write, on one dimension; by default the whole (current) domain.
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`]; [`CellsError::Range`] if the range is empty, outside the domain, of the wrong type,
    /// or the second one; the array is sparse.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: impl RangeBounds<C>) -> Result<Self> {
        let (index, range) = range_on(self.array.schema(), dimension, &range)?;
        let known = self.array.schema().dimensions()[index].kind();
        let why = if !self.array.schema().is_dense() {
            "cells of a sparse array have coordinates, and no range"
        } else if self.ranges[index].is_some() {
            "a write has one range per dimension"
        } else {
            self.ranges[index] = Some(range);
            return Ok(self);
        };
        let range = range.display(known).to_string();
        Err(CellsError::Range { dimension: dimension.to_owned(), range, why: why.to_owned() }.into())
    }

    /// The order in which the cells of a dense array are given, row-major by default. The cells of a sparse one may come in
    /// any.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Writes cells, as one fragment: of a sparse array in any order; of a dense one all those of the
    /// [ranges](Self::range), in the [order](Self::order) set.
    ///
    /// Nothing is written if there are no cells.
    ///
    /// # Errors
    /// Columns or cells that the array can't have, found before anything is written; whatever the storage can't do. The
    /// array then remains as it was.
    pub fn cells<'a>(self, cells: impl Into<NewCells<'a>>) -> Result<Written> {
        let cells = cells.into();
        let target = Arc::new(Target::new(&self.array, self.version)?);
        if !target.schema.is_dense() {
            return sparse::write(&target, &self.settings, &cells);
        }
        dense::write(&target, &self.settings, self.region(), self.order, &cells)
    }

    /// Begins a write in global order: the order in which the array stores cells. Batches of any size go in; what is in
    /// memory keeps to the [budget](Self::budget), however much is written.
    ///
    /// In a dense array it is the order of tiles, and of cells in each, for [ranges](Self::range) of whole tiles.
    ///
    /// # Errors
    /// [`CellsError::Range`] if a range cuts tiles apart.
    pub fn global_order(self) -> Result<GlobalWriter> {
        let region = self.region();
        GlobalWriter::new(
            Arc::new(Target::new(&self.array, self.version)?),
            self.settings,
            region,
            self.max_fragment_size,
        )
    }

    /// Begins a write in several fragments, which become part of the array at once: of a sparse array in batches of any size, each in
    /// any order; of a dense one box by box ([`TogetherWriter::push_box`]).
    ///
    /// ```
    /// # use tdb_array::tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
    /// # use tdb_array::tdb_types::{Datatype, Scalar};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("array");
    /// # let x = Dimension::new("x", Datatype::UInt32, Scalar::U32(0), Scalar::U32(99));
    /// # tdb_array::Array::create(&path, &ArrayDefinition::new(SchemaBuilder::sparse().dimension(x).build()?)?)?;
    /// let mut writer = tdb_array::Array::open(&path)?.write().together()?;
    /// writer.push([("x", &[7u32, 3])])?;
    /// writer.push([("x", &[5u32, 1, 9])])?;
    /// assert_eq!(tdb_array::Array::open(&path)?.fragments()?.len(), 0);
    /// assert_eq!(writer.commit()?.cells, 5);
    /// assert_eq!(tdb_array::Array::open(&path)?.fragments()?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The clock has no time.
    pub fn together(self) -> Result<TogetherWriter> {
        TogetherWriter::new(Arc::new(Target::new(&self.array, self.version)?), self.settings)
    }

    /// For writes in global order: begin another fragment before the data files of one take more bytes than this. In dense
    /// arrays fragments are cut between slices of tiles; each has at least one slice.
    pub fn max_fragment_size(mut self, bytes: u64) -> Self {
        self.max_fragment_size = Some(bytes);
        self
    }

    /// The ranges of a dense write.
    fn region(&self) -> NdRange {
        let schema = self.array.schema();
        let range = |(index, range): (usize, &Option<DimRange>)| range.clone().unwrap_or_else(|| schema.limits(index));
        NdRange(self.ranges.iter().enumerate().map(range).collect())
    }
}
