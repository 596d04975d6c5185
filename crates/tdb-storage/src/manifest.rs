//! A list of the files of a folder, for servers without listings.

mod encode;
mod list;
mod parse;
mod storage;
mod walk;

pub use self::list::{MANIFEST_NAME, Manifest, ManifestChange, ManifestEntry};
pub use self::storage::ManifestStorage;
