//! DELETE, stored as a condition in the array.
//!
//! The format stores the condition that cells must satisfy to stay. No comparison with null is
//! true. The format thus deletes cells with null, whereas SQL keeps such rows. A condition is
//! therefore stored only if both have the same effect.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::DFSchema;
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use futures_util::TryStreamExt;
use tdb_array::tdb_condition::{Condition, field};
use tdb_array::tdb_schema::FieldRef;
use tdb_array::tdb_types::{PhysicalType, Scalar};
use tdb_array::{Aggregate, Exactness, WriteIds};

use super::insert::refuse_past;
use crate::opened::{Opened, nothing};
use crate::{error, filter};

/// Creates the plan to delete all rows that match the filters.
///
/// # Errors
/// The array is dense or opened at a fixed time, a filter has no exact condition, or no condition
/// selects all cells.
pub(crate) fn delete(opened: &Arc<Opened>, state: &dyn Session, filters: &[Expr]) -> Result<Arc<dyn ExecutionPlan>> {
    refuse_past(opened, "DELETE")?;
    if opened.array_schema().is_dense() {
        let what = "cells cannot be deleted; overwrite the cells with other values";
        return Err(error::plan(format!("{:?} is dense: {what}", opened.uri)));
    }
    let schema = DFSchema::try_from(opened.schema.as_ref().clone())?;
    let mut all = Vec::new();
    for expr in filters {
        let physical = state.create_physical_expr(expr.clone(), &schema)?;
        match filter::condition(opened, &physical) {
            Some(pushed) if pushed.exact => all.push(Some(pushed)),
            _ => {
                let what = "arrays support comparisons of columns with constants, of integers, dates, strings, booleans and enumerations";
                return Err(error::plan(format!("DELETE WHERE {expr} cannot be stored: {what}")));
            }
        }
    }
    let condition = filter::all(all).map(|pushed| pushed.condition);
    let condition = match condition {
        Some(condition) if !filter::is_always(&condition) => condition,
        _ => everything(opened)?,
    };
    let sink = DeleteSink { opened: opened.clone(), condition, schema: nothing() };
    Ok(Arc::new(DataSinkExec::new(Arc::new(EmptyExec::new(nothing())), Arc::new(sink), None)))
}

/// Returns a condition for all cells. The format requires a comparison.
fn everything(opened: &Opened) -> Result<Condition> {
    let dimensions = opened.array_schema().dimensions();
    let Some(dimension) = dimensions.iter().find(|dimension| !dimension.datatype().is_float()) else {
        return Err(error::plan(
            "DELETE without a condition: all dimensions are floats, for which no condition selects all cells",
        ));
    };
    let least = match dimension.domain() {
        Some((low, _)) => low.to_le_bytes().to_vec(),
        None if dimension.is_var() => Vec::new(),
        None => Scalar::from_key(PhysicalType::I64, 0).to_le_bytes().to_vec(),
    };
    Ok(field(dimension.name()).ge(least))
}

/// Sink that deletes cells.
#[derive(Debug)]
struct DeleteSink {
    opened: Arc<Opened>,
    condition: Condition,
    schema: SchemaRef,
}

impl DisplayAs for DeleteSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let condition = self.condition.display(self.opened.array_schema());
        write!(f, "delete from array={}, condition=[{condition}]", self.opened.uri)
    }
}

#[async_trait]
impl DataSink for DeleteSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, data: SendableRecordBatchStream, _: &Arc<TaskContext>) -> Result<u64> {
        data.try_collect::<Vec<_>>().await?;
        let (opened, condition) = (self.opened.clone(), self.condition.clone());
        error::blocking(move || run(&opened, &condition)).await
    }
}

/// Deletes cells, and returns their number.
fn run(opened: &Opened, condition: &Condition) -> Result<u64> {
    if filter::is_never(condition) {
        return Ok(0);
    }
    let failed = |error| error::of_array(&opened.uri, error);
    check(opened, condition)?;
    let counted = opened.array.read().filter(condition.clone()).aggregate([Aggregate::count()]).map_err(failed)?;
    let count = counted.value::<u64>("count").map_err(failed)?.unwrap_or(0);
    if count > 0 {
        opened.array.delete_cells(condition, &WriteIds::new()).map_err(failed)?;
        pass_the_moment();
    }
    Ok(count)
}

/// Waits until the next millisecond, to give later statements a later timestamp. A deletion applies
/// to everything written up to its millisecond.
fn pass_the_moment() {
    std::thread::sleep(std::time::Duration::from_millis(2));
}

/// Checks that the array deletes the same cells as SQL would.
fn check(opened: &Opened, condition: &Condition) -> Result<()> {
    let failed = |error| error::of_array(&opened.uri, error);
    let refused =
        |what: String| DataFusionError::Plan(format!("DELETE from {:?} cannot be stored: {what}", opened.uri));
    for name in condition.fields() {
        let Some((FieldRef::Attribute(_), cells)) = opened.field(name) else { continue };
        let lacking =
            opened.array.fragments().map_err(failed)?.iter().find(|fragment| fragment.schema().field(name).is_none());
        if let Some(fragment) = lacking {
            let what = "was written before the column was added, and all of its cells would be deleted; consolidate the array first";
            return Err(refused(format!("column {name:?}: fragment {} {what}", fragment.name())));
        }
        if cells.nullable && !matches!(opened.array.statistics(name).map_err(failed)?.nulls, Exactness::Exact(0)) {
            let what = "may be null, and an array also deletes cells with a null in a column of the condition";
            return Err(refused(format!("column {name:?} {what}")));
        }
    }
    Ok(())
}
