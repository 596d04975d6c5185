//! Writing: the names of new files, and the order in which files become durable.
//!
//! Everything that is written is a new file under a name that nobody else chooses; nothing is ever changed in place. What
//! is one file ([`Storage::create_new`](tdb_storage::Storage::create_new)) is there whole or not at all. What is more than
//! one, a fragment, goes through [`NewFragment`], whose last file commits it.

mod check;
mod combined;
mod commit;
mod coordinates;
mod create;
mod delete;
mod dense;
mod doctor;
mod encoder;
mod evolve;
mod files;
mod fragment;
mod group;
mod metadata;
mod name;
mod order;
mod promises;
mod region;
mod settings;
mod sparse;
mod stream;
mod target;
mod together;
mod version;
mod windows;
mod writer;

pub(crate) use commit::{NewFragment, SealedFragment};
pub use create::CreateOptions;
pub(crate) use dense::encode_box;
pub use doctor::Leftover;
pub(crate) use encoder::{EncodedTile, FieldEncoder, Run};
pub(crate) use fragment::FragmentWriter;
pub use group::GroupWriter;
pub use metadata::MetadataWriter;
pub(crate) use metadata::version_of_files as version_of_metadata;
pub(crate) use name::FragmentPlace;
pub use name::Names;
pub(crate) use region::cells_in;
pub use settings::{Duplicates, Written};
use settings::{Settings, commit};
pub use stream::GlobalWriter;
pub(crate) use target::Target;
pub use together::TogetherWriter;
pub(crate) use version::chosen_version;
pub use writer::Write;
