//! Damages fixtures, and determines what the damage changes.
//!
//! - `alter`: alterations of a file
//! - `damage`: damage to the files of a fixture
//! - `groups`: additional damage to groups
//! - `cases`: a reproducible sequence of damage
//! - `subject`: a fixture in memory, which is damaged and restored
//! - `seen`: the contents that readers see
//! - `classes`: classes of damage, by what a verification can find
//!
//! The tests of verification measure how much damage is found. `cargo xtask conformance corruption`
//! reads the same files with the reference library.
#![forbid(unsafe_code)]

mod alter;
mod cases;
mod classes;
mod damage;
mod groups;
mod seen;
mod subject;

pub use cases::Cases;
pub use classes::Class;
pub use damage::Damage;
pub use seen::{Seen, options};
pub use subject::{Subject, all};
