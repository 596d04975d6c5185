//! What statements change.

mod delete;
mod dense;
mod insert;

pub(crate) use delete::delete;
pub(crate) use insert::{InsertSink, insert};
