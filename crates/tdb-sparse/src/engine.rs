//! The interface of engines.

use std::fmt;

use tdb_snapshot::Result;

use crate::context::Context;
use crate::table::{RunQueue, TileTable};

/// An algorithm that determines the order of the result's cells.
pub(super) trait Engine: fmt::Debug + Send {
    /// Appends runs to the empty `queue`, enough for a batch if possible. Returns `false` after the
    /// last cell.
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool>;
}
