#![doc = include_str!("../README.md")]

mod ahead;
mod checked;
mod fill;
mod memory;
mod plan;
mod pool;
mod pruning;
mod region;
mod relevant;
pub mod scan;
mod unknown;

pub use ahead::announce;
pub use checked::CheckedQuery;
pub use fill::{FillCell, with_fill_values};
pub use memory::Memory;
pub use plan::{FileReads, FragmentPlan, FragmentsLeftOut, Plan, PlannedTile, PrunedBy, PrunedTiles};
pub use pool::BufferPool;
pub use pruning::Pruner;
pub use region::Region;
pub use relevant::{Relevant, may_reach};
pub use unknown::InexactReason;

// Re-exported because public signatures use types of these crates. Dependents need no manifest
// entry.
pub use {tdb_cells, tdb_condition, tdb_rtree, tdb_schema, tdb_snapshot};
