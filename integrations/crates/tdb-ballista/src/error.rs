//! Errors of clients, schedulers and executors.

use std::net::SocketAddr;
use std::time::Duration;

use ballista_core::error::BallistaError;

/// Error of a query on a cluster, or of a process of the cluster.
///
/// Queries wrap it in a
/// [`DataFusionError::External`](datafusion::error::DataFusionError::External).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address of a scheduler is invalid.
    #[error("{address:?} is not the address of a scheduler: expected HOST:PORT")]
    Address {
        /// The given text.
        address: String,
    },
    /// No scheduler responds at the address.
    #[error("no scheduler responds at {scheduler}: {why}")]
    NoScheduler {
        /// Address of the scheduler.
        scheduler: String,
        /// Cause.
        why: String,
    },
    /// The scheduler has no executors.
    #[error("the scheduler at {scheduler} has had no executors for {} s", waited.as_secs())]
    NoExecutors {
        /// Address of the scheduler.
        scheduler: String,
        /// Time without executors.
        waited: Duration,
    },
    /// The scheduler rejects the query.
    #[error("the scheduler at {scheduler} rejects the query: {why}")]
    Refused {
        /// Address of the scheduler.
        scheduler: String,
        /// Message of the scheduler.
        why: String,
    },
    /// The scheduler is unreachable or no longer knows the query, for example after a restart.
    #[error("the scheduler at {scheduler} has lost the query: {why}")]
    Lost {
        /// Address of the scheduler.
        scheduler: String,
        /// Message of the scheduler, or cause of the connection failure.
        why: String,
    },
    /// The query failed on the cluster.
    #[error("{why} (job {job} of the scheduler at {scheduler})")]
    Failed {
        /// Address of the scheduler.
        scheduler: String,
        /// Job id.
        job: String,
        /// Message of the scheduler.
        why: String,
    },
    /// An executor disappeared with part of the result, after other rows were returned. The query
    /// does not restart, because a second run might return the rows in another order.
    #[error("executor {executor} was lost with a part of the result: {why}; run the query again")]
    Result {
        /// Executor id.
        executor: String,
        /// Cause of the connection failure.
        why: String,
    },
    /// The scheduler reports success, but not the location of every partition.
    #[error("the scheduler has lost the location of the result: expected {wanted} partitions, found {there}")]
    Incomplete {
        /// Number of known partitions.
        there: usize,
        /// Number of expected partitions.
        wanted: usize,
    },
    /// A process cannot listen at an address.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Cause.
        source: std::io::Error,
    },
    /// A folder cannot be created or used.
    #[error("cannot use folder {folder}: {source}")]
    Folder {
        /// Path of the folder.
        folder: String,
        /// Cause.
        source: std::io::Error,
    },
    /// A process stopped with an error.
    #[error("{process}: {source}")]
    Process {
        /// Name of the process.
        process: &'static str,
        /// Cause.
        source: BallistaError,
    },
}

/// Result with an [`Error`], unless another error type is given.
pub type Result<T, E = Error> = std::result::Result<T, E>;
