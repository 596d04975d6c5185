//! Conditions on the cells of TileDB arrays, for queries and for delete commits.
//!
//! - [`Condition`]: a condition as a tree. Build one with [`Condition::field`] or parse
//!   [text](ConditionText). [`Condition::parse_file`] parses a delete commit, and
//!   [`Condition::to_file`] returns its bytes. [`Update`] is an update commit.
//! - [`BoundCondition`]: a condition bound to a schema. It evaluates [`Cells`](tdb_types::Cells) of
//!   tiles or columns.
//!
//! ```
//! use tdb_condition::Condition;
//! use tdb_schema::{Attribute, Dimension, SchemaBuilder};
//! use tdb_types::{Cells, Datatype, FormatVersion, Limits, Offsets};
//!
//! let schema = SchemaBuilder::sparse()
//!     .dimension(Dimension::new("x", 0i32..=99))
//!     .attribute(Attribute::new("a", Datatype::Int32))
//!     .attribute(Attribute::new("name", Datatype::StringUtf8).with_cell_val_num(tdb_types::CellValNum::Var))
//!     .build()?;
//! let wanted = Condition::field("a").ge(4).and(Condition::field("name").is_in(["x", "y"]).not());
//! assert_eq!(wanted.display(&schema).to_string(), r#"a >= 4 and not name in ("x", "y")"#);
//!
//! // Evaluate the condition for three cells.
//! let bound = wanted.bind(&schema, |_| None)?;
//! let a: Vec<u8> = [3_i32, 4, 5].iter().flat_map(|value| value.to_le_bytes()).collect();
//! let a = Cells::fixed(&a, 4);
//! let name = Cells::var(Offsets::in_bytes(&[0, 1, 2, 3]), b"zzy");
//! let mut truth = [false; 3];
//! bound.evaluate(&[Some(a), Some(name)], &mut truth);
//! assert_eq!(truth, [false, true, false]);
//!
//! // A delete commit for the matching cells stores the condition of the cells to keep.
//! let file = wanted.negation().to_file(FormatVersion::DEFAULT)?;
//! let stays = Condition::parse_file(&file, &Limits::default(), None)?;
//! assert_eq!(stays.display(&schema).to_string(), r#"a < 4 or name in ("x", "y")"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Semantics
//!
//! The semantics follow release 2.30.0 of the reference library, with exceptions where that release
//! is inconsistent, as named below.
//!
//! - **Null cells**: no comparison is true of a null cell, including `!=` and NOT IN. Only tests
//!   for null match null cells. Negations move into comparisons ([`Condition::negation`]), so
//!   neither a comparison nor its negation is true of null cells. The same holds for NaNs, except
//!   that `!=` is true of NaNs.
//! - **Floats** compare according to IEEE 754: `-0.0` equals `0.0`, and a NaN equals no value.
//! - **IN** is an OR of `=`, and NOT IN an AND of `!=`. For floats, the reference library compares
//!   bytes in sets, and so do stored delete conditions ([`Condition::bind_stored`]).
//!   [`Condition::resolve`] makes both meanings equal: its sets have either both zeros or no zero,
//!   and no NaN.
//! - **Dates and times** compare as `i64`, **bool** as `u8`. Values have the type of the field.
//! - **Strings** (`char`, `string_ascii`, `string_utf8`) compare byte by byte, and a prefix sorts
//!   before longer strings. Fixed-size cells keep trailing zero bytes. Bytes are unsigned, except
//!   in fixed-size `char` cells.
//! - **Cells of several `char`**: the reference library compares only the first `char` with the
//!   first of the value, but IN compares whole cells. Queries compare whole cells. Stored
//!   conditions have the meaning of the reference library. Deletes store `=` as a set, and cannot
//!   order cells of this kind.
//! - **Other cells** (several numbers, wide strings, blobs, geometries, `any`) support only tests
//!   for null.
//! - **Enumerations**: values are looked up and compared by index. A value missing from the
//!   enumeration equals no cell, and `!=` is true of every cell that is not null. Delete commits
//!   store indices.
//! - **Missing fields**: if a fragment lacks the field of a stored delete condition, every test of
//!   the field is false, including tests for null. Stored conditions describe the cells to keep,
//!   and a false test does not keep a cell. Queries test the fill value
//!   ([`BoundCondition::assuming`]).
//!
//! The format has no test for null in stored conditions. Some writers store a comparison with an
//! empty value, which is read as a test for null where the value has no other meaning
//! ([`Condition::bind_stored`]). The reference library cannot read an array with such a condition.

mod assume;
mod bind;
mod bounds;
mod display;
mod error;
mod evaluate;
mod format;
mod literal;
mod parts;
mod portable;
mod resolve;
mod stored;
mod text;
mod tree;

// Re-exported because the public signatures use types of these crates.
pub use {tdb_generic_tile, tdb_schema, tdb_types};

pub use bind::{BoundCondition, BoundField};
pub use bounds::{CellBounds, Matches, Nulls};
pub use error::{ConditionError, Result};
pub use format::Update;
pub use literal::{Literal, LiteralKind, Value};
pub use text::{ConditionText, ConditionTextError};
pub use tree::{Condition, Field, Members, Operator, field};

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "all-codecs"))]
#[doc = include_str!("../README.md")]
struct Readme;
