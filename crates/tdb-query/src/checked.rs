//! Queries with arguments that have been checked against the array.

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
    /// The fields to read: the selected fields, followed by dimensions for labels.
    pub fields: Arc<[FieldRef]>,
    /// The condition on cells, if any.
    pub filter: Option<Arc<BoundCondition>>,
    /// `true` to omit the cells of a dense array that do not match the condition. `false` to
    /// replace their values by fill values.
    pub only_matching: bool,
    /// The ranges on each dimension.
    pub region: Region,
    /// Boxes that restrict the region: a cell must be in the region and in at least one box. `None`
    /// for no restriction.
    pub boxes: Option<Arc<Boxes>>,
    /// The order of the result's cells.
    pub order: Order,
    /// The memory limits of the parts of the query.
    pub memory: Memory,
}
