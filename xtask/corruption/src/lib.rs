//! Damage done to the fixtures, and what it changes.
//!
//! * `alter`: ways to alter the bytes of a file;
//! * `damage`: what becomes of one fixture's files; `groups`: what can befall groups besides;
//! * `cases`: damage after damage, the same for the same seed;
//! * `subject`: a fixture in memory, to be damaged and mended;
//! * `seen`: what readers can see of it;
//! * `classes`: what a damage changes, as far as it decides whether a verification can find it.
//!
//! The tests of verification ask how much of it is found; `cargo xtask conformance corruption` has the reference library read the
//! same files.
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
