//! Reads of cells, batch by batch.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};
use tdb_array::tdb_cells::ColumnBuffers;
use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_schema::FieldType;
use tdb_array::tdb_storage::coalesce;
use tdb_array::tdb_types::Buffer;
use tdb_array::{Array, Batch, Batches, Column, Order, Plan, Query};
use tdb_arrow::{ArrowOptions, Conversion};

use crate::failure::{Failure, Result};
use crate::files::{Files, PROFILE};
use crate::query::Spec;
use crate::windows::{Window, halves};

/// The first window of a query with a limit, in bytes. Each further window is twice as large.
const FIRST_OF_LIMITED: u64 = 1 << 20;

/// The outcome of a step.
#[derive(Debug)]
pub(crate) enum Step {
    Batch(Batch),
    /// Further bytes are needed.
    Need,
    End,
}

/// A read in progress.
#[derive(Debug)]
pub(crate) struct Reading {
    files: Files,
    array: Array,
    spec: Spec,
    budget: usize,
    operation: u32,
    prepared: Option<Prepared>,
    /// Windows to read, the next one last.
    stack: Vec<Pending>,
    current: Option<(Pending, Batches)>,
    /// Number of cells to skip in the current window: returned before the window was restarted.
    again: usize,
    window_bytes: u64,
    /// Number of windows read so far.
    windows: usize,
    to_skip: usize,
    left: Option<usize>,
}

#[derive(Debug)]
struct Prepared {
    order: Order,
    ranges: Vec<Vec<DimRange>>,
    conversion: Rc<Conversion>,
    empty: Batch,
    shape: Option<Vec<u64>>,
}

#[derive(Clone, Debug, Default)]
struct Pending {
    window: Window,
    /// `true` if the stored bytes fit into memory.
    fits: bool,
    /// The number of returned cells.
    returned: usize,
}

/// Returns the share of the engine in a budget.
pub(crate) fn engine_budget(budget: usize) -> usize {
    budget / 2
}

/// Returns the maximum number of stored bytes in the engine's read-ahead.
pub(crate) fn most_ahead(budget: usize) -> u64 {
    (engine_budget(budget) as u64 / 2).clamp(8 << 20, 64 << 20)
}

/// Returns the bytes of the requests of a plan, with the gaps between merged ranges.
pub(crate) fn requested_bytes(plan: &Plan) -> u64 {
    let reads = plan.fragments.iter().flat_map(|fragment| &fragment.reads);
    let merged = reads.flat_map(|reads| coalesce(&reads.ranges, PROFILE.gap));
    merged.map(|range| range.end - range.start).fold(0, u64::saturating_add)
}

/// Records all ranges of a plan as needed.
pub(crate) fn want(files: &Files, folder: &str, plan: &Plan) {
    for reads in plan.fragments.iter().flat_map(|fragment| &fragment.reads) {
        let path = if folder.is_empty() { reads.file.clone() } else { format!("{folder}/{}", reads.file) };
        files.want(&path, &reads.ranges);
    }
}

impl Reading {
    pub(crate) fn new(files: Files, array: Array, spec: Spec, budget: usize, operation: u32) -> Self {
        let most = most_ahead(budget) / 4 * 3;
        let is_limited = spec.limit.is_some();
        Self {
            window_bytes: if is_limited { most.min(FIRST_OF_LIMITED) } else { most },
            to_skip: spec.offset,
            left: spec.limit,
            stack: vec![Pending::default()],
            files,
            array,
            spec,
            budget,
            operation,
            prepared: None,
            current: None,
            again: 0,
            windows: 0,
        }
    }

    pub(crate) fn windows(&self) -> usize {
        self.windows
    }

    fn query(&self, window: &Window) -> Result<Query> {
        self.spec.query(&self.array, engine_budget(self.budget), window)
    }

    /// Checks the query, and loads the enumerations of the selected columns.
    fn prepare(&mut self) -> Result<()> {
        let query = self.query(&BTreeMap::new())?;
        let checked = query.check()?;
        let options = ArrowOptions::new().without_definition();
        let conversion = Rc::new(Conversion::of(&query, &options)?);
        let ranges = checked.region.ranges().to_vec();
        let is_whole = self.array.schema().is_dense() && !self.spec.is_partial();
        let is_grid = matches!(checked.order, Order::RowMajor | Order::ColMajor);
        let side = |ranges: &Vec<DimRange>| {
            let lengths = ranges.iter().map(|range| match range {
                DimRange::Fixed { lo, hi } => (hi - lo).saturating_add(1),
                DimRange::Var { .. } => 0,
            });
            lengths.fold(0, u64::saturating_add)
        };
        let shape = (is_whole && is_grid).then(|| ranges.iter().map(side).collect());
        let empty = empty(&self.array, &query)?;
        self.prepared = Some(Prepared { order: checked.order, ranges, conversion, empty, shape });
        Ok(())
    }

    /// Returns the conversion to Arrow, after the first step.
    pub(crate) fn conversion(&self) -> Option<&Rc<Conversion>> {
        self.prepared.as_ref().map(|prepared| &prepared.conversion)
    }

    /// Returns a batch without cells, after the first step.
    pub(crate) fn empty(&self) -> Option<Batch> {
        self.prepared.as_ref().map(|prepared| prepared.empty.clone())
    }

    /// Returns the lengths of the dimensions, after the first step.
    pub(crate) fn shape(&self) -> Option<&[u64]> {
        self.prepared.as_ref()?.shape.as_deref()
    }

    /// Returns the next batch. Call again with the needed bytes after [`Step::Need`].
    ///
    /// # Errors
    /// The query is invalid, cells cannot be read, or a window exceeds the budget.
    pub(crate) fn step(&mut self) -> Result<Step> {
        if self.prepared.is_none() {
            let prepared = self.prepare();
            if self.files.has_needs() {
                self.prepared = None;
                return Ok(Step::Need);
            }
            prepared?;
        }
        while self.left != Some(0) {
            if let Some((pending, mut batches)) = self.current.take() {
                match batches.next() {
                    Some(Ok(batch)) => {
                        let mut pending = pending;
                        pending.returned += batch.len().saturating_sub(self.again);
                        self.current = Some((pending, batches));
                        if let Some(batch) = self.trimmed(batch) {
                            return Ok(Step::Batch(batch));
                        }
                    }
                    Some(Err(_)) if self.files.has_needs() => {
                        self.stack.push(pending);
                        return Ok(Step::Need);
                    }
                    Some(Err(error)) => return Err(error.into()),
                    None => {
                        self.windows += 1;
                        self.files.release(self.operation);
                        self.window_bytes = (self.window_bytes * 2).min(most_ahead(self.budget) / 4 * 3);
                    }
                }
                continue;
            }
            let Some(pending) = self.stack.pop() else { break };
            if !self.begin(pending)? {
                return Ok(Step::Need);
            }
        }
        self.current = None;
        self.files.release(self.operation);
        Ok(Step::End)
    }

    /// Removes cells returned before, and cells outside of the limit.
    fn trimmed(&mut self, batch: Batch) -> Option<Batch> {
        let again = self.again.min(batch.len());
        self.again -= again;
        let skipped = self.to_skip.min(batch.len() - again);
        self.to_skip -= skipped;
        let start = again + skipped;
        let len = self.left.map_or(batch.len() - start, |left| left.min(batch.len() - start));
        self.left = self.left.map(|left| left - len);
        match len {
            0 => None,
            len if len == batch.len() => Some(batch),
            len => Some(batch.slice(start..start + len)),
        }
    }

    /// Plans a window, and cuts or starts it. Returns `false` if bytes are missing.
    fn begin(&mut self, mut pending: Pending) -> Result<bool> {
        let query = self.query(&pending.window)?;
        if !pending.fits {
            let plan = query.plan();
            if self.files.has_needs() {
                self.stack.push(pending);
                return Ok(false);
            }
            let plan = plan?;
            let bytes = requested_bytes(&plan);
            if bytes > self.window_bytes {
                let prepared = self.prepared.as_ref();
                let cut = prepared.and_then(|prepared| {
                    halves(self.array.schema(), prepared.order, &prepared.ranges, &pending.window)
                });
                if let Some((first, last)) = cut {
                    let pending = |window| Pending { window, ..Pending::default() };
                    self.stack.extend([pending(last), pending(first)]);
                    return Ok(true);
                }
                if bytes > self.budget as u64 {
                    let budget = self.budget;
                    let message =
                        format!("the read needs {bytes} stored bytes at a time; the budget is {budget} bytes");
                    return Err(Failure::memory(message));
                }
                // The engine reads less ahead.
                want(&self.files, &self.folder(), &plan);
            }
            pending.fits = true;
        }
        let batches = query.batches();
        if self.files.has_needs() {
            self.stack.push(pending);
            return Ok(false);
        }
        self.again = pending.returned;
        self.current = Some((pending, batches?));
        Ok(true)
    }

    fn folder(&self) -> String {
        self.files.below(&self.array.storage().describe(""))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.files.release(self.operation);
    }
}

/// Returns a batch without cells.
fn empty(array: &Array, query: &Query) -> Result<Batch> {
    let schema = array.schema();
    let columns = query.columns().into_iter().map(|name| {
        let kind = match schema.field(name).and_then(|field| schema.field_type(field)) {
            Some(kind) => kind,
            None => {
                let label = array.label(name)?;
                let label = label.description();
                FieldType { datatype: label.datatype, cell_val_num: label.cell_val_num, nullable: false }
            }
        };
        let buffers = ColumnBuffers {
            values: Buffer::new(),
            offsets: kind.cell_val_num.is_var().then(|| Buffer::zeroed(size_of::<u64>())),
            validity: kind.nullable.then(Buffer::new),
        };
        Ok(Column::new(name.into(), kind.datatype, kind.cell_val_num, 0, buffers))
    });
    Ok(Batch::new(columns.collect::<Result<_>>()?, 0))
}

/// Describes the columns of a batch.
pub(crate) fn columns(array: &Array, batch: &Batch) -> Value {
    let schema = array.schema();
    let column = |column: &Column| {
        let attribute = schema.attributes().iter().find(|attribute| attribute.name() == column.name());
        json!({
            "name": column.name(),
            "datatype": column.datatype().name(),
            "cellValNum": crate::describe::values_per_cell(column.cell_val_num()),
            "enumeration": attribute.and_then(|attribute| attribute.enumeration()),
        })
    };
    batch.columns().iter().map(column).collect()
}
