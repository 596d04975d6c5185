//! Parquet.

use std::io::BufWriter;
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use tdb_arrow::Reader;
use tdb_arrow::arrow_array::RecordBatchReader as _;

use tdb_cli::{ColumnFiles, Export, FileFormat, FileOption, Import, Result};

use super::options::{STRINGS, arrow_options, compression, wrong};
use super::parquet_tables::ParquetTables;
use super::plain;
use super::tables::Tables;
use super::write::{each, of_arrow, unwritten};

/// Format of `.parquet`.
#[derive(Debug)]
pub(crate) struct ParquetFiles;

const COMPRESSION: FileOption = compression("zstd (the default), snappy, gzip, lz4 or none");
const ROW_GROUP: FileOption =
    FileOption { name: "row_group", what: "maximum rows per row group; fewer with a smaller --budget" };
/// Default maximum number of rows per row group. The same as in other writers.
const ROWS: usize = 1 << 20;

impl FileFormat for ParquetFiles {
    fn endings(&self) -> &'static [&'static str] {
        &["parquet"]
    }

    fn options(&self) -> &'static [FileOption] {
        &[COMPRESSION, ROW_GROUP, STRINGS]
    }

    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>> {
        Tables::open(&ParquetTables, import)
    }

    fn export(&self, export: Export<'_>) -> Result<u64> {
        let properties = WriterProperties::builder()
            .set_compression(codec(&export)?)
            .set_max_row_group_row_count(Some(row_group(&export)?))
            .set_created_by(concat!("tdb version ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        // Parquet has no type for seconds.
        let options = arrow_options(&export)?.milliseconds_for_seconds();
        let budget = export.budget / 2;
        let reader = Reader::new(export.query, &options).map_err(of_arrow)?;
        let file = BufWriter::new(export.file);
        let schema = plain::schema(&reader.schema());
        let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(unwritten)?;
        let rows = each(reader, |batch| {
            let batch = plain::batch(&schema, batch).map_err(unwritten)?;
            writer.write(&batch).map_err(unwritten)?;
            // Row groups are buffered in memory.
            if writer.memory_size() >= budget { writer.flush().map_err(unwritten) } else { Ok(()) }
        })?;
        let file = writer.into_inner().map_err(unwritten)?;
        file.into_inner().map_err(|error| unwritten(error.into_error()))?;
        Ok(rows)
    }
}

fn codec(export: &Export<'_>) -> Result<Compression> {
    Ok(match export.option(COMPRESSION.name) {
        None | Some("zstd") => Compression::ZSTD(ZstdLevel::default()),
        Some("snappy") => Compression::SNAPPY,
        Some("gzip") => Compression::GZIP(GzipLevel::default()),
        Some("lz4") => Compression::LZ4_RAW,
        Some("none") => Compression::UNCOMPRESSED,
        Some(other) => return Err(wrong(COMPRESSION, other)),
    })
}

fn row_group(export: &Export<'_>) -> Result<usize> {
    match export.option(ROW_GROUP.name) {
        None => Ok(ROWS),
        Some(text) => text.parse().ok().filter(|rows| *rows > 0).ok_or_else(|| wrong(ROW_GROUP, text)),
    }
}
