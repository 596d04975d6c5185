//! Conditions on the cells of TileDB arrays: what a query wants, and what a delete commit leaves.
//!
//! - [`Condition`]: the tree. It is built ([`Condition::field`]), read from [text](ConditionText), read from and written to delete commits
//!   ([`Condition::parse_file`], [`Condition::to_file`]) byte for byte, and printed. [`Update`] is an update commit.
//! - [`BoundCondition`]: a condition bound to a schema, which says of [`Cells`](tdb_types::Cells), of a tile or a column, which
//!   of them fulfil it.
//!
//! ```
//! use tdb_condition::Condition;
//! use tdb_schema::{Attribute, Dimension, SchemaBuilder};
//! use tdb_types::{Cells, Datatype, FormatVersion, Limits, Offsets, Scalar};
//!
//! let schema = SchemaBuilder::sparse()
//!     .dimension(Dimension::new("x", Datatype::Int32, Scalar::I32(0), Scalar::I32(99)))
//!     .attribute(Attribute::new("a", Datatype::Int32))
//!     .attribute(Attribute::new("name", Datatype::StringUtf8).with_cell_val_num(tdb_types::CellValNum::Var))
//!     .build()?;
//! let wanted = Condition::field("a").ge(4).and(Condition::field("name").is_in(["x", "y"]).not());
//! assert_eq!(wanted.display(&schema).to_string(), r#"a >= 4 and not name in ("x", "y")"#);
//!
//! // Which of three cells?
//! let bound = wanted.bind(&schema, |_| None)?;
//! let a: Vec<u8> = [3_i32, 4, 5].iter().flat_map(|value| value.to_le_bytes()).collect();
//! let a = Cells::fixed(&a, 4);
//! let name = Cells::var(Offsets::in_bytes(&[0, 1, 2, 3]), b"zzy");
//! let mut truth = [false; 3];
//! bound.evaluate(&[Some(a), Some(name)], &mut truth);
//! assert_eq!(truth, [false, true, false]);
//!
//! // A delete commit that deletes them: it holds what cells must fulfil to stay.
//! let file = wanted.negation().to_file(FormatVersion::DEFAULT)?;
//! let stays = Condition::parse_file(&file, &Limits::default(), None)?;
//! assert_eq!(stays.display(&schema).to_string(), r#"a < 4 or name in ("x", "y")"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is true of which cells
//!
//! As release 2.30.0 of the reference library has it, and where it contradicts itself as said below:
//!
//! - Of a **null** cell no comparison is true, `!=` and NOT IN included; only tests for null see it. Negations move into
//!   comparisons ([`Condition::negation`]), so that of null cells and NaNs neither a comparison nor its negation is true,
//!   but for `!=`, which is true of NaNs.
//! - **Floats** compare as IEEE 754 says: `-0.0` equals `0.0`, and a NaN equals nothing.
//! - **IN** is an OR of `=`, and NOT IN an AND of `!=`. The reference library compares the bytes of floats there, and so do
//!   stored delete conditions ([`Condition::bind_stored`]). [`Condition::resolve`] makes both meanings the same: its sets hold
//!   zeros of both signs or none, and no NaN.
//! - **Dates and times** compare as `i64`, **bool** as `u8`; values have the field's own type.
//! - **Strings** (`char`, `string_ascii`, `string_utf8`) compare byte by byte, and a string that others begin with comes
//!   before them. Cells of fixed size keep the zero bytes at their end. Bytes are unsigned but in fixed-size `char` cells.
//! - Of cells of several **`char`** the reference library compares the first with the first of the value, though IN compares
//!   whole cells. Queries compare whole cells; stored conditions mean what they mean there. Deletes store `=` as a set, and
//!   can't order such cells.
//! - **Other cells** (several numbers, wide strings, blobs, geometries) can only be tested for null.
//! - **Enumerations**: values are looked up and compared by position. A value that the enumeration lacks equals no cell, and
//!   `!=` holds for every cell that is not null. Delete commits hold positions already.
//! - **Fields that a fragment doesn't have**: in a stored delete condition every test of such a field fails, those for null too;
//!   cells without it don't stay. Queries judge by the fill value that a read shows ([`BoundCondition::assuming`]).
//!
//! Stored conditions have no test for null. What a writer makes of one, a comparison with no bytes, is taken for one where
//! it can't be anything else ([`Condition::bind_stored`]); the reference library can't read such an array any more.

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

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {tdb_generic_tile, tdb_schema, tdb_types};

pub use bind::{BoundCondition, BoundField};
pub use bounds::{CellBounds, Fulfilment, Nulls};
pub use error::{ConditionError, Result};
pub use format::Update;
pub use literal::{Literal, LiteralKind, Value};
pub use text::{ConditionText, ConditionTextError};
pub use tree::{Condition, Field, Members, Operator, field};

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "all-codecs"))]
#[doc = include_str!("../README.md")]
struct Readme;
