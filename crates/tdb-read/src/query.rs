//! What to read: fields, ranges, an order, a budget.

mod boxes;
mod columns;
mod filter;
mod spec;

use std::collections::HashSet;
use std::ops::RangeBounds;
use std::sync::Arc;

use tdb_cells::{CellsError, Coordinate, Given, Monitor, NewCells, Order, dimension_index, range_on};
use tdb_condition::Condition;
use tdb_query::{CheckedQuery, Memory, Region};
use tdb_rtree::{Boxes, DimRange, NdRange};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{ArrayError, Result, Snapshot, unknown_field};
use tdb_types::{ArrayType, Scalar};

use crate::label::Label;
use boxes::GivenBoxes;

pub use boxes::QueryBox;
pub(crate) use spec::QuerySpec;

/// A query under construction: set what to read, then take [`batches`](Self::batches), or ask for the
/// [`plan`](Self::plan).
///
/// Without further words it reads all fields of the whole (current) domain: a dense array in row-major order, a sparse one
/// in whatever order is fastest.
#[derive(Clone, Debug)]
#[must_use = "a query reads nothing until its batches are taken"]
pub struct Query {
    array: Snapshot,
    selected: Option<Vec<Selected>>,
    ranges: Vec<Vec<DimRange>>,
    /// Points and boxes, if any were given, be it none.
    boxes: Option<GivenBoxes>,
    order: Order,
    budget: Option<usize>,
    filter: Option<Condition>,
    only_matching: bool,
    monitor: Option<Monitor>,
    batch_cells: Option<usize>,
    batch_bytes: Option<usize>,
}

/// What a query shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Selected {
    Field(FieldRef),
    /// A label, by its name.
    Label(String),
}

/// A label that a query shows.
#[derive(Clone, Debug)]
pub(crate) struct SelectedLabel {
    pub(crate) label: Label,
    /// Its place among the columns of the result.
    pub(crate) place: usize,
    /// The place of its dimension among the fields that are read.
    pub(crate) coordinates: usize,
}

/// How the columns of a result are put together from what is read.
#[derive(Debug)]
pub(crate) struct Output {
    /// How many of the fields that are read were selected; those behind them are read for labels.
    pub(crate) shown: usize,
    pub(crate) labels: Vec<SelectedLabel>,
    /// How many cells the caller wants a batch to have.
    pub(crate) batch_cells: Option<usize>,
}

impl Query {
    /// Starts a query of an array.
    pub fn new(array: &Snapshot) -> Self {
        let schema = array.schema();
        let order = match schema.array_type() {
            ArrayType::Dense => Order::RowMajor,
            ArrayType::Sparse => Order::Unordered,
        };
        let ranges = vec![Vec::new(); schema.domain().dimensions().len()];
        Self {
            array: array.clone(),
            selected: None,
            ranges,
            boxes: None,
            order,
            budget: None,
            filter: None,
            only_matching: false,
            monitor: None,
            batch_cells: None,
            batch_bytes: None,
        }
    }

    /// Reads these attributes, dimensions and labels, in this order, and no others. A label's column holds for each cell the
    /// label of its coordinate; where a label is called as a field is, the field is meant.
    ///
    /// # Errors
    /// [`CellsError::UnknownField`], or a field named twice.
    pub fn select<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let schema = self.array.schema();
        let known = schema.fields_by_name();
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        for name in names {
            let name = name.as_ref();
            let selected = match known.get(name) {
                Some(field) => Selected::Field(*field),
                None if schema.labels().iter().any(|label| label.name == name) => Selected::Label(name.to_owned()),
                None => return Err(unknown_field(schema, name).into()),
            };
            if !seen.insert(selected.clone()) {
                return Err(ArrayError::Query(format!("field {name:?} is selected twice")));
            }
            all.push(selected);
        }
        self.selected = Some(all);
        Ok(self)
    }

    /// Adds a range on a dimension. Several ranges on one dimension are a union, those of different dimensions intersect: a cell that
    /// lies in several ranges comes once.
    ///
    /// Dates and times are given in units of the dimension, strings as `&str` or bytes. An open end means the end of
    /// the domain.
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`], or [`CellsError::Range`] if the range is empty, outside the domain or of the
    /// wrong type.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: impl RangeBounds<C>) -> Result<Self> {
        let (index, range) = range_on(self.array.schema(), dimension, &range)?;
        self.ranges[index].push(range);
        Ok(self)
    }

    /// Adds several ranges on a dimension at once, each as [`range`](Self::range) takes it.
    ///
    /// A hundred thousand ranges cost little more than the tiles that they touch.
    ///
    /// # Errors
    /// As [`range`](Self::range).
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
        self.ranges[index].extend(ranges);
        Ok(self)
    }

    /// Reads the cells in a box of the array's dimensions.
    pub fn inside(mut self, region: &NdRange) -> Self {
        self.ranges = region.0.iter().map(|range| vec![range.clone()]).collect();
        self
    }

    /// Adds the range of strings that begin with `prefix`; it adds up with other ranges on the same dimension.
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`], or [`CellsError::Range`] if its coordinates are no strings.
    pub fn prefix(self, dimension: &str, prefix: impl AsRef<[u8]>) -> Result<Self> {
        self.range(dimension, Given::prefix(prefix.as_ref()))
    }

    /// Adds points: the cells with these coordinates. `points` has a column for each dimension, and the `i`-th values of all of
    /// them are the `i`-th point; so a thousand points are a thousand cells at most, unlike ranges, which are combined in every way.
    ///
    /// Points add up with other points and with [boxes](Self::boxes); what all of these select intersects with the query's ranges.
    /// They are a set: a point that is given twice, or lies in a box too, gives its cell once (in arrays that allow duplicates all
    /// cells that are there), and where there is no cell, a sparse array gives none. The order is the query's, not that of the points.
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
    /// [`CellsError::Point`] if one lies outside the domain; [`CellsError::MissingColumn`], [`CellsError::RepeatedColumn`],
    /// [`CellsError::UnknownDimension`]; [`CellsError::WrongType`] or [`CellsError::ColumnShape`] if a column isn't of the type of its
    /// dimension, or not as long as the others.
    pub fn points<'a>(mut self, points: impl Into<NewCells<'a>>) -> Result<Self> {
        let schema = self.array.schema();
        self.boxes.get_or_insert_with(|| GivenBoxes::new(schema)).add_points(schema, &points.into())?;
        Ok(self)
    }

    /// Adds boxes: the cells that lie in at least one of them. A box has a range on each of some dimensions, and all of the others.
    ///
    /// Boxes add up with each other and with [points](Self::points), as a set: a cell in two of them comes once. What all of these
    /// select intersects with the query's ranges.
    ///
    /// ```
    /// use tdb_array::{Array, QueryBox};
    ///
    /// # fn main() -> Result<(), tdb_array::ArrayError> {
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// let boxes = [QueryBox::new().range("y", 0..2).range("x", 1..3), QueryBox::new().range("y", 1..3).range("x", 2..4)];
    /// let cells: usize = array.read().boxes(boxes)?.batches()?.map(|batch| Ok(batch?.len())).sum::<Result<_, tdb_array::ArrayError>>()?;
    /// assert_eq!(cells, 7); // they share one
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CellsError::UnknownDimension`], or [`CellsError::Range`], as with [`range`](Self::range).
    pub fn boxes(mut self, boxes: impl IntoIterator<Item = QueryBox>) -> Result<Self> {
        let schema = self.array.schema();
        self.boxes.get_or_insert_with(|| GivenBoxes::new(schema)).add_boxes(schema, boxes)?;
        Ok(self)
    }

    /// Adds the range of coordinates whose labels lie in a range; it adds up with other ranges on the same dimension.
    ///
    /// Dates and times are given in units of the label, strings as `&str` or bytes. An open end means the first or last
    /// label. The labels that bound the range are looked up here, by reading the label's array.
    ///
    /// # Errors
    /// [`ArrayError::Label`] if there is no such label, it is of another type, or none lies in the range;
    /// [`CellsError::Range`] if labelled coordinates lie outside the current domain; what reading the labels gives.
    pub fn label_range<C: Into<Coordinate> + Clone>(self, label: &str, range: impl RangeBounds<C>) -> Result<Self> {
        let found = Label::open(&self.array, label)?;
        let no_label = || ArrayError::Label { name: label.to_owned(), why: "no label lies in the range".to_owned() };
        let (first, last) = found.keys(range)?.ok_or_else(no_label)?;
        let index = found.dimension_index();
        let Some(dimension) = self.array.schema().dimensions().get(index) else { return Err(no_label()) };
        let coordinate = |key| Coordinate::from(Scalar::from_key(dimension.datatype().physical(), key));
        let (name, first, last) = (dimension.name().to_owned(), coordinate(first), coordinate(last));
        self.range(&name, first..=last)
    }

    /// The order of the cells.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// About how many bytes a batch may take, by default 4 MiB, or 3 MiB for each of several threads, 8 MiB in dense
    /// arrays, and 64 MiB at most; it always holds at least one cell.
    ///
    /// At its peak a query with a budget holds no more than the budget and 96 MiB, and for each thread 8 MiB, or what
    /// unfiltering its largest tile takes if that is more. So of a large budget a batch takes a part: about a third in dense arrays,
    /// a fifth in sparse ones, where cells that have to be sorted, and tiles that more batches will be made of, take the rest.
    ///
    /// Where a small budget would have the same tiles unfiltered for one batch after the other, several are made at once, of
    /// together up to 8 MiB (dense) or 16 MiB (sparse), and given one by one. Only tiles that don't fit into all that are
    /// unfiltered more than a few times. Without a budget 64 MiB of tiles are kept, and as many of cells are sorted at a time.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes.max(1));
        self
    }

    pub(crate) fn schema(&self) -> &ArraySchema {
        self.array.schema()
    }

    /// Bytes that groups of cells may take: tables that grow, or are sorted, take twice that for a while, which is half of the
    /// budget.
    pub(crate) fn group_memory(&self) -> usize {
        /// Several passes over an array cost more than memory does.
        const DEFAULT: usize = 128 << 20;
        self.budget.map_or(DEFAULT, |budget| budget / 4)
    }

    /// Leaves half of the memory to others.
    pub(crate) fn halve_budget(&mut self) {
        self.budget = self.budget.map(|budget| (budget / 2).max(1));
    }

    /// How many groups a batch has.
    pub(crate) fn group_rows(&self) -> usize {
        /// A row takes some hundred bytes.
        const MOST: usize = 8192;
        self.budget.map_or(MOST, |budget| (budget / 512).clamp(1, MOST))
    }

    /// How many cells a batch has: all but the last have exactly so many, unless so many take more bytes than a batch
    /// [may have](Self::batch_bytes), or than it has room for in a [`budget`](Self::budget) that was set; then it has as many as fit.
    ///
    /// How much is read at a time doesn't follow from this, but from the budget. Batches that are cut to this size share their
    /// values; smaller ones are copied together.
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
        self.batch_cells = Some(cells.max(1));
        self
    }

    /// How many bytes of memory a batch may take, its labels included: never more, unless it is a single cell that does. It may
    /// have fewer: batches end where tiles do, and aren't copied together for the sake of their size.
    ///
    /// In contrast to the [`budget`](Self::budget), this says nothing of what the whole query holds. Batches of sparse arrays are put together
    /// in about this size, so that little is read where somebody stops after the first of them, and caches hold what they are made of; where
    /// they would have the same tiles unfiltered again, several are made at once. Where both are set, the lesser of this and the budget's part for a batch counts. Without a budget, memory grows with
    /// batches that are larger than the usual ones.
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = Some(bytes.max(1));
        self
    }

    /// Has the query cancelled by a handle, which also says how far it is. Knowing what there is to do takes a
    /// [`plan`](Self::plan), which is made first.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = Some(monitor.clone());
        self
    }

    /// The handle that cancels the query, if it was given one.
    #[must_use]
    pub fn monitored_by(&self) -> Option<&Monitor> {
        self.monitor.as_ref()
    }

    /// What is to be read.
    pub fn check(&self) -> Result<CheckedQuery> {
        Ok(self.check_with_output()?.0)
    }

    /// What is to be read, and what becomes of it.
    pub(crate) fn check_with_output(&self) -> Result<(CheckedQuery, Output)> {
        let schema = self.array.schema();
        if let (true, Some(delete)) = (schema.is_dense(), self.array.directory().deletes.first()) {
            let what =
                "cells of dense arrays can't be deleted by a condition; no release writes such a file".to_owned();
            return Err(ArrayError::Unsupported { file: self.array.storage().describe(delete), what });
        }
        let count = schema.domain().dimensions().len();
        let limits = (0..count).map(|index| schema.limits(index)).collect();
        let mut region = Region::new(&self.ranges, limits);
        let boxes = match &self.boxes {
            // Boxes of one dimension are ranges.
            Some(GivenBoxes(boxes)) if count == 1 => {
                region.intersect(boxes);
                None
            }
            Some(GivenBoxes(boxes)) => {
                let boxes = Boxes::new(&schema.domain().kinds(), boxes);
                Some(Arc::new(boxes.map_err(|error| ArrayError::Query(error.to_string()))?))
            }
            None => None,
        };
        // Points and boxes are walked through tile by tile, those of one dimension in ascending order.
        let is_single = region.is_single() || self.boxes.is_some();
        if self.order == Order::Global && !is_single {
            let what = "several ranges on a dimension can't be read in global order; read unordered, or range by range";
            return Err(ArrayError::Query(what.to_owned()));
        }
        let (fields, shown, labels) = self.selection()?;
        let filter = self.bound_filter()?;
        let threads = self.array.workers().threads();
        let kind = schema.array_type();
        let mut memory = Memory::of(self.budget, kind, threads, !labels.is_empty());
        if let Some(bytes) = self.batch_bytes {
            memory = memory.in_batches_of(bytes, kind, self.budget);
        }
        let array = match &self.monitor {
            Some(monitor) => self.array.watched(monitor),
            None => self.array.clone(),
        };
        array.workers().check()?;
        let (fields, only_matching, order) = (fields.into(), self.only_matching, self.order);
        let query = CheckedQuery { array, fields, filter, only_matching, region, boxes, order, memory };
        Ok((query, Output { shown, labels, batch_cells: self.batch_cells }))
    }

    /// The fields to read, how many of them were selected, and the labels.
    fn selection(&self) -> Result<(Vec<FieldRef>, usize, Vec<SelectedLabel>)> {
        let Some(selected) = &self.selected else {
            let fields = all_fields(self.array.schema());
            let shown = fields.len();
            return Ok((fields, shown, Vec::new()));
        };
        let (mut fields, mut labels) = (Vec::new(), Vec::new());
        for (place, selected) in selected.iter().enumerate() {
            match selected {
                Selected::Field(field) => fields.push(*field),
                Selected::Label(name) => labels.push((place, Label::open(&self.array, name)?)),
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

/// All dimensions and attributes of a sparse array, all attributes of a dense one (whose coordinates follow from the
/// order).
fn all_fields(schema: &ArraySchema) -> Vec<FieldRef> {
    let dimensions = match schema.array_type() {
        ArrayType::Dense => 0,
        ArrayType::Sparse => schema.domain().dimensions().len(),
    };
    let attributes = (0..schema.attributes().len()).map(FieldRef::Attribute);
    (0..dimensions).map(FieldRef::Dimension).chain(attributes).collect()
}
