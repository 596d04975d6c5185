#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod damage;
mod directory;
mod environment;
mod error;
mod field;
mod fragment;
mod metadata;
mod named;
mod once;
mod snapshot;
pub mod tiles;
mod time;

// Re-exported because public signatures use types of these crates. Dependents need no manifest
// entry.
pub use {
    tdb_cells, tdb_condition, tdb_filters, tdb_fragment, tdb_generic_tile, tdb_metadata, tdb_rtree, tdb_schema,
    tdb_storage, tdb_types,
};

pub use access::Access;
pub use damage::Damaged;
pub use directory::{
    ArrayDirectory, CommitInventory, CommitList, CommittedFragment, EmbeddedDelete, FragmentEntry, Listing,
};
pub use environment::{Clock, Environment, Randomness};
pub use error::ArrayError;
pub use field::{OutputField, unknown_field};
pub use fragment::{
    CellOrderCheck, FieldStatistics, FieldTotals, Fragment, StoredTiles, TileCells, TileReader, distrust, prefetch,
    prefetch_totals, reliable_statistics,
};
pub use metadata::{Metadata, NumpyArray, names_within};
pub use named::list_named;
pub use once::try_init;
pub use snapshot::{Open, Options, Pin, Snapshot, TileWorkers, load_schema, version_of_new_fragments};
pub use time::TimeRange;

/// A result with an error about the file or the part of the request at fault.
pub type Result<T, E = ArrayError> = std::result::Result<T, E>;
