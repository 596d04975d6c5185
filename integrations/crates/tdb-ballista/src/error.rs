//! What can go wrong between client, scheduler and executors.

use std::net::SocketAddr;
use std::time::Duration;

use ballista_core::error::BallistaError;

/// What went wrong with a query on a cluster, or with one of its processes.
///
/// Queries give it inside of a [`DataFusionError::External`](datafusion::error::DataFusionError::External).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address of a scheduler is none.
    #[error("{address:?} is no address of a scheduler: write HOST:PORT")]
    Address {
        /// What was given.
        address: String,
    },
    /// No scheduler answers at the address.
    #[error("no scheduler answers at {scheduler}: {why}")]
    NoScheduler {
        /// Its address.
        scheduler: String,
        /// What the connection has come to.
        why: String,
    },
    /// The scheduler has no executors.
    #[error("the scheduler at {scheduler} has had no executors for {} s", waited.as_secs())]
    NoExecutors {
        /// Its address.
        scheduler: String,
        /// For how long that was so.
        waited: Duration,
    },
    /// The scheduler won't take the query.
    #[error("the scheduler at {scheduler} refuses the query: {why}")]
    Refused {
        /// Its address.
        scheduler: String,
        /// What it says.
        why: String,
    },
    /// The scheduler can't be asked any more, or doesn't know the query any more: it may have been started anew.
    #[error("the scheduler at {scheduler} has lost the query: {why}")]
    Lost {
        /// Its address.
        scheduler: String,
        /// What it says, or what the connection has come to.
        why: String,
    },
    /// The query has failed on the cluster.
    #[error("{why} (job {job} of the scheduler at {scheduler})")]
    Failed {
        /// The address of the scheduler.
        scheduler: String,
        /// What it calls the query.
        job: String,
        /// What it says.
        why: String,
    },
    /// An executor went away with a part of the result, of which another part has been given already: a second run need not give the same
    /// rows in the same order.
    #[error("executor {executor} went away with a part of the result: {why}; run the query again")]
    Result {
        /// What the scheduler calls the executor.
        executor: String,
        /// What the connection has come to.
        why: String,
    },
    /// The scheduler says that a query has ended, and doesn't say where all of its partitions are.
    #[error("the scheduler has forgotten where the result is: it knows {there} of its {wanted} partitions")]
    Incomplete {
        /// How many there are.
        there: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// A process can't listen at an address.
    #[error("can't listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// A folder can't be made or used.
    #[error("can't work in {folder}: {source}")]
    Folder {
        /// The folder.
        folder: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A process has stopped.
    #[error("{process}: {source}")]
    Process {
        /// Which one.
        process: &'static str,
        /// Why.
        source: BallistaError,
    },
}

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
