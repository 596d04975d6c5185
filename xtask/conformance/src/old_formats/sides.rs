//! Which library makes the arrays.

use tdb_reference::Reference;

/// The older release, and the newest.
pub struct Sides {
    pub older: Reference,
    pub newest: Reference,
}
