//! Statements that create arrays: CREATE EXTERNAL TABLE … STORED AS TILEDB, and COPY … TO.

mod copy;
mod factory;

pub(crate) use copy::ArrayFormatFactory;
pub(crate) use factory::ArrayFactory;
