//! Messages to and from the process with the library.
//!
//! A message consists of two lengths (JSON, attachments) as little-endian `u64`, the JSON, and the
//! attachments. Attachments contain cells, which would be slow as text.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{
    AggregateSpec, ArraySpec, Bytes, Condition, Evolution, FragmentSummary, GeneratedWrite, GroupMember, MetadataEntry,
    QuerySpec, ReadColumn, ReadResult, WriteSpec, attachments,
};

/// Sends a message.
pub(super) fn send(stream: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let (json, attached) = attachments::with(Vec::new(), || serde_json::to_vec(message));
    let json = json?;
    stream.write_all(&(json.len() as u64).to_le_bytes())?;
    stream.write_all(&(attached.len() as u64).to_le_bytes())?;
    stream.write_all(&json)?;
    stream.write_all(&attached)
}

/// Receives a message. Returns `None` if the other end has closed the stream.
pub(super) fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let mut lengths = [[0; 8]; 2];
    if let Err(error) = stream.read_exact(lengths.as_flattened_mut()) {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let [json, attached] = lengths.map(|length| vec![0; u64::from_le_bytes(length) as usize]);
    let (mut json, mut attached) = (json, attached);
    stream.read_exact(&mut json)?;
    stream.read_exact(&mut attached)?;
    let (message, _) = attachments::with(attached, || serde_json::from_slice(&json));
    Ok(Some(message?))
}

/// A job, with the configuration of its context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub job: Job,
    /// Settings of the library, for example `sm.compute_concurrency_level`.
    pub config: BTreeMap<String, String>,
}

/// A job for the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Returns the library's version.
    Version,
    /// Returns the peak memory of the process in bytes.
    PeakMemory,
    /// Succeeds if the library has a function, and fails otherwise.
    Function {
        name: String,
    },
    Create {
        uri: String,
        spec: ArraySpec,
    },
    Write {
        uri: String,
        spec: WriteSpec,
    },
    /// Writes cells that the process generates.
    WriteGenerated {
        uri: String,
        spec: GeneratedWrite,
    },
    /// Writes the same cells `repeats` times, and times each write.
    TimeWrites {
        uri: String,
        spec: WriteSpec,
        repeats: usize,
    },
    /// Returns the CPU time of the process in seconds, summed over all threads.
    CpuSeconds,
    /// Opens an array for reading and closes it `repeats` times, and times each.
    TimeOpens {
        uri: String,
        repeats: usize,
    },
    /// Opens an array for reading, and closes it.
    Open {
        uri: String,
    },
    Read {
        uri: String,
        spec: QuerySpec,
    },
    /// Computes aggregates of the cells of a read, whose fields are ignored.
    Aggregate {
        uri: String,
        spec: QuerySpec,
        aggregates: Vec<AggregateSpec>,
    },
    /// Computes aggregates `repeats` times, and times each.
    TimeAggregates {
        uri: String,
        spec: QuerySpec,
        aggregates: Vec<AggregateSpec>,
        repeats: usize,
    },
    TimeReads {
        uri: String,
        spec: QuerySpec,
        /// Initial size of each buffer in bytes, for the first read, which determines the required
        /// size.
        room: Option<usize>,
        repeats: usize,
    },
    /// Opens an array and reads once into buffers of `room` bytes, timed. In a new context the
    /// library's caches of files are empty.
    TimeFirstRead {
        uri: String,
        spec: QuerySpec,
        room: usize,
    },
    /// Runs [the queries in sequence](QuerySpec::one_by_one) on an open array, timed.
    TimeReadsOneByOne {
        uri: String,
        spec: QuerySpec,
        repeats: usize,
    },
    Evolve {
        uri: String,
        evolution: Evolution,
    },
    /// Rewrites the newest schema in the library's own format version.
    Upgrade {
        uri: String,
    },
    Delete {
        uri: String,
        condition: Condition,
        timestamp: Option<u64>,
    },
    /// Deletes the fragments in a time range.
    DeleteFragments {
        uri: String,
        times: (u64, u64),
    },
    /// Consolidates according to the settings `sm.consolidation.*`.
    Consolidate {
        uri: String,
    },
    /// Consolidates fragments, given the names of their folders.
    ConsolidateFragments {
        uri: String,
        fragments: Vec<String>,
    },
    /// Vacuums according to the settings `sm.vacuum.*`.
    Vacuum {
        uri: String,
    },
    ChangeMetadata {
        uri: String,
        put: Vec<MetadataEntry>,
        delete: Vec<String>,
        timestamp: Option<u64>,
    },
    Metadata {
        uri: String,
        timestamps: Option<(u64, u64)>,
    },
    CreateGroup {
        uri: String,
    },
    ChangeGroup {
        uri: String,
        add: Vec<GroupMember>,
        /// Names of members, or URIs of members without a name.
        remove: Vec<String>,
        put: Vec<MetadataEntry>,
        delete: Vec<String>,
    },
    DescribeGroup {
        uri: String,
    },
    ConsolidateGroupMetadata {
        uri: String,
    },
    VacuumGroupMetadata {
        uri: String,
    },
    Fragments {
        uri: String,
    },
}

impl Job {
    /// Returns the kind of job for messages, for example `time writes`.
    pub fn kind(&self) -> String {
        let (json, _) = attachments::with(Vec::new(), || serde_json::to_string(self).unwrap_or_default());
        // The first text of the JSON is the name of the variant.
        json.split('"').nth(1).unwrap_or_default().replace('_', " ")
    }
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    /// The library's error message.
    Failed(String),
    Text(String),
    Cells(ReadResult),
    /// A column with one cell per aggregate.
    Aggregates(Vec<ReadColumn>),
    Timed(TimedReads),
    Metadata(Vec<MetadataEntry>),
    Group(GroupDescription),
    Fragments(Vec<FragmentSummary>),
}

/// The members and metadata of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupDescription {
    pub members: Vec<GroupMember>,
    pub metadata: Vec<MetadataEntry>,
}

/// Timed reads or other operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedReads {
    pub cells: usize,
    /// Size in bytes of values, offsets (8 bytes each, with the end of the last cell) and validity.
    pub bytes: u64,
    /// SHA-256 of the columns in the order of the fields. For each column: the values, then the
    /// offsets of variable-size cells as little-endian `u64` with the end of the last cell, then
    /// one validity byte per cell of a nullable field. Empty for operations without cells.
    pub digest: Bytes,
    pub reads: Vec<TimedRead>,
    /// Peak memory of the process during the timed reads in bytes, with the result buffers. For
    /// writes, without the memory of the given cells.
    pub peak_memory: u64,
}

/// A timed read or other operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedRead {
    /// Seconds from before the array was opened until after it was closed.
    pub seconds: f64,
    /// CPU time of the process in seconds, summed over all threads.
    pub cpu_seconds: f64,
    /// Seconds to open the array, included in `seconds`.
    pub open_seconds: f64,
    /// Number of submissions.
    pub submits: usize,
}

#[cfg(test)]
mod tests {
    use super::Job;

    #[test]
    fn kinds_of_jobs_are_words() {
        assert_eq!(Job::PeakMemory.kind(), "peak memory");
        assert_eq!(Job::TimeOpens { uri: "a \"b".to_owned(), repeats: 1 }.kind(), "time opens");
    }
}
