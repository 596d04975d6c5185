//! Statements that change arrays.

mod delete;
mod dense;
mod insert;
mod rows;
mod sink;

pub(crate) use delete::delete;
pub(crate) use dense::row_major;
pub(crate) use insert::insert;
pub(crate) use sink::InsertSink;
