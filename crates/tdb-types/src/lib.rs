//! The words of the TileDB array storage format, on which every other crate of the workspace stands.
//!
//! - [`FormatVersion`] and [`Feature`]: which version of the format has what, in one table.
//! - [`ByteReader`] and [`ByteWriter`]: the only way to turn bytes into integers and back. The reader is bounded,
//!   names every field that it reads, and knows absolute offsets, so that a [`DecodeError`] says where.
//! - [`Datatype`], [`PhysicalType`], [`CellValNum`], [`Layout`], [`ArrayType`] and the other codes of the format.
//! - [`Scalar`] and the [ordered keys](ordered_key) that let planners, trees and sorters compare coordinates of
//!   every fixed-size type as plain `u64`.
//! - [`ErrorCategory`]: what to do about an error of any crate.
//! - [`TimestampedName`]: the names of fragments, commits, schemas and metadata files.
//! - [`hex`]: bytes as hexadecimal digits.
//! - [`names`]: what the files and folders of arrays and groups are called.
//! - [`Limits`]: how much a hostile file may make us allocate.
//! - [`Spans`]: an optional record of everything that a parse has read, for `tdb inspect` and for triage.
//! - [`Buffer`]: aligned column memory; [`SharedBuffer`]: a part of it that several hold.
//! - [`Cells`]: the cells of one field, borrowed from a tile or a column.
//!
//! It knows nothing of files or filters.
//!
//! With the feature `serde`, off by default, names and versions can be stored as the texts that they print, and scalars with their
//! type: [`Datatype`], [`Layout`], [`ArrayType`], [`DataOrder`], [`Encryption`], [`CellValNum`], [`FormatVersion`],
//! [`TimestampedName`], [`Scalar`].
//!
//! ```
//! use tdb_types::{ByteReader, Datatype, FormatVersion, Feature};
//!
//! let mut reader = ByteReader::new(&[22, 0, 0, 0, 3]);
//! let version = FormatVersion::read(&mut reader)?;
//! assert!(version.has(Feature::CurrentDomain));
//! let datatype = Datatype::read(&mut reader, "datatype")?;
//! assert_eq!(datatype, Datatype::Float64);
//! reader.finish("example")?;
//! # Ok::<(), tdb_types::DecodeError>(())
//! ```

#[cfg(target_endian = "big")]
compile_error!("cells are little-endian in files and in memory; this library has no big-endian support");

mod buffer;
mod category;
mod cells;
mod codes;
mod datatype;
#[cfg(feature = "datetime")]
pub mod datetime;
mod error;
pub mod hex;
mod limits;
mod name;
pub mod names;
mod ordered_key;
mod physical;
mod reader;
mod scalar;
mod scalar_bytes;
#[cfg(feature = "serde")]
mod serialise;
mod spans;
mod text;
mod version;
mod writer;

pub use buffer::{Buffer, SharedBuffer};
pub use category::ErrorCategory;
pub use cells::{Cells, Offsets, Validity};
pub use codes::{ArrayType, CellValNum, DataOrder, Encryption, Layout};
pub use datatype::Datatype;
pub use error::{BEFORE_VERSIONS, DecodeError, DecodeErrorKind};
pub use limits::{Limits, memory_len, saturating_len};
pub use name::{NameForm, TimestampedName, is_safe_file_name};
pub use ordered_key::{from_ordered_key, ordered_key, ordered_keys};
pub use physical::PhysicalType;
pub use reader::ByteReader;
pub use scalar::Scalar;
pub use scalar_bytes::ScalarBytes;
pub use spans::{Span, Spans};
pub use text::ParseNameError;
pub use version::{FEATURES, Feature, FeatureRow, FormatVersion, UnsupportedVersion};
pub use writer::ByteWriter;

/// A result whose error says where in the bytes the trouble lies.
pub type Result<T, E = DecodeError> = std::result::Result<T, E>;

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
