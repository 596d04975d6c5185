//! The libraries' processes.

use tdb_reference::Reference;

pub(super) struct Sides {
    pub(super) older: Reference,
    pub(super) newest: Reference,
}
