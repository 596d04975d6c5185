//! SQL over TileDB arrays on many machines, by [Ballista](https://datafusion.apache.org/ballista/).
//!
//! A *scheduler* hands out the tasks of queries, *executors* run them, and clients have a session whose queries go there
//! ([`session`]). The client plans a query as it would alone: it opens the arrays, decides which tiles matter, and
//! [divides](tdb_datafusion::Scan::pieces) each scan into partitions. What is sent are values: where an array lies, the snapshot of it that
//! counts, and which cells each partition reads; never a key, and nothing that is open.
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

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {ballista_core, datafusion_proto, tdb_datafusion};

pub use cluster::{Address, Cluster};
pub use codec::PhysicalCodec;
pub use error::{Error, Result};
pub use executor::{Executor, ExecutorOptions, terminated};
pub use scheduler::{Scheduler, SchedulerOptions};
pub use session::{on_cluster, session};
