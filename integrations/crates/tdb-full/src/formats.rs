//! File and folder formats of whole columns and arrays.

mod arrow;
mod arrow_messages;
mod arrow_tables;
mod casts;
mod foreign;
mod options;
mod parquet;
mod parquet_tables;
mod plain;
mod tables;
mod write;
mod zarr;

pub(crate) use arrow::ArrowFormat;
pub(crate) use parquet::ParquetFiles;
pub(crate) use zarr::ZarrFolders;
