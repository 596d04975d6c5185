//! Files of whole columns.

mod arrow;
mod options;
mod parquet;
mod plain;
mod write;

pub(crate) use arrow::{ArrowFiles, ArrowStreams};
pub(crate) use parquet::ParquetFiles;
