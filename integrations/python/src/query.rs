//! Queries.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatchReader;
use tdb_array::tdb_cells::ColumnBuffers;
use tdb_array::tdb_schema::FieldType;
use tdb_array::tdb_types::{ArrayType, Buffer};
use tdb_array::{Array, Batch, Batches, Column, Monitor, Order, Query, QueryBox, QueryPart, WriteBatch};
use tdb_arrow::{ArrowOptions, Conversion};

use crate::aggregate;
use crate::batch::NativeBatch;
use crate::column::NativeColumn;
use crate::error::{Failure, Result};
use crate::input::Input;
use crate::run::{LARGE, briefly, interruptible};
use crate::value::{Ends, datatype_of, range};

/// A checked query.
#[pyclass(frozen, name = "Query", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeQuery {
    query: Query,
    limit: Option<usize>,
    has_budget: bool,
    options: ArrowOptions,
}

/// The parts of a query, as the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct QueryParts<'py> {
    columns: Option<Vec<String>>,
    ranges: Vec<(String, Vec<Ends<'py>>)>,
    points: Option<Vec<(String, Bound<'py, PyAny>)>>,
    boxes: Option<Vec<Vec<(String, Ends<'py>)>>>,
    condition: Option<String>,
    order: Option<String>,
    limit: Option<usize>,
    budget: Option<usize>,
    batch_cells: Option<usize>,
    fill: bool,
    binary: bool,
}

pub(crate) fn order_of(name: &str) -> Result<Order> {
    Ok(match name {
        "row-major" => Order::RowMajor,
        "col-major" => Order::ColMajor,
        "global" => Order::Global,
        "unordered" => Order::Unordered,
        other => {
            let known = "expected \"row-major\", \"col-major\", \"global\" or \"unordered\"";
            return Err(Failure::usage(format!("unknown order {other:?}; {known}")));
        }
    })
}

impl NativeQuery {
    pub(crate) fn new(array: &Array, parts: &QueryParts<'_>) -> Result<Self> {
        let schema = array.schema();
        let mut query = array.read();
        if let Some(columns) = &parts.columns {
            query = query.select(columns)?;
        }
        for (name, ranges) in &parts.ranges {
            let is_label = schema.dimensions().iter().all(|dimension| dimension.name() != name);
            let Some(datatype) = datatype_of(schema, name) else {
                let known = schema.dimensions().iter().map(|dimension| format!("{:?}", dimension.name()));
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(Failure::column(name, format_args!("not a dimension; the array has {known}")));
            };
            let all = ranges.iter().map(|ends| range(name, datatype, ends)).collect::<Result<Vec<_>>>()?;
            if is_label {
                for ends in all {
                    query = query.label_range(name, ends)?;
                }
            } else {
                query = query.ranges(name, all)?;
            }
        }
        if let Some(points) = &parts.points {
            let columns =
                points.iter().map(|(name, values)| Ok((name.as_str(), Input::of_field(schema, name, values, None)?)));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let batch =
                columns.iter().fold(WriteBatch::new(), |batch, (name, input)| batch.with(*name, input.column()));
            query = query.points(batch)?;
        }
        if let Some(boxes) = &parts.boxes {
            let boxes = boxes.iter().map(|sides| {
                sides.iter().try_fold(QueryBox::new(), |all, (name, ends)| {
                    let datatype = datatype_of(schema, name);
                    let datatype = datatype.ok_or_else(|| Failure::column(name, "not a dimension"))?;
                    Ok(all.range(name.as_str(), range(name, datatype, ends)?))
                })
            });
            query = query.boxes(boxes.collect::<Result<Vec<_>>>()?)?;
        }
        if let Some(condition) = &parts.condition {
            let condition = condition.parse::<tdb_array::tdb_condition::Condition>();
            query = query.filter(condition.map_err(|error| Failure::usage(format!("condition: {error}")))?);
            if !parts.fill {
                query = query.only_matching();
            }
        }
        if let Some(order) = &parts.order {
            query = query.order(order_of(order)?);
        }
        if let Some(budget) = parts.budget {
            query = query.budget(budget);
        }
        if let Some(cells) = parts.batch_cells {
            query = query.batch_cells(cells);
        }
        let options = if parts.binary { ArrowOptions::new().strings_as_binary() } else { ArrowOptions::new() };
        // The definition in the metadata needs all enumerations and the arrays of labels.
        let options = options.without_definition();
        Ok(Self { query, limit: parts.limit, has_budget: parts.budget.is_some(), options })
    }

    /// Returns the query of an aggregate.
    fn without_limit(&self) -> Result<Query> {
        match self.limit {
            None => Ok(self.query.clone()),
            Some(_) => Err(Failure::usage("an aggregate covers all selected cells; remove the limit")),
        }
    }

    /// Returns an upper limit of the size of the result in bytes. Texts are estimated.
    fn size(&self) -> Result<u64> {
        const TEXT: u64 = 32;
        let checked = self.query.check()?;
        let schema = checked.array.schema();
        let cells = match schema.array_type() {
            ArrayType::Dense => checked.region.cells(),
            ArrayType::Sparse => {
                let cells = checked.array.fragments()?.iter().map(|fragment| fragment.footer().tiles().cell_count());
                cells.fold(0, u64::saturating_add)
            }
        };
        let cells = self.limit.map_or(cells, |limit| cells.min(limit as u64));
        let kinds = checked.fields.iter().filter_map(|field| schema.field_type(*field));
        let size = |kind: FieldType| match kind.cell_val_num.fixed() {
            Some(number) => u64::from(number) * kind.datatype.size() as u64,
            None => TEXT,
        };
        Ok(cells.saturating_mul(kinds.map(size).sum::<u64>().max(1)))
    }

    fn rows(&self, monitor: &Monitor, batch_bytes: Option<usize>) -> Result<Rows> {
        let mut query = self.query.clone().monitor(monitor);
        if let Some(bytes) = batch_bytes {
            query = query.batch_bytes(bytes);
        }
        Ok(Rows { batches: query.batches()?, left: self.limit })
    }

    /// Reads all cells. A batch holds as many of them as the budget allows, all if none is set.
    fn read_all<T: Send>(&self, py: Python<'_>, each: impl Fn(Batch) -> Result<T> + Send + Sync) -> Result<Vec<T>> {
        let monitor = Monitor::only_cancelling();
        let size = briefly(py, || self.size())?;
        let batch_bytes = (!self.has_budget).then(|| usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(2));
        let job = || self.rows(&monitor, batch_bytes)?.map(|batch| each(batch?)).collect();
        if size < LARGE { briefly(py, job) } else { interruptible(py, &monitor, job) }
    }

    fn conversion(&self) -> Result<Conversion> {
        Ok(Conversion::of(&self.query, &self.options)?)
    }

    /// Returns a batch without cells.
    fn empty(&self) -> Result<Batch> {
        let array = self.query.array();
        let schema = array.schema();
        let columns = self.query.columns().into_iter().map(|name| {
            let kind = match schema.field(name).and_then(|field| schema.field_type(field)) {
                Some(kind) => kind,
                None => {
                    let label = Array::from(array.clone()).label(name)?;
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
}

/// The batches of a query up to the limit.
#[derive(Debug)]
struct Rows {
    batches: Batches,
    left: Option<usize>,
}

impl Iterator for Rows {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == Some(0) {
            return None;
        }
        let batch = match self.batches.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error.into())),
        };
        let Some(left) = &mut self.left else { return Some(Ok(batch)) };
        let cells = batch.len().min(*left);
        *left -= cells;
        Some(Ok(if cells < batch.len() { batch.slice(0..cells) } else { batch }))
    }
}

/// A stream of record batches for Arrow consumers.
struct Stream {
    rows: Option<Rows>,
    conversion: Conversion,
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.rows.as_mut()?.next();
        let batch = batch.map(|batch| batch.and_then(|batch| Ok(self.conversion.record_batch(batch)?)));
        if !matches!(batch, Some(Ok(_))) {
            self.rows = None;
        }
        batch.map(|batch| batch.map_err(|failure| ArrowError::from_external_error(Box::new(PyErr::from(failure)))))
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.conversion.schema())
    }
}

/// An iterator over batches.
#[pyclass(frozen, name = "Batches", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeBatches {
    rows: Mutex<Rows>,
    conversion: Conversion,
}

#[pymethods]
impl NativeBatches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Result<Option<NativeBatch>> {
        py.check_signals()?;
        let next = || self.rows.lock().unwrap_or_else(PoisonError::into_inner).next().transpose();
        let batch = briefly(py, next)?;
        Ok(batch.map(|batch| NativeBatch { batch, conversion: self.conversion.clone() }))
    }
}

#[pymethods]
impl NativeQuery {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.query.columns().into_iter().map(str::to_owned).collect()
    }

    /// Reads all cells into one column per field.
    fn columns(&self, py: Python<'_>) -> Result<Vec<NativeColumn>> {
        let batches = self.read_all(py, Ok)?;
        let batch = briefly(py, || Batch::joined(batches).map_or_else(|| self.empty(), Ok))?;
        Ok(batch.into_columns().into_iter().map(NativeColumn::from).collect())
    }

    /// Reads all cells into record batches.
    fn record_batches(&self, py: Python<'_>) -> Result<PyRecordBatchReader> {
        let conversion = briefly(py, || self.conversion())?;
        let batches = self.read_all(py, |batch| Ok(conversion.record_batch(batch)?))?;
        let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), Arc::clone(conversion.schema()));
        Ok(PyRecordBatchReader::new(Box::new(reader)))
    }

    /// Starts a stream of record batches.
    fn stream(&self, py: Python<'_>) -> Result<PyRecordBatchReader> {
        let stream = briefly(py, || {
            Ok(Stream { rows: Some(self.rows(&Monitor::only_cancelling(), None)?), conversion: self.conversion()? })
        });
        Ok(PyRecordBatchReader::new(Box::new(stream?)))
    }

    fn batches(&self, py: Python<'_>) -> Result<NativeBatches> {
        briefly(py, || {
            let rows = Mutex::new(self.rows(&Monitor::only_cancelling(), None)?);
            Ok(NativeBatches { rows, conversion: self.conversion()? })
        })
    }

    /// Splits the query into up to `parts` parts, as bytes for other processes.
    fn split<'py>(&self, py: Python<'py>, parts: usize) -> Result<Vec<Bound<'py, PyBytes>>> {
        let parts = briefly(py, || Ok(self.query.split(parts)?))?;
        Ok(parts.iter().map(|part| PyBytes::new(py, &part.to_bytes())).collect())
    }

    /// Returns the query of a part of this query.
    fn part(&self, py: Python<'_>, bytes: &[u8]) -> Result<Self> {
        let query =
            briefly(py, || Ok(QueryPart::from_bytes(bytes).map_err(Failure::usage)?.query(self.query.array())?))?;
        Ok(Self { query, limit: None, has_budget: self.has_budget, options: self.options.clone() })
    }

    /// Returns the plan: its text, the number of tiles, of bytes, and of fragments.
    fn plan(&self, py: Python<'_>) -> Result<(String, usize, u64, usize)> {
        let plan = briefly(py, || Ok(self.query.plan()?))?;
        Ok((plan.to_string(), plan.tile_count(), plan.bytes(), plan.fragments.len()))
    }

    /// Returns the statistics of fields from metadata.
    fn statistics(&self, py: Python<'_>, fields: Vec<String>) -> Result<Vec<aggregate::Figures>> {
        let statistics = briefly(py, || Ok(self.query.statistics_of(&fields)?))?;
        let schema = self.query.array().schema();
        fields.iter().zip(statistics).map(|(field, found)| aggregate::figures(py, schema, field, found)).collect()
    }

    /// Computes aggregates, each given by its function, its field, and a share.
    fn aggregate(
        &self,
        py: Python<'_>,
        aggregates: Vec<(String, Option<String>, f64)>,
    ) -> Result<(Vec<NativeColumn>, Vec<String>)> {
        let aggregates = aggregate::parsed(aggregates)?;
        let monitor = Monitor::only_cancelling();
        let query = self.without_limit()?.monitor(&monitor);
        let found = interruptible(py, &monitor, || Ok(query.aggregate(aggregates)?))?;
        let columns = found.batch().columns().iter().cloned().map(NativeColumn::from).collect();
        Ok((columns, found.saturated().to_vec()))
    }

    /// Computes aggregates by group.
    fn group_by(
        &self,
        py: Python<'_>,
        keys: Vec<String>,
        aggregates: Vec<(String, Option<String>, f64)>,
    ) -> Result<(Vec<NativeColumn>, Vec<String>)> {
        let aggregates = aggregate::parsed(aggregates)?;
        let monitor = Monitor::only_cancelling();
        let query = self.without_limit()?.monitor(&monitor);
        interruptible(py, &monitor, || {
            let mut groups = query.group_by(keys, aggregates)?;
            let batches = groups.by_ref().collect::<Result<Vec<_>, _>>()?;
            let batch = Batch::joined(batches).unwrap_or_else(|| groups.empty_batch());
            let columns = batch.into_columns().into_iter().map(NativeColumn::from).collect();
            Ok((columns, groups.saturated().to_vec()))
        })
    }
}
