//! Basic types of the TileDB array storage format, shared by all other crates of the workspace.
//!
//! - [`FormatVersion`] and [`Feature`]: the format versions and a table of their features.
//! - [`ByteReader`] and [`ByteWriter`]: the parser and writer of binary fields. The reader is
//!   bounded, names each field, and tracks absolute offsets for [`DecodeError`].
//! - [`Datatype`], [`PhysicalType`], [`CellValNum`], [`Layout`], [`ArrayType`] and the other codes
//!   of the format.
//! - [`Scalar`] and the [ordered keys](ordered_key): single values of every fixed-size type, and
//!   `u64` keys that compare like the values.
//! - [`ErrorCategory`]: the categories of errors of all crates, by remedy.
//! - [`TimestampedName`]: the names of fragments, commits, schemas and metadata files.
//! - [`hex`]: conversion between bytes and hexadecimal digits.
//! - [`names`]: the names of files and folders in arrays and groups.
//! - [`Limits`]: bounds on the memory and work that a hostile file can demand of a reader.
//! - [`Spans`]: an optional record of every field read, for `tdb inspect` and for triage.
//! - [`Buffer`]: aligned column memory. [`SharedBuffer`]: a shared slice of a buffer.
//! - [`Cells`]: a borrowed view of the cells of one field, in a tile or a column.
//!
//! The crate does no I/O and implements no filters.
//!
//! The feature `serde`, off by default, serializes and deserializes the following types as their
//! `Display` text: [`Datatype`], [`Layout`], [`ArrayType`], [`DataOrder`], [`Encryption`],
//! [`CellValNum`], [`FormatVersion`] and [`TimestampedName`]. A [`Scalar`] is serialized with its
//! type.
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

/// A result with a [`DecodeError`], which gives the field and the offset.
pub type Result<T, E = DecodeError> = std::result::Result<T, E>;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
