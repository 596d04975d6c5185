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

// Public signatures use types of these crates. The re-exports spare users a dependency.
pub use tdb_array;
