#![doc = include_str!("../README.md")]

// Every write creates new files under unique names. Existing files are never changed in place. A
// single file (`Storage::create_new`) is created atomically. `NewFragment` creates a fragment,
// which consists of several files. The last file commits the fragment.

mod atomic;
mod check;
mod combined;
mod commit;
mod coordinates;
mod create;
mod create_group;
mod delete;
mod dense;
mod doctor;
mod encoder;
mod evolve;
mod files;
mod fragment;
mod metadata;
mod name;
mod order;
mod promises;
mod region;
mod settings;
mod small_files;
mod sparse;
mod stream;
mod target;
mod version;
mod windows;
mod writer;

pub use atomic::AtomicWriter;
pub use commit::{NewFragment, SealedFragment};
pub use create::{CreateOptions, definition};
pub use delete::{delete_cells, delete_fragments};
pub use dense::encode_box;
pub use doctor::{Leftover, leftovers, remove_leftovers};
pub use encoder::{EncodedTile, FieldEncoder, Run};
pub use evolve::evolve;
pub use fragment::FragmentWriter;
pub use metadata::MetadataWriter;
pub(crate) use metadata::version_of_files as version_of_metadata;
pub use name::FragmentPlace;
pub use name::WriteIds;
pub use region::cells_in;
pub use settings::{Duplicates, Written};
use settings::{Settings, commit};
pub use small_files::SmallFiles;
pub use stream::GlobalWriter;
pub use target::Target;
pub use version::chosen_version;
pub use writer::Write;
