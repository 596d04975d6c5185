//! Arrays, cells and queries as plain data, independent of any library. Fixtures, comparisons and
//! messages to the process with the reference library consist of these types.
//!
//! Coordinates and fill values are [`Bytes`] in the format's little-endian encoding, because the
//! datatype is only known at run time. The `build` module creates such bytes from Rust values.

mod aggregate;
mod array;
mod build;
mod bytes;
mod cells;
mod condition;
mod filter;
mod generated;
mod query;

pub use aggregate::{AggregateFunction, AggregateSpec};
pub use array::{ArraySpec, AttributeSpec, DimensionSpec, EnumerationSpec, Evolution, LabelSpec};
pub use build::{LittleEndian, attribute, bytes_of, column, dimension, ends, nullable, string_dimension, var_column};
pub use bytes::{Bytes, attachments};
pub use cells::{Cells, Column, ReadColumn, ReadResult};
pub use condition::{Comparison, Condition};
pub use filter::{FilterSpec, Pipeline, WebpFormat};
pub use generated::{GeneratedWrite, Rule};
pub use query::{FragmentSummary, GroupMember, MetadataEntry, ObjectKind, QuerySpec, RangesSpec, WriteSpec};
