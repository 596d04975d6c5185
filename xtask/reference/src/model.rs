//! Arrays, cells and queries as plain data, owing nothing to the library that writes or reads them: what fixtures and
//! comparisons are described in, and what goes to the process that drives the reference library and comes back.
//!
//! Coordinates, fill values and the like are [`Bytes`] in the format's own little-endian form, since their datatype
//! is only known at run time; the `build` module lets recipes write them as Rust values.

mod aggregate;
mod array;
mod build;
mod bytes;
mod cells;
mod condition;
mod filter;
mod generated;
mod names;
mod query;

pub use aggregate::{AggregateFunction, AggregateSpec};
pub use array::{ArraySpec, AttributeSpec, DimensionSpec, EnumerationSpec, Evolution, LabelSpec};
pub use build::{LittleEndian, attribute, bytes_of, column, dimension, nullable, string_dimension, var_column};
pub use bytes::{Bytes, attachments};
pub use cells::{Cells, Column, ReadColumn, ReadResult};
pub use condition::{Comparison, Condition};
pub use filter::{FilterSpec, Pipeline, WebpFormat};
pub use generated::{GeneratedWrite, Rule};
pub use query::{FragmentSummary, GroupMember, MetadataEntry, ObjectKind, QuerySpec, RangesSpec, WriteSpec};
