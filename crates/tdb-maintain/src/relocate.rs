//! Arrays and groups in other places: copied, moved, removed.

mod copying;
mod local;
mod moving;
mod problem;
mod removing;
mod rewrite;
mod walk;

pub use copying::{Copied, CopyTo};
pub use moving::{MoveTo, Moved};
pub use problem::PlaceProblem;
pub use removing::{Remove, Removed};
