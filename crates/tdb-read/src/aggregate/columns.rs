//! Result columns, built row by row.

use std::sync::Arc;

use tdb_aggregate::{GroupRow, Sum, Summary, Total};
use tdb_cells::{Batch, Column, ColumnBuffers, pack_validity};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{ArrayError, OutputField, Result};
use tdb_types::{Buffer, CellValNum, Datatype};

use super::distribution::Found;
use super::function::{Aggregate, AggregateFunction};
use super::measure::{Measures, checked};

/// The columns of grouping fields and of aggregates.
#[derive(Debug)]
pub(super) struct ResultColumns {
    columns: Vec<ResultColumn>,
    keys: usize,
    aggregates: Vec<(AggregateFunction, Option<FieldRef>)>,
    pub(super) rows: usize,
    pub(super) saturated: Vec<String>,
}

#[derive(Debug)]
struct ResultColumn {
    name: Arc<str>,
    datatype: Datatype,
    cell_val_num: CellValNum,
    nullable: bool,
    values: Buffer,
    /// The end of each variable-length cell, in values.
    ends: Vec<u64>,
    validity: Vec<u8>,
}

impl ResultColumns {
    pub(super) fn new(schema: &ArraySchema, keys: &[FieldRef], aggregates: &[Aggregate]) -> Result<Self> {
        let mut columns: Vec<ResultColumn> =
            keys.iter().map(|field| ResultColumn::of_field(&OutputField::of(schema, *field))).collect();
        let mut functions = Vec::new();
        for aggregate in aggregates {
            let field = checked(schema, aggregate)?.map(|(field, _)| field);
            let column = ResultColumn::of_aggregate(schema, aggregate, field);
            if columns.iter().any(|other| other.name == column.name) {
                return Err(ArrayError::Query(format!("duplicate column name {:?} in the result", column.name)));
            }
            columns.push(column);
            functions.push((aggregate.function(), field));
        }
        Ok(Self { columns, keys: keys.len(), aggregates: functions, rows: 0, saturated: Vec::new() })
    }

    /// Returns the size of the values in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).sum()
    }

    /// Appends a row. `found` has an entry for each aggregate.
    pub(super) fn push(&mut self, row: &GroupRow, found: &[Found], measures: &Measures) {
        let (keys, results) = self.columns.split_at_mut(self.keys);
        keys.iter_mut().zip(&row.key).for_each(|(column, value)| column.push(value.as_deref()));
        for ((column, (function, field)), found) in results.iter_mut().zip(&self.aggregates).zip(found) {
            let summary = field.and_then(|field| measures.place(field)).and_then(|place| row.summaries.get(place));
            match (found, summary) {
                (Found::Count(count), _) => column.push(Some(&count.to_le_bytes())),
                (Found::Value(value), _) => column.push(value.as_deref()),
                (Found::Elsewhere, None) => column.push(Some(&row.cells.to_le_bytes())),
                (Found::Elsewhere, Some(summary)) => {
                    let fits = column.push_summary(*function, summary);
                    if !fits && !self.saturated.iter().any(|name| **name == *column.name) {
                        self.saturated.push(column.name.to_string());
                    }
                }
            }
        }
        self.rows += 1;
    }

    /// Returns a batch without rows.
    pub(super) fn empty(&self) -> Batch {
        let empty = |column: &ResultColumn| {
            ResultColumn::new(column.name.clone(), column.datatype, column.cell_val_num, column.nullable).take(0)
        };
        Batch::new(self.columns.iter().map(empty).collect(), 0)
    }

    /// Removes all rows, and returns them as a batch.
    pub(super) fn take(&mut self) -> Batch {
        let rows = std::mem::take(&mut self.rows);
        Batch::new(self.columns.iter_mut().map(|column| column.take(rows)).collect(), rows)
    }
}

impl ResultColumn {
    fn new(name: Arc<str>, datatype: Datatype, cell_val_num: CellValNum, nullable: bool) -> Self {
        let (values, ends, validity) = (Buffer::new(), Vec::new(), Vec::new());
        Self { name, datatype, cell_val_num, nullable, values, ends, validity }
    }

    fn of_field(output: &OutputField) -> Self {
        Self::new(output.name.clone(), output.datatype, output.cell_val_num, output.may_be_null())
    }

    fn of_aggregate(schema: &ArraySchema, aggregate: &Aggregate, field: Option<FieldRef>) -> Self {
        let name: Arc<str> = aggregate.to_string().into();
        let output = field.map(|field| OutputField::of(schema, field));
        let number = |datatype, nullable| Self::new(name.clone(), datatype, CellValNum::ONE, nullable);
        match (aggregate.function(), output) {
            (AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::Quantile(_), Some(output)) => {
                Self::new(name, output.datatype, output.cell_val_num, true)
            }
            (AggregateFunction::Sum, Some(output)) => {
                let datatype = match output.datatype.physical() {
                    physical if physical.is_float() => Datatype::Float64,
                    physical if physical.is_signed_integer() => Datatype::Int64,
                    _ => Datatype::UInt64,
                };
                number(datatype, output.nullable)
            }
            (AggregateFunction::Mean, Some(output)) if output.datatype.is_datetime() || output.datatype.is_time() => {
                number(output.datatype, true)
            }
            (AggregateFunction::Mean, _) => number(Datatype::Float64, true),
            _ => number(Datatype::UInt64, false),
        }
    }

    /// Appends the result of a function. Returns `false` on overflow.
    fn push_summary(&mut self, function: AggregateFunction, summary: &Summary) -> bool {
        let values = summary.values();
        match function {
            AggregateFunction::NullCount => self.push(Some(&summary.nulls().to_le_bytes())),
            AggregateFunction::Mean => {
                let mean = match (self.datatype, summary.total()) {
                    (Datatype::Float64, total) => total.mean(values).map(f64::to_le_bytes),
                    // A mean of dates, in the field's unit.
                    (_, Total::Signed(sum)) if values > 0 => {
                        i64::try_from(sum.div_euclid(values.into())).ok().map(i64::to_le_bytes)
                    }
                    _ => None,
                };
                self.push(mean.as_ref().map(|bytes| &bytes[..]));
                return !matches!(summary.total(), Total::Float { overflowed: true, .. });
            }
            AggregateFunction::Min => self.push(summary.bounds().map(|(min, _)| min)),
            AggregateFunction::Max => self.push(summary.bounds().map(|(_, max)| max)),
            AggregateFunction::Sum => {
                let (sum, fits) = summary.total().sum();
                let bytes = match sum {
                    Sum::I64(sum) => sum.to_le_bytes(),
                    Sum::U64(sum) => sum.to_le_bytes(),
                    Sum::F64(sum) => sum.to_le_bytes(),
                };
                // As in the reference library, a sum of a nullable field is null without values and
                // on overflow.
                let is_null = self.nullable && (values == 0 || !fits);
                self.push((!is_null).then_some(&bytes[..]));
                return fits;
            }
            _ => self.push(Some(&values.to_le_bytes())),
        }
        true
    }

    fn push(&mut self, value: Option<&[u8]>) {
        let size = self.datatype.size();
        match (self.cell_val_num.fixed(), value) {
            (_, Some(value)) => self.values.extend_from_slice(value),
            (Some(number), None) => {
                self.values.append(number as usize * size).fill(0);
            }
            (None, None) => {}
        }
        if self.cell_val_num.is_var() {
            self.ends.push((self.values.len() / size) as u64);
        }
        if self.nullable {
            self.validity.push(u8::from(value.is_some()));
        }
    }

    fn take(&mut self, rows: usize) -> Column {
        let offsets = self.cell_val_num.is_var().then(|| {
            let mut buffer = Buffer::zeroed((rows + 1) * size_of::<u64>());
            let words = buffer.values_mut::<u64>().unwrap_or_default().iter_mut().skip(1);
            words.zip(self.ends.drain(..)).for_each(|(word, end)| *word = end);
            buffer
        });
        let validity = self.nullable.then(|| {
            let mut bits = Buffer::new();
            pack_validity(&self.validity, &mut bits);
            self.validity.clear();
            bits
        });
        let buffers = ColumnBuffers { values: std::mem::take(&mut self.values), offsets, validity };
        Column::new(self.name.clone(), self.datatype, self.cell_val_num, rows, buffers)
    }
}
