//! What says which cells come next.

use std::fmt;

use tdb_snapshot::Result;

use crate::context::Context;
use crate::table::{RunQueue, TileTable};

/// Says which cells come next.
pub(super) trait Engine: fmt::Debug + Send {
    /// Appends runs to the empty `queue`, as many as fill a batch if possible; false if there are no more cells.
    fn fill(&mut self, context: &Context, tiles: &mut TileTable, queue: &mut RunQueue) -> Result<bool>;
}
