//! SQL over TileDB arrays on a cluster, by [Ballista](https://datafusion.apache.org/ballista/).
//!
//! A *scheduler* distributes the tasks of queries, *executors* run them, and clients use a
//! [`session`] whose queries run on the cluster. The client plans a query as usual: it opens the
//! arrays, prunes tiles, and [divides](tdb_datafusion::Scan::pieces) each scan into partitions.
//! Only values are sent: the URI of an array, the snapshot, and the cells of each partition. Keys
//! and open handles are never sent.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod analyze;
mod arrays;
mod cluster;
mod codec;
mod divide;
mod error;
mod executor;
mod job;
mod parts;
mod planner;
mod scheduler;
mod session;
mod wire;

// Public signatures use types of these crates. The re-exports spare users a dependency of the same
// version.
pub use {ballista_core, datafusion_proto, tdb_datafusion};

pub use cluster::{Address, Cluster};
pub use codec::PhysicalCodec;
pub use error::{Error, Result};
pub use executor::{Executor, ExecutorOptions, terminated};
pub use scheduler::{Scheduler, SchedulerOptions};
pub use session::{on_cluster, session};
