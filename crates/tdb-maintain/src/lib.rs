#![doc = include_str!("../README.md")]

mod advise;
mod consolidate;
mod diff;
mod disjoint;
mod doctor;
mod draft;
mod error;
mod footer_files;
mod fragments;
mod ignoring;
mod job;
mod links;
mod lock;
mod manifest;
mod metadata_files;
mod migrate;
mod own_commits;
mod plan;
mod rebuild;
mod relocate;
mod rounds;
mod settle;
mod step;
mod target;
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
pub use error::{MaintainError, Result};
pub use fragments::{ConsolidateFragments, FragmentPlan, FragmentReport, JoinedStep, PlannedStep, Refusal};
pub use manifest::{FileChange, Manifest};
pub use migrate::{
    GroupMigration, GroupMigrationReport, InPlace, Migrate, Migration, MigrationReport, Obstacle,
    is_migration_interrupted, recover_migration,
};
pub use plan::{Plan, Report};
pub use rebuild::{Rebuild, RebuildProblem, Rebuilt};
pub use relocate::{Copied, CopyTo, MoveTo, Moved, PlaceProblem, Remove, Removed, place_in};
pub use rounds::read_anew;
pub use step::{Action, Step};
pub use vacuum::Vacuum;
pub use verify::{Finding, FindingKind, Severity, Verify, VerifyReport};

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_types;
