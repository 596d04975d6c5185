//! What is to be read, decided.

use std::sync::Arc;

use tdb_cells::Order;
use tdb_condition::BoundCondition;
use tdb_rtree::Boxes;
use tdb_schema::FieldRef;
use tdb_snapshot::Snapshot;

use crate::memory::Memory;
use crate::region::Region;

/// A query that is complete and sound.
#[derive(Clone, Debug)]
pub struct CheckedQuery {
    /// What it reads.
    pub array: Snapshot,
    /// The fields that are read.
    pub fields: Arc<[FieldRef]>,
    /// What cells must fulfil, if anything.
    pub filter: Option<Arc<BoundCondition>>,
    /// Whether a dense result has no cells that don't.
    pub only_matching: bool,
    /// The ranges on each dimension.
    pub region: Region,
    /// The boxes in one of which cells must lie too, if that is not all that the region says.
    pub boxes: Option<Arc<Boxes>>,
    /// The order of the result's cells.
    pub order: Order,
    /// How much memory its parts may use.
    pub memory: Memory,
}
