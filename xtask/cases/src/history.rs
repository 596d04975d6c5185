//! What happens to an array, by either side in turn; plain data, so that it can be made smaller.

use tdb_reference::model::{ArraySpec, MetadataEntry};
use tdb_types::FormatVersion;

use crate::case::{Case, Step};

/// An array and what happens to it.
#[derive(Clone, Debug)]
pub struct History {
    pub array: ArraySpec,
    pub encrypted: bool,
    /// Of the array. The library makes those of its own format half of the time.
    pub version: FormatVersion,
    pub creator: Side,
    pub turns: Vec<Turn>,
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
}

/// Something that one side does.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub side: Side,
    pub deed: Deed,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// A write, an evolution, or a delete by a condition.
    Step(Step),
    Metadata {
        put: Vec<MetadataEntry>,
        delete: Vec<String>,
        time: u64,
    },
    /// Deletes the fragments within a range of time.
    DeleteFragments(u64, u64),
    /// Consolidates fragments.
    Join(Join),
    /// Consolidates small files; metadata of a range of time, or all.
    Gather(Small, Option<(u64, u64)>),
    VacuumFragments,
    Vacuum(Small),
}

/// Small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Small {
    Commits,
    Footers,
    Metadata,
}

impl Small {
    /// What the library calls it.
    pub fn mode(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Footers => "fragment_meta",
            Self::Metadata => "array_meta",
        }
    }
}

/// How fragments are consolidated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Join {
    /// These of the fragments that are there, by their place; others are left out.
    pub list: Option<Vec<usize>>,
    pub between: Option<(u64, u64)>,
    pub steps: Option<u32>,
    pub min: Option<usize>,
    pub max: Option<usize>,
    pub ratio: Option<f32>,
    /// How many times as many cells as the tiles of dense fragments a new one may have; by default once.
    pub amplification: Option<f64>,
    pub purge: bool,
    pub max_fragment_size: Option<u64>,
    /// Bytes that ours may take.
    pub budget: usize,
}

impl History {
    /// The array with its writes, evolutions and deletes, which is what known defects are told by.
    pub fn case(&self) -> Case {
        let steps = self.turns.iter().filter_map(|turn| match &turn.deed {
            Deed::Step(step) => Some(step.clone()),
            _ => None,
        });
        Case {
            array: self.array.clone(),
            steps: steps.collect(),
            questions: Vec::new(),
            encrypted: self.encrypted,
            disordered: false,
            repeated: false,
        }
    }
}

impl Deed {
    /// When it happens, for what has a time.
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

    /// What it is counted as.
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
            Self::Join(join) if join.between.is_some() => "consolidations of a range of time",
            Self::Join(join) if join.min.is_some() => "consolidations in steps",
            Self::Join(_) => "consolidations of all fragments",
            Self::Gather(Small::Commits, _) => "consolidations of commits",
            Self::Gather(Small::Footers, _) => "consolidations of footers",
            Self::Gather(Small::Metadata, None) => "consolidations of metadata",
            Self::Gather(Small::Metadata, Some(_)) => "consolidations of metadata of a range of time",
            Self::VacuumFragments => "vacuums of fragments",
            Self::Vacuum(Small::Commits) => "vacuums of commits",
            Self::Vacuum(Small::Footers) => "vacuums of footers",
            Self::Vacuum(Small::Metadata) => "vacuums of metadata",
        }
    }

    /// All names, in the order of the summary.
    pub const NAMES: [&'static str; 19] = [
        "writes",
        "deletes",
        "evolutions",
        "changes of metadata",
        "deletes of fragments",
        "consolidations of all fragments",
        "consolidations of listed fragments",
        "consolidations of a range of time",
        "consolidations in steps",
        "consolidations to a bounded size",
        "consolidations with purge",
        "consolidations of commits",
        "consolidations of footers",
        "consolidations of metadata",
        "consolidations of metadata of a range of time",
        "vacuums of fragments",
        "vacuums of commits",
        "vacuums of footers",
        "vacuums of metadata",
    ];
}
