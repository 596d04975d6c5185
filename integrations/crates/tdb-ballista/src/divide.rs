//! Preparation of plans for other processes.

use std::any::Any;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use datafusion::arrow::array::{BinaryArray, new_null_array};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties as _};
use tdb_datafusion::Scan;

use crate::parts::{ScanPartsExec, row_schema};
use crate::wire::{Header, SortColumn};

/// Divides each scan of the plan, and replaces it by values. This fixes the snapshot of each array.
/// Reads metadata, and blocks.
///
/// # Errors
/// Metadata are unreadable.
pub(crate) fn divided(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let query = number();
    let divide = |node: Arc<dyn ExecutionPlan>| {
        if let Some(scan) = scan_of(&node) {
            return Ok(Transformed::yes(parts_of(query, scan, &node)? as Arc<dyn ExecutionPlan>));
        }
        Ok(match constant(&node)? {
            Some(table) => Transformed::yes(table),
            None => Transformed::no(node),
        })
    };
    plan.transform_up(divide).data()
}

/// `true` if the plan reads arrays or files. Other plans run in the client.
pub(crate) fn reads(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let mut reads = false;
    plan.apply(|node| {
        reads |= source_of(node).is_some_and(|source| source.is::<Scan>() || source.is::<FileScanConfig>());
        Ok(if reads { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(reads)
}

fn source_of(node: &Arc<dyn ExecutionPlan>) -> Option<&dyn Any> {
    Some(node.downcast_ref::<DataSourceExec>()?.data_source().as_ref())
}

fn scan_of(node: &Arc<dyn ExecutionPlan>) -> Option<&Scan> {
    source_of(node)?.downcast_ref()
}

fn parts_of(query: u64, scan: &Scan, node: &Arc<dyn ExecutionPlan>) -> Result<Arc<ScanPartsExec>> {
    let pieces = scan.pieces()?;
    let rows = pieces.each().map(|pieces| {
        let row = BinaryArray::from_vec(vec![&pieces.to_bytes()]);
        Ok(vec![RecordBatch::try_new(row_schema(), vec![Arc::new(row)])?])
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let header = Header { query, uri: scan.uri().to_owned(), schema: node.schema(), orders: orders(node) };
    ScanPartsExec::new(header, MemorySourceConfig::try_new_exec(&rows, row_schema(), None)?, None)
}

/// Replaces a node without values (one row or no row) by a table in memory.
///
/// In tasks for other partitions, a scheduler replaces the node by an empty table. The empty table
/// counts rows, unlike the node. The task thus reports metrics of more operators than the rest of
/// the stage, and the scheduler discards its results.
fn constant(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let schema = node.schema();
    let partition = if node.is::<PlaceholderRowExec>() {
        let columns = schema.fields().iter().map(|field| new_null_array(field.data_type(), 1)).collect();
        let one = RecordBatchOptions::new().with_row_count(Some(1));
        vec![RecordBatch::try_new_with_options(schema.clone(), columns, &one)?]
    } else if node.is::<EmptyExec>() {
        Vec::new()
    } else {
        return Ok(None);
    };
    let partitions = vec![partition; node.output_partitioning().partition_count()];
    Ok(Some(MemorySourceConfig::try_new_exec(&partitions, schema, None)?))
}

/// Returns the sort orders of the rows, by columns.
fn orders(node: &Arc<dyn ExecutionPlan>) -> Vec<Vec<SortColumn>> {
    let orders = node.equivalence_properties().oeq_class().iter().map(|order| {
        let columns = order.iter().map(|by| Some((by.expr.downcast_ref::<Column>()?.index() as u32, by.options)));
        columns.collect::<Option<Vec<_>>>()
    });
    orders.flatten().collect()
}

/// Returns a random number for a query, from the random keys of a hasher.
fn number() -> u64 {
    RandomState::new().hash_one(0)
}
