//! Writing: the names of new files, and the order in which files become durable.
//!
//! Everything that is written is a new file under a name that nobody else chooses; nothing is ever changed in place. What
//! is one file ([`Storage::create_new`](tdb_storage::Storage::create_new)) is there whole or not at all. What is more than
//! one, a fragment, goes through [`NewFragment`], whose last file commits it.

#[cfg_attr(not(test), allow(dead_code))] // its callers, the writers of cells, are on their way
mod commit;
#[cfg_attr(not(test), allow(dead_code))]
mod name;

#[allow(unused_imports)]
pub(crate) use commit::{NewFragment, SealedFragment};
pub use name::Names;
pub(crate) use name::{FragmentPlace, random_ivs};
