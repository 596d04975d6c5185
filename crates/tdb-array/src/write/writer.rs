//! What to write, and how: options, then one call.

use std::ops::RangeBounds;
use std::sync::Arc;

use tdb_rtree::{DimRange, NdRange};
use tdb_schema::ArraySchema;
use tdb_types::TimestampedName;

use super::check::CheckedCells;
use super::target::Target;
use super::{GlobalWriter, Names, NewCells, SealedFragment, dense, sparse};
use crate::query::range_on;
use crate::{Array, ArrayError, Coordinate, Order, Result};

/// What becomes of cells of equal coordinates in one write to a sparse array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// They are an error, which names two of them.
    Refuse,
    /// The one that was given last stays.
    KeepLast,
    /// All stay, in the order in which they were given; the array's schema has to allow it.
    Keep,
}

/// A write under construction, made by [`Array::write`]: set what there is to set, then give it [`cells`](Self::cells).
///
/// What is written becomes visible all at once, to those who open the array afterwards: this [`Array`] stays the snapshot
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
    array: Array,
    settings: Settings,
    ranges: Vec<Option<DimRange>>,
    order: Order,
    max_fragment_size: Option<u64>,
}

/// How to write, apart from what.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) names: Names,
    pub(super) any_utf8: bool,
    duplicates: Option<Duplicates>,
    budget: usize,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The names of the new fragments; none if there were no cells.
    pub fragments: Vec<TimestampedName>,
    /// How many cells they hold.
    pub cells: u64,
}

impl Settings {
    pub(super) fn duplicates(&self, schema: &ArraySchema) -> Duplicates {
        let default = if schema.allows_duplicates() { Duplicates::Keep } else { Duplicates::Refuse };
        self.duplicates.unwrap_or(default)
    }

    pub(super) fn budget(&self) -> usize {
        self.budget
    }

    /// How many tiles of so many cells to have in memory at once.
    pub(super) fn window(&self, target: &Target, cells: &CheckedCells<'_>, tile_cells: usize) -> usize {
        let bytes: usize = cells.fields.iter().map(|field| field.values.len()).sum::<usize>() / cells.len.max(1);
        self.window_of(target, bytes.max(target.cell_size()), tile_cells)
    }

    pub(super) fn window_of(&self, target: &Target, cell_bytes: usize, tile_cells: usize) -> usize {
        // A tile is there twice, before and after the filters.
        let tile = cell_bytes.saturating_mul(tile_cells).saturating_mul(2).max(1);
        // One thread is fastest with what has just been in the caches.
        let most = if target.array.workers().threads() > 1 { usize::MAX } else { 4 << 20 };
        (self.budget.min(most) / tile).clamp(target.array.workers().threads().min(2), 1 << 16)
    }
}

impl Array {
    /// Starts to write cells to the array, by the schema that it was opened with.
    pub fn write(&self) -> Write {
        let settings = Settings { names: Names::new(), any_utf8: false, duplicates: None, budget: 16 << 20 };
        let ranges = vec![None; self.schema().dim_count()];
        Write { array: self.clone(), settings, ranges, order: Order::RowMajor, max_fragment_size: None }
    }
}

impl Write {
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

    /// Takes any bytes for strings of UTF-8, as the reference library does. By default those that aren't valid are refused.
    pub fn any_utf8(mut self) -> Self {
        self.settings.any_utf8 = true;
        self
    }

    /// About how many bytes tiles may take that are on their way to their files, beside the cells given; by default 16 MiB.
    /// As many tiles as there are threads, up to two, are always there.
    ///
    /// A stream of cells ([`global_order`](Self::global_order)) holds no more at its peak than this and 32 MiB, with the batch
    /// that it is given, and what two tiles take if that is more; beside that what the fragment's metadata will say of each tile.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.settings.budget = bytes.max(1);
        self
    }

    /// The part of a dense array to write, on one dimension; by default the whole (current) domain.
    ///
    /// # Errors
    /// [`ArrayError::UnknownDimension`]; [`ArrayError::Range`] if the range is empty, outside the domain, of the wrong type,
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
        Err(ArrayError::Range { dimension: dimension.to_owned(), range, why: why.to_owned() })
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
    /// Columns or cells that the array can't have, told before anything is written; whatever the storage can't do. The
    /// array then remains as it was.
    pub fn cells<'a>(self, cells: impl Into<NewCells<'a>>) -> Result<Written> {
        let cells = cells.into();
        let target = Arc::new(Target::new(&self.array)?);
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
    /// [`ArrayError::Range`] if a range cuts tiles apart.
    pub fn global_order(self) -> Result<GlobalWriter> {
        let region = self.region();
        GlobalWriter::new(Arc::new(Target::new(&self.array)?), self.settings, region, self.max_fragment_size)
    }

    /// For writes in global order: begin another fragment before the data files of one take more bytes than this. In dense
    /// arrays fragments are cut between slices of tiles, of which each has at least one.
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

/// Commits sealed fragments.
pub(super) fn commit(target: &Target, fragments: Vec<SealedFragment>, names: &Names, cells: u64) -> Result<Written> {
    Ok(Written { fragments: SealedFragment::commit_all(fragments, (names, target.environment()))?, cells })
}
