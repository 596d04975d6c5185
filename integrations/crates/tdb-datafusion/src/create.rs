//! Statements that make arrays: CREATE EXTERNAL TABLE … STORED AS TILEDB, and COPY … TO.

mod copy;
mod definition;
mod enumerations;
mod factory;

pub(crate) use copy::ArrayFormatFactory;
pub(crate) use enumerations::Enumerations;
pub(crate) use factory::ArrayFactory;
