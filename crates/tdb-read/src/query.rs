//! Queries: fields, ranges, order and budget.

mod boxes;
mod columns;
mod filter;
mod spec;

use std::collections::HashSet;
use std::ops::RangeBounds;
use std::sync::Arc;

use tdb_cells::{CellsError, Coordinate, Given, Monitor, Order, WriteBatch, dimension_index, range_on};
use tdb_query::{CheckedQuery, Memory, Region};
use tdb_rtree::{Boxes, NdRange};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{ArrayError, Result, Snapshot, unknown_field};
use tdb_types::{ArrayType, Scalar};

use crate::label::Label;

pub use boxes::QueryBox;
pub(crate) use spec::QuerySpec;

/// A query under construction. Set the selection, then call [`batches`](Self::batches) or
/// [`plan`](Self::plan).
///
/// By default a query reads all cells of the current domain, or of the domain if no current domain
/// is set. The query returns all attributes, and in a sparse array also all dimensions. Dense
/// arrays are read in row-major order, sparse arrays in the fastest order.
#[derive(Clone, Debug)]
#[must_use = "a query reads nothing until its batches are requested"]
pub struct Query {
    array: Snapshot,
    pub(crate) spec: QuerySpec,
    monitor: Option<Monitor>,
}

/// A selected label.
#[derive(Clone, Debug)]
pub(crate) struct SelectedLabel {
    pub(crate) label: Label,
    /// The index of the label's column in the result.
    pub(crate) place: usize,
    /// The index of the labeled dimension among the fields read.
    pub(crate) coordinates: usize,
}

/// The construction of result columns from the fields read.
#[derive(Debug)]
pub(crate) struct Output {
    /// The number of selected fields. Further fields are read for labels.
    pub(crate) shown: usize,
    pub(crate) labels: Vec<SelectedLabel>,
    /// The requested number of cells per batch.
    pub(crate) batch_cells: Option<usize>,
}

impl Query {
    /// Creates a query of an array.
    pub fn new(array: &Snapshot) -> Self {
        let schema = array.schema();
        let order = match schema.array_type() {
            ArrayType::Dense => Order::RowMajor,
            ArrayType::Sparse => Order::Unordered,
        };
        let spec = QuerySpec {
            selected: None,
            ranges: vec![Vec::new(); schema.dim_count()],
            boxes: None,
            order,
            filter: None,
            only_matching: false,
            budget: None,
            batch_cells: None,
            batch_bytes: None,
        };
        Self { array: array.clone(), spec, monitor: None }
    }

    /// Selects attributes, dimensions and labels, in this order. A label's column contains the
    /// label of each cell's coordinate. If a label and a field have the same name, selects the
    /// field.
    ///
    /// # Errors
    /// [`CellsError::UnknownField`] if there is no field and no label with a name.
    /// [`ArrayError::Query`] if a name is repeated.
    pub fn select<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let schema = self.array.schema();
        let known = schema.fields_by_name();
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        for name in names {
            let name = name.as_ref();
            if !known.contains_key(name) && !schema.labels().iter().any(|label| label.name == name) {
                return Err(unknown_field(schema, name).into());
            }
            if !seen.insert(name.to_owned()) {
                return Err(ArrayError::Query(format!("field {name:?} is selected twice")));
            }
            all.push(name.to_owned());
        }
        self.spec.selected = Some(all);
        Ok(self)
    }

    /// Adds a range on a dimension. Ranges on the same dimension form a union, and ranges on
    /// different dimensions intersect. A cell in several ranges is returned once.
    ///
    /// Dates and times are in units of the dimension, strings are `&str` or bytes. An open end
    /// means the end of the current domain, or of the domain if no current domain is set.
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`]. [`CellsError::Range`] if the range is empty or of the
    /// wrong type, or if a range of numbers exceeds the (current) domain.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: impl RangeBounds<C>) -> Result<Self> {
        let (index, range) = range_on(self.array.schema(), dimension, &range)?;
        self.spec.ranges[index].push(range);
        Ok(self)
    }

    /// Adds several ranges on a dimension. See [`range`](Self::range).
    ///
    /// A query with a hundred thousand ranges takes little more time than reading the tiles that
    /// intersect the ranges.
    ///
    /// # Errors
    /// The same as [`range`](Self::range).
    pub fn ranges<C: Into<Coordinate> + Clone, R: RangeBounds<C>>(
        mut self,
        dimension: &str,
        ranges: impl IntoIterator<Item = R>,
    ) -> Result<Self> {
        let schema = self.array.schema();
        let index = dimension_index(schema, dimension)?;
        let limits = schema.limits(index);
        let ranges = ranges.into_iter().map(|range| Given::of(&range).on(&schema.dimensions()[index], &limits));
        let ranges = ranges.collect::<Result<Vec<_>, CellsError>>()?;
        self.spec.ranges[index].extend(ranges);
        Ok(self)
    }

    /// Selects the cells in a box with a range for each dimension of the array. Replaces existing
    /// ranges.
    pub fn inside(mut self, region: &NdRange) -> Self {
        self.spec.ranges = region.0.iter().map(|range| vec![range.clone()]).collect();
        self
    }

    /// Adds the range of strings with this prefix. Forms a union with other ranges on the
    /// dimension.
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`]. [`CellsError::Range`] if the coordinates of the dimension
    /// are not strings.
    pub fn prefix(self, dimension: &str, prefix: impl AsRef<[u8]>) -> Result<Self> {
        self.range(dimension, Given::prefix(prefix.as_ref()))
    }

    /// Adds points: cells with given coordinates. `points` has a column for each dimension, and the
    /// `i`-th values form the `i`-th point. A thousand points select at most a thousand distinct
    /// coordinates. Ranges, by contrast, are combined as a cross product.
    ///
    /// Points form a union with other points and with [boxes](Self::boxes). The union intersects
    /// with the query's ranges. Points are a set: a repeated point returns the cell once. Arrays
    /// with duplicates return all cells at a point. A sparse array returns nothing for a point
    /// without a cell. The result has the query's order, independent of the order of points.
    ///
    /// ```
    /// use tdb_array::Array;
    ///
    /// # fn main() -> Result<(), tdb_array::ArrayError> {
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// let query = array.read().select(["y", "x"])?.points([("y", &[1i32, 0, 1]), ("x", &[2i32, 3, 2])])?;
    /// let mut cells = Vec::new();
    /// for batch in query.batches()? {
    ///     let batch = batch?;
    ///     let (y, x): (&[i32], &[i32]) = (batch.column("y")?.values()?, batch.column("x")?.values()?);
    ///     cells.extend(y.iter().copied().zip(x.iter().copied()));
    /// }
    /// assert_eq!(cells, [(0, 3), (1, 2)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`CellsError::Point`]: a point is outside of the domain.
    /// - [`CellsError::MissingColumn`], [`CellsError::RepeatedColumn`],
    ///   [`CellsError::UnknownDimension`].
    /// - [`CellsError::WrongType`] or [`CellsError::ColumnShape`]: a column does not match the type
    ///   of the dimension, or the length of the other columns.
    /// - [`CellsError::Cell`]: a coordinate is null, or has invalid offsets.
    pub fn points<'a>(mut self, points: impl Into<WriteBatch<'a>>) -> Result<Self> {
        let schema = self.array.schema();
        let boxes = self.spec.boxes.get_or_insert_with(|| vec![Vec::new(); schema.dim_count()]);
        boxes::add_points(boxes, schema, &points.into())?;
        Ok(self)
    }

    /// Adds boxes. A cell must be in at least one box. A box has ranges on some dimensions and
    /// spans all other dimensions.
    ///
    /// Boxes form a union with other boxes and with [points](Self::points). A cell in several boxes
    /// is returned once. The union intersects with the query's ranges.
    ///
    /// ```
    /// use tdb_array::{Array, QueryBox};
    ///
    /// # fn main() -> Result<(), tdb_array::ArrayError> {
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// let boxes = [QueryBox::new().range("y", 0..2).range("x", 1..3), QueryBox::new().range("y", 1..3).range("x", 2..4)];
    /// let cells: usize = array.read().boxes(boxes)?.batches()?.map(|batch| Ok(batch?.len())).sum::<Result<_, tdb_array::ArrayError>>()?;
    /// assert_eq!(cells, 7); // one cell is in both boxes
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`] or [`CellsError::Range`], as in [`range`](Self::range).
    /// Also [`CellsError::Range`] if the ranges of a box on the same dimension do not overlap.
    pub fn boxes(mut self, boxes: impl IntoIterator<Item = QueryBox>) -> Result<Self> {
        let schema = self.array.schema();
        let all = self.spec.boxes.get_or_insert_with(|| vec![Vec::new(); schema.dim_count()]);
        boxes::add_boxes(all, schema, boxes)?;
        Ok(self)
    }

    /// Adds the range of coordinates with labels in a range. Forms a union with other ranges on the
    /// dimension.
    ///
    /// Dates and times are in units of the label, strings are `&str` or bytes. An open end means
    /// the first or last label. Reads the label's array to find the coordinates.
    ///
    /// # Errors
    /// - [`ArrayError::Label`]: the label is unknown, has another type, or has no value in the
    ///   range.
    /// - [`CellsError::Range`]: labeled coordinates are outside of the current domain.
    /// - The labels cannot be read.
    pub fn label_range<C: Into<Coordinate> + Clone>(self, label: &str, range: impl RangeBounds<C>) -> Result<Self> {
        let found = Label::open(&self.array, label)?;
        let no_label = || ArrayError::Label { name: label.to_owned(), why: "no label in the range".to_owned() };
        let (first, last) = found.keys(range)?.ok_or_else(no_label)?;
        let index = found.dimension_index();
        let Some(dimension) = self.array.schema().dimensions().get(index) else { return Err(no_label()) };
        let coordinate = |key| Coordinate::from(Scalar::from_key(dimension.datatype().physical(), key));
        let (name, first, last) = (dimension.name().to_owned(), coordinate(first), coordinate(last));
        self.range(&name, first..=last)
    }

    /// Sets the order of the cells.
    pub fn order(mut self, order: Order) -> Self {
        self.spec.order = order;
        self
    }

    /// Sets the memory budget of the query in bytes. A batch takes at most about the budget, and
    /// contains at least one cell. Without a budget, a batch takes about 4 MiB for a single thread.
    /// For several threads, a batch takes 3 MiB (sparse) or 8 MiB (dense) per thread, up to 64 MiB.
    /// Dense batches take at least 64 KiB per selected field, up to 64 MiB.
    ///
    /// With a budget, the peak memory of the query is the budget plus 96 MiB. Each thread adds 8
    /// MiB, or the memory to unfilter the query's largest tile if that is larger. With a large
    /// budget, a batch takes about a third of the budget in dense arrays, and a fifth in sparse
    /// arrays. The rest is for sorting cells and for tiles kept for further batches.
    ///
    /// With a small budget, several batches are built together if separate batches would unfilter
    /// the same tiles. These batches take up to 8 MiB (dense) or 16 MiB (sparse) in total, and are
    /// returned one by one. Tiles that do not fit into this memory may be unfiltered many times.
    /// Without a budget, 64 MiB of tiles are kept, and 64 MiB of cells are sorted at a time.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.spec.budget = Some(bytes.max(1));
        self
    }

    pub(crate) fn schema(&self) -> &ArraySchema {
        self.array.schema()
    }

    /// Returns the memory of groups in bytes: a quarter of the budget, or the default. Tables
    /// temporarily take twice this memory while they grow or are sorted.
    pub(crate) fn group_memory(&self) -> usize {
        /// The default is large, because several passes over an array cost more than memory.
        const DEFAULT: usize = 128 << 20;
        self.spec.budget.map_or(DEFAULT, |budget| budget / 4)
    }

    /// Returns the maximum number of groups per batch.
    pub(crate) fn group_rows(&self) -> usize {
        /// A row takes a few hundred bytes.
        const MOST: usize = 8192;
        self.spec.budget.map_or(MOST, |budget| (budget / 512).clamp(1, MOST))
    }

    /// Sets the number of cells per batch. The last batch may be smaller. Other batches are smaller
    /// if the requested number of cells would exceed [`batch_bytes`](Self::batch_bytes), or the
    /// share of a batch in the [`budget`](Self::budget).
    ///
    /// The budget, not this number, determines how much data is read at a time. Larger batches are
    /// sliced without copying values. Smaller batches are concatenated by copying.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = tdb_array::Array::open(folder)?;
    /// let batches = array.read().range("y", 0..=1)?.range("x", 1..=5)?.batch_cells(4).batches()?;
    /// let cells: Vec<usize> = batches.map(|batch| batch.map(|batch| batch.len())).collect::<Result<_, _>>()?;
    /// assert_eq!(cells, [4, 4, 2]);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    pub fn batch_cells(mut self, cells: usize) -> Self {
        self.spec.batch_cells = Some(cells.max(1));
        self
    }

    /// Sets the maximum size of a batch in bytes, labels included. Only a batch of a single cell
    /// may be larger. Batches may be smaller, because they end with tiles, and are concatenated
    /// only with [`batch_cells`](Self::batch_cells).
    ///
    /// Unlike the [`budget`](Self::budget), this does not limit the memory of the whole query.
    /// Sparse batches are built in about this size. An early stop after the first batch then costs
    /// little, and batches stay in CPU caches. If separate batches would unfilter the same tiles,
    /// several batches are built together.
    ///
    /// With a budget, the smaller limit applies: this size or the share of a batch in the budget.
    /// Without a budget, memory grows with batches larger than the default.
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.spec.batch_bytes = Some(bytes.max(1));
        self
    }

    /// Sets the monitor for cancellation and progress. A monitor with progress requires a
    /// [`plan`](Self::plan), which [`batches`](Self::batches) makes before reading.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = Some(monitor.clone());
        self
    }

    /// Returns the monitor of the query, if set.
    #[must_use]
    pub fn monitored_by(&self) -> Option<&Monitor> {
        self.monitor.as_ref()
    }

    /// Checks the query against the array.
    ///
    /// # Errors
    /// - [`ArrayError::Query`]: global order with several ranges on a dimension, or invalid boxes.
    /// - [`ArrayError::Filter`]: the condition does not match the schema.
    /// - [`ArrayError::Unsupported`]: a dense array contains a delete commit.
    /// - [`ArrayError::Cancelled`]: the monitor was cancelled.
    /// - A selected label cannot be opened, or an enumeration cannot be read.
    pub fn check(&self) -> Result<CheckedQuery> {
        Ok(self.check_with_output()?.0)
    }

    /// Checks the query as in [`check`](Self::check), and determines the result columns.
    pub(crate) fn check_with_output(&self) -> Result<(CheckedQuery, Output)> {
        let schema = self.array.schema();
        if let (true, Some(delete)) = (schema.is_dense(), self.array.directory().deletes.first()) {
            let what = "unexpected delete commit in a dense array; no release writes such files".to_owned();
            return Err(ArrayError::Unsupported { file: self.array.storage().describe(delete), what });
        }
        let count = schema.domain().dimensions().len();
        let limits = (0..count).map(|index| schema.limits(index)).collect();
        let mut region = Region::new(&self.spec.ranges, limits);
        let boxes = match &self.spec.boxes {
            // In an array with a single dimension, boxes are ranges.
            Some(boxes) if count == 1 => {
                region.intersect(boxes);
                None
            }
            Some(boxes) => {
                let boxes = Boxes::new(&schema.domain().kinds(), boxes);
                Some(Arc::new(boxes.map_err(|error| ArrayError::Query(error.to_string()))?))
            }
            None => None,
        };
        // Global order is possible for points and boxes: tile by tile, or with a single dimension
        // as ascending ranges.
        let is_single = region.is_single() || self.spec.boxes.is_some();
        if self.spec.order == Order::Global && !is_single {
            let what =
                "cannot read several ranges of a dimension in global order; read unordered, or one range at a time";
            return Err(ArrayError::Query(what.to_owned()));
        }
        let (fields, shown, labels) = self.selection()?;
        let filter = self.bound_filter()?;
        let threads = self.array.workers().threads();
        let kind = schema.array_type();
        let mut memory = Memory::of(self.spec.budget, kind, threads, fields.len(), !labels.is_empty());
        if let Some(bytes) = self.spec.batch_bytes {
            memory = memory.in_batches_of(bytes, kind, self.spec.budget);
        }
        let array = match &self.monitor {
            Some(monitor) => self.array.watched(monitor),
            None => self.array.clone(),
        };
        array.workers().check()?;
        let (fields, only_matching, order) = (fields.into(), self.spec.only_matching, self.spec.order);
        let query = CheckedQuery { array, fields, filter, only_matching, region, boxes, order, memory };
        Ok((query, Output { shown, labels, batch_cells: self.spec.batch_cells }))
    }

    /// Returns the fields to read, the number of selected fields, and the labels.
    fn selection(&self) -> Result<(Vec<FieldRef>, usize, Vec<SelectedLabel>)> {
        let Some(selected) = &self.spec.selected else {
            let fields = all_fields(self.array.schema());
            let shown = fields.len();
            return Ok((fields, shown, Vec::new()));
        };
        let (mut fields, mut labels) = (Vec::new(), Vec::new());
        let known = self.schema().fields_by_name();
        for (place, name) in selected.iter().enumerate() {
            match known.get(name.as_str()) {
                Some(field) => fields.push(*field),
                None => labels.push((place, Label::open(&self.array, name)?)),
            }
        }
        let shown = fields.len();
        let labels = labels.into_iter().map(|(place, label)| {
            let field = FieldRef::Dimension(label.dimension_index());
            let coordinates = fields.iter().position(|known| *known == field).unwrap_or_else(|| {
                fields.push(field);
                fields.len() - 1
            });
            SelectedLabel { label, place, coordinates }
        });
        let labels = labels.collect();
        Ok((fields, shown, labels))
    }
}

/// Returns all dimensions and attributes of a sparse array, or all attributes of a dense array. In
/// dense arrays the order determines the coordinates.
fn all_fields(schema: &ArraySchema) -> Vec<FieldRef> {
    let dimensions = match schema.array_type() {
        ArrayType::Dense => 0,
        ArrayType::Sparse => schema.domain().dimensions().len(),
    };
    let attributes = (0..schema.attributes().len()).map(FieldRef::Attribute);
    (0..dimensions).map(FieldRef::Dimension).chain(attributes).collect()
}
