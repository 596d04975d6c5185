//! What the process of our side is asked for, as JSON: a thousand ranges are too long for arguments.

use serde::{Deserialize, Serialize};
use tdb_reference::model::{AggregateSpec, GeneratedWrite, QuerySpec};

use crate::cases::Asking;
use crate::maintenance::Job;

/// Something to do, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pub uri: String,
    pub task: Task,
    pub threads: usize,
    pub repeats: usize,
    /// Makes the digest of the result, and measures nothing.
    pub digest: bool,
}

/// What is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Opens an array, and loads its fragments.
    Open,
    Read(ReadTask),
    Write(WriteTask),
    Maintain(Job),
    /// Something at a size.
    Curve(CurvePoint),
}

/// A read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReadTask {
    pub query: QuerySpec,
    pub asking: Asking,
    /// Computed of the cells, instead of giving them.
    pub aggregates: Vec<AggregateSpec>,
    /// One batch with the whole result, instead of batches of the default size.
    pub whole: bool,
}

/// Writes of the same cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WriteTask {
    pub write: GeneratedWrite,
    /// An array of the same cells, from which they are taken in global order.
    pub sorted: Option<String>,
    /// How many fragments are written, each with an open of its own; together they are one run.
    pub fragments: usize,
}

/// One thing that is done, at one size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CurvePoint {
    pub curve: String,
    pub series: String,
    pub x: u64,
}
