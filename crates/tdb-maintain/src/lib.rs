#![doc = include_str!("../README.md")]

mod advise;
mod consolidate;
mod diff;
mod doctor;
mod draft;
mod fragments;
mod ignoring;
mod manifest;
mod migrate;
mod own_commits;
mod plan;
mod rebuild;
mod relocate;
mod step;
mod vacuum;
mod verify;

pub use advise::{
    Advice, AdviceKind, AdviceLevel, AdviceReport, Advise, AdvisedCommand, Costs, FieldFacts, FieldTrials, Figure,
    FigureUnit, Sample, Trial,
};
pub use consolidate::{Consolidate, Consolidation};
pub use diff::{Diff, DiffCounts, Difference};
pub use doctor::{Diagnosis, Doctor, Mended, Remedy, Undone};
pub use draft::{Left, Reason, Savings};
pub use fragments::{ConsolidateFragments, FragmentPlan, FragmentReport, JoinedStep, PlannedStep};
pub use manifest::{FileChange, Manifest};
pub use migrate::{
    GroupMigration, GroupMigrationReport, InPlace, Migrate, Migration, MigrationReport, is_migration_interrupted,
    recover_migration,
};
pub use plan::{Plan, Report};
pub use rebuild::{Rebuild, Rebuilt};
pub use relocate::{Copied, CopyTo, MoveTo, Moved, Remove, Removed, place_in};
pub use step::{Action, Step};
pub use vacuum::{FragmentList, IgnoreFile, MetadataList, Vacuum, fragment_lists, ignoring_commits, metadata_lists};
pub use verify::{Finding, FindingKind, Severity, Verify, VerifyReport};

pub use tdb_job::{MaintainError, Obstacle, PlaceProblem, RebuildProblem, Refusal, Result, read_anew};

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_job;
pub use tdb_types;
