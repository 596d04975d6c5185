//! Requests to the worker process of tdb, in JSON. A thousand ranges would be too long for
//! arguments.

use serde::{Deserialize, Serialize};
use tdb_reference::model::{AggregateSpec, GeneratedWrite, QuerySpec};

use crate::cases::Asking;
use crate::maintenance::Job;

/// A task with its parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pub uri: String,
    pub task: Task,
    pub threads: usize,
    pub repeats: usize,
    /// Computes the digest of the result without measuring.
    pub digest: bool,
}

/// A task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Opens an array and loads its fragments.
    Open,
    Read(ReadTask),
    Write(WriteTask),
    Maintain(Job),
    /// A point of a curve.
    Curve(CurvePoint),
}

/// A read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadTask {
    pub query: QuerySpec,
    pub asking: Asking,
    /// Aggregates to compute instead of returning cells.
    pub aggregates: Vec<AggregateSpec>,
    /// Returns the complete result as one batch, instead of batches of the default size.
    pub whole: bool,
}

/// Writes of the same cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WriteTask {
    pub write: GeneratedWrite,
    /// An array from which the cells are read in global order.
    pub sorted: Option<String>,
    /// Number of fragments per run. The array is opened again for each.
    pub fragments: usize,
}

/// An operation at one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CurvePoint {
    pub curve: String,
    pub series: String,
    pub x: u64,
}
