//! Checked queries.

use std::sync::Arc;

use tdb_cells::Order;
use tdb_condition::BoundCondition;
use tdb_rtree::Boxes;
use tdb_schema::FieldRef;
use tdb_snapshot::Snapshot;

use crate::memory::Memory;
use crate::region::Region;

/// A complete and valid query.
#[derive(Clone, Debug)]
pub struct CheckedQuery {
    /// The array to read.
    pub array: Snapshot,
    /// The selected fields.
    pub fields: Arc<[FieldRef]>,
    /// The condition on cells, if any.
    pub filter: Option<Arc<BoundCondition>>,
    /// `true` to omit other cells from a dense result, instead of replacing them by fill values.
    pub only_matching: bool,
    /// The ranges on each dimension.
    pub region: Region,
    /// Boxes for further selection: cells must be in a box and in the region. `None` if the region
    /// suffices.
    pub boxes: Option<Arc<Boxes>>,
    /// The order of the result's cells.
    pub order: Order,
    /// The memory for each part of the query.
    pub memory: Memory,
}
