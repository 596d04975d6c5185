//! Arrays and groups in other places: copied, moved, removed.

mod copying;
mod held;
mod local;
mod moving;
mod removing;
mod rewrite;
mod staged;
mod walk;

pub(crate) use copying::check;
pub use copying::{Copied, CopyTo};
pub use local::place_in;
pub(crate) use local::{check_not_in_array, named};
pub use moving::{MoveTo, Moved};
pub(crate) use removing::REMOVED;
pub use removing::{Remove, Removed};
pub(crate) use rewrite::{Kind, Places, Rewritten};
pub(crate) use staged::{clear_unfinished, staged};
pub(crate) use walk::{Tree, walk};
