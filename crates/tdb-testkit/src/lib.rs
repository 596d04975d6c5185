//! What the tests of the workspace share: fixtures, hostile bytes, replayed corpora.
//!
//! * [`hostile`]: ways to damage good bytes, the same ones on every run and every machine;
//! * [`replay`] and [`replay_target`]: run a fuzz body over the corpora that are committed;
//! * [`fixtures`]: the arrays in `fixtures/`, and what the reference library reads from them;
//! * [`FaultyStorage`]: a disk that fails, loses its power or whose machine stops at a chosen moment;
//! * [`LatentStorage`]: a storage whose answers take as long as those of an object store;
//! * [`Ledger`]: what was committed and when, by which reads of an array are judged that others write to meanwhile;
//! * [`LyingStorage`]: a storage that gives wrong sizes of files;
//! * [`MeanwhileStorage`]: a storage in which somebody else does something at a chosen moment;
//! * `allocations` (feature `allocations`): how much a piece of code allocates at its peak.
//!
//! Everything that runs a closure many times says on standard error which case was running when the
//! closure panics, so a failure can be repeated without a search.

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

pub use faulty::{Fault, FaultyStorage};
pub use latent::LatentStorage;
pub use ledger::{Least, Ledger};
pub use lying::{Lie, LyingStorage};
pub use meanwhile::MeanwhileStorage;
pub use replay::{replay, replay_damaged, replay_target};
