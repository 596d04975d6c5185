//! Shared test tools of the workspace: fixtures, hostile bytes, replayed corpora and special
//! storages.
//!
//! * [`hostile`]: deterministic corruption of valid bytes
//! * [`replay`] and [`replay_target`]: run a fuzz body on the committed corpora
//! * [`fixtures`]: the arrays in `fixtures/`, with the results of the reference library
//! * [`FaultyStorage`]: a disk that fails, loses power, or stops at a chosen operation
//! * [`LatentStorage`]: a storage with the latency of an object store
//! * [`Ledger`]: a record of commits, to check reads during concurrent writes
//! * [`LyingStorage`]: a storage that reports wrong file sizes
//! * [`MeanwhileStorage`]: a storage that another process modifies at a chosen operation
//! * `allocations` (feature `allocations`): the peak memory allocation of a piece of code
//!
//! Functions that run a closure for many cases print the current case to standard error if the
//! closure panics. A failure can therefore be repeated without a search.

#[cfg(feature = "allocations")]
pub mod allocations;
mod case;
mod faulty;
pub mod fixtures;
pub mod hostile;
mod latent;
mod ledger;
mod lying;
mod meanwhile;
mod replay;
mod stored;

pub use faulty::{Fault, FaultyStorage};
pub use latent::LatentStorage;
pub use ledger::{Least, Ledger};
pub use lying::{Lie, LyingStorage};
pub use meanwhile::MeanwhileStorage;
pub use replay::{replay, replay_damaged, replay_mutated, replay_target};
pub use stored::{copy_files, files_of};
