//! The history of an array, as operations by both sides. The history is plain data, ready for
//! shrinking.

use tdb_reference::model::{ArraySpec, MetadataEntry};
use tdb_types::FormatVersion;

use crate::case::{Case, Step};

/// An array and its history.
#[derive(Clone, Debug)]
pub struct History {
    pub array: ArraySpec,
    pub encrypted: bool,
    /// Format version of the array. Only the newest format can be created by either side.
    pub version: FormatVersion,
    pub creator: Side,
    pub turns: Vec<Turn>,
}

/// The library that performs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

/// An operation by one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub side: Side,
    pub deed: Deed,
}

/// An operation on an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// A write, an evolution, or a delete by a condition.
    Step(Step),
    Metadata {
        put: Vec<MetadataEntry>,
        delete: Vec<String>,
        time: u64,
    },
    /// Deletes the fragments in a time range.
    DeleteFragments(u64, u64),
    /// Consolidates fragments.
    Join(Join),
    /// Consolidates commit, footer or metadata files. Metadata may be restricted to a time range.
    Gather(Small, Option<(u64, u64)>),
    VacuumFragments,
    Vacuum(Small),
}

/// Kinds of files to consolidate, other than fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Small {
    Commits,
    Footers,
    Metadata,
}

impl Small {
    /// Returns the library's name of the kind.
    pub fn mode(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Footers => "fragment_meta",
            Self::Metadata => "array_meta",
        }
    }
}

/// Parameters of a consolidation of fragments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Join {
    /// Positions of the fragments to consolidate. Positions without a fragment are skipped.
    pub list: Option<Vec<usize>>,
    pub between: Option<(u64, u64)>,
    pub steps: Option<u32>,
    pub min: Option<usize>,
    pub max: Option<usize>,
    pub ratio: Option<f32>,
    /// Maximum number of cells of a new dense fragment, as a multiple of the cells of its sources.
    /// The default is 1.
    pub amplification: Option<f64>,
    pub purge: bool,
    pub max_fragment_size: Option<u64>,
    /// Memory budget of tdb in bytes.
    pub budget: usize,
}

impl History {
    /// Returns the array with all writes, evolutions and deletes, for the recognition of known
    /// defects.
    pub fn case(&self) -> Case {
        let steps = self.turns.iter().filter_map(|turn| match &turn.deed {
            Deed::Step(step) => Some(step.clone()),
            _ => None,
        });
        Case { steps: steps.collect(), encrypted: self.encrypted, ..Case::of(self.array.clone()) }
    }
}

impl Deed {
    /// Returns the timestamp of the operation, if any.
    pub fn time(&self) -> Option<u64> {
        match self {
            Self::Step(Step::Write(write)) => write.timestamp,
            Self::Step(Step::Delete(_, time)) | Self::Metadata { time, .. } | Self::DeleteFragments(time, _) => {
                Some(*time)
            }
            Self::Step(Step::Evolve(evolution)) => evolution.timestamp,
            _ => None,
        }
    }

    /// Returns the name of the operation's counter.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Step(Step::Write(_)) => "writes",
            Self::Step(Step::Delete(..)) => "deletes",
            Self::Step(_) => "evolutions",
            Self::Metadata { .. } => "changes of metadata",
            Self::DeleteFragments(..) => "deletes of fragments",
            Self::Join(join) if join.list.is_some() => "consolidations of listed fragments",
            Self::Join(join) if join.purge => "consolidations with purge",
            Self::Join(join) if join.max_fragment_size.is_some() => "consolidations to a bounded size",
            Self::Join(join) if join.between.is_some() => "consolidations of a time range",
            Self::Join(join) if join.min.is_some() => "consolidations in steps",
            Self::Join(_) => "consolidations of all fragments",
            Self::Gather(Small::Commits, _) => "consolidations of commits",
            Self::Gather(Small::Footers, _) => "consolidations of footers",
            Self::Gather(Small::Metadata, None) => "consolidations of metadata",
            Self::Gather(Small::Metadata, Some(_)) => "consolidations of metadata of a time range",
            Self::VacuumFragments => "vacuums of fragments",
            Self::Vacuum(Small::Commits) => "vacuums of commits",
            Self::Vacuum(Small::Footers) => "vacuums of footers",
            Self::Vacuum(Small::Metadata) => "vacuums of metadata",
        }
    }
}
