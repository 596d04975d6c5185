#![doc = include_str!("../README.md")]

mod advice;
mod advise;
mod costs;
mod dead;
mod fields;
mod files;
mod fragments;
mod notes;
mod order;
mod report;
mod sample;
mod seen;
mod tiles;
mod wanted;

pub use advice::{Advice, AdviceKind, AdviceLevel, AdvisedCommand, Figure, FigureUnit};
pub use advise::Advise;
pub use costs::Costs;
pub use report::{AdviceReport, FieldFacts, FieldTrials, Trial};
pub use tdb_job::{MaintainError, Result};
pub use wanted::Sample;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
