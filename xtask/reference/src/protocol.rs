//! What is asked of the process that holds the library, and what it answers.
//!
//! Each message is two lengths (JSON, attachments) as little-endian `u64`, the JSON, and the attachments: cells, which
//! would be slow as text.

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

/// Waits for a message; `None` if the other end has finished.
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

/// A job in a context of a certain configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub job: Job,
    /// Settings of the library, such as `sm.compute_concurrency_level`.
    pub config: BTreeMap<String, String>,
}

/// Something the library can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// The library's version.
    Version,
    /// The most memory that the process has held, in bytes.
    PeakMemory,
    /// Whether the library has a function; done if so, failed if not.
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
    /// Writes cells that are made on the spot.
    WriteGenerated {
        uri: String,
        spec: GeneratedWrite,
    },
    /// Writes the same cells as often as said, by the clock.
    TimeWrites {
        uri: String,
        spec: WriteSpec,
        repeats: usize,
    },
    /// Seconds of all processors that the process has taken.
    CpuSeconds,
    /// Opens an array to read it and closes it, as often as said, by the clock.
    TimeOpens {
        uri: String,
        repeats: usize,
    },
    /// Opens an array to read it, and closes it.
    Open {
        uri: String,
    },
    Read {
        uri: String,
        spec: QuerySpec,
    },
    /// Computes aggregates of the cells of a read, whose fields don't matter.
    Aggregate {
        uri: String,
        spec: QuerySpec,
        aggregates: Vec<AggregateSpec>,
    },
    /// Computes aggregates as often as said, by the clock.
    TimeAggregates {
        uri: String,
        spec: QuerySpec,
        aggregates: Vec<AggregateSpec>,
        repeats: usize,
    },
    TimeReads {
        uri: String,
        spec: QuerySpec,
        /// Bytes of each buffer of the first read, which finds out how large they have to be.
        room: Option<usize>,
        repeats: usize,
    },
    /// Opens an array and reads, once and by the clock, into buffers of so many bytes: in a context that has read nothing before, what
    /// the library keeps of files doesn't help.
    TimeFirstRead {
        uri: String,
        spec: QuerySpec,
        room: usize,
    },
    /// Asks [one query after the other](QuerySpec::one_by_one) of an array that is open, by the clock.
    TimeReadsOneByOne {
        uri: String,
        spec: QuerySpec,
        repeats: usize,
    },
    Evolve {
        uri: String,
        evolution: Evolution,
    },
    /// Rewrites the newest schema at the library's own format version.
    Upgrade {
        uri: String,
    },
    Delete {
        uri: String,
        condition: Condition,
        timestamp: Option<u64>,
    },
    /// Deletes the fragments within a range of time.
    DeleteFragments {
        uri: String,
        times: (u64, u64),
    },
    /// As the configuration's `sm.consolidation.*` say.
    Consolidate {
        uri: String,
    },
    /// Consolidates these fragments, by the names of their folders.
    ConsolidateFragments {
        uri: String,
        fragments: Vec<String>,
    },
    /// As the configuration's `sm.vacuum.*` say.
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
        /// Names, or URIs of members without a name.
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
    /// The kind of job, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::PeakMemory => "peak memory",
            Self::Function { .. } => "function",
            Self::Create { .. } => "create",
            Self::Write { .. } => "write",
            Self::WriteGenerated { .. } => "write generated",
            Self::TimeWrites { .. } => "time writes",
            Self::CpuSeconds => "processor time",
            Self::TimeOpens { .. } => "time opens",
            Self::Open { .. } => "open",
            Self::Read { .. } => "read",
            Self::Aggregate { .. } => "aggregate",
            Self::TimeAggregates { .. } => "time aggregates",
            Self::TimeReads { .. } => "time reads",
            Self::TimeFirstRead { .. } => "time first read",
            Self::TimeReadsOneByOne { .. } => "time reads one by one",
            Self::Evolve { .. } => "evolve",
            Self::Upgrade { .. } => "upgrade",
            Self::Delete { .. } => "delete",
            Self::DeleteFragments { .. } => "delete fragments",
            Self::Consolidate { .. } => "consolidate",
            Self::ConsolidateFragments { .. } => "consolidate fragments",
            Self::Vacuum { .. } => "vacuum",
            Self::ChangeMetadata { .. } => "change metadata",
            Self::Metadata { .. } => "metadata",
            Self::CreateGroup { .. } => "create group",
            Self::ChangeGroup { .. } => "change group",
            Self::DescribeGroup { .. } => "describe group",
            Self::ConsolidateGroupMetadata { .. } => "consolidate group metadata",
            Self::VacuumGroupMetadata { .. } => "vacuum group metadata",
            Self::Fragments { .. } => "fragments",
        }
    }
}

/// What a job came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    /// The library's message.
    Failed(String),
    Text(String),
    Cells(ReadResult),
    /// Of each aggregate a column of one cell.
    Aggregates(Vec<ReadColumn>),
    Timed(TimedReads),
    Metadata(Vec<MetadataEntry>),
    Group(GroupDescription),
    Fragments(Vec<FragmentSummary>),
}

/// The members of a group, and its metadata.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupDescription {
    pub members: Vec<GroupMember>,
    pub metadata: Vec<MetadataEntry>,
}

/// Reads, or whatever else is done, by the clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedReads {
    pub cells: usize,
    /// Values, offsets (8 bytes each, one more than there are cells) and validity.
    pub bytes: u64,
    /// Empty of what gives no cells; else SHA-256 over the columns in the order asked for, each as its values, then, if cells have a variable size, the
    /// offsets as `u64` in little-endian with the end at the end, then, if the field is nullable, one byte per cell.
    pub digest: Bytes,
    pub reads: Vec<TimedRead>,
    /// The most memory that the process held during the timed reads in bytes, the result buffers included; of writes what it held
    /// beside the cells.
    pub peak_memory: u64,
}

/// One read, or whatever else is done, by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedRead {
    /// From before the array was opened until after it was closed.
    pub seconds: f64,
    /// Seconds of all processors together that the process took meanwhile.
    pub cpu_seconds: f64,
    /// The part of it that opening took.
    pub open_seconds: f64,
    /// How often the query was submitted.
    pub submits: usize,
}
