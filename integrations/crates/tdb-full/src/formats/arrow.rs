//! Arrow IPC files (random access) and streams.

use std::fs::File;
use std::io::BufWriter;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use tdb_arrow::Reader;
use tdb_arrow::arrow_array::RecordBatchReader as _;
use tdb_cli::{ColumnFiles, Export, FileFormat, FileOption, Import, Result};

use super::arrow_tables::ArrowTables;
use super::options::{STRINGS, arrow_options, compression, wrong};
use super::tables::Tables;
use super::write::{each, of_arrow, unwritten};

/// Files or streams of Arrow.
#[derive(Debug)]
pub(crate) struct ArrowFormat {
    endings: &'static [&'static str],
    is_stream: bool,
}

impl ArrowFormat {
    pub(crate) const FILES: Self = Self { endings: &["arrow", "feather"], is_stream: false };
    pub(crate) const STREAMS: Self = Self { endings: &["arrows"], is_stream: true };
}

const COMPRESSION: FileOption = compression("none (the default), lz4 or zstd");

impl FileFormat for ArrowFormat {
    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>> {
        Tables::open(&ArrowTables, import)
    }

    fn endings(&self) -> &'static [&'static str] {
        self.endings
    }

    fn options(&self) -> &'static [FileOption] {
        &[COMPRESSION, STRINGS]
    }

    fn export(&self, export: Export<'_>) -> Result<u64> {
        let (reader, options, file) = begin(export)?;
        let (file, schema) = (BufWriter::new(file), reader.schema());
        let (rows, written) = if self.is_stream {
            let mut writer = StreamWriter::try_new_with_options(file, &schema, options).map_err(unwritten)?;
            let rows = each(reader, |batch| writer.write(batch).map_err(unwritten))?;
            (rows, writer.into_inner())
        } else {
            let mut writer = FileWriter::try_new_with_options(file, &schema, options).map_err(unwritten)?;
            let rows = each(reader, |batch| writer.write(batch).map_err(unwritten))?;
            (rows, writer.into_inner())
        };
        written.map_err(unwritten)?.into_inner().map_err(|error| unwritten(error.into_error()))?;
        Ok(rows)
    }
}

fn begin(export: Export<'_>) -> Result<(Reader, IpcWriteOptions, File)> {
    let kind = match export.option(COMPRESSION.name) {
        None | Some("none") => None,
        Some("lz4") => Some(CompressionType::LZ4_FRAME),
        Some("zstd") => Some(CompressionType::ZSTD),
        Some(other) => return Err(wrong(COMPRESSION, other)),
    };
    let options = IpcWriteOptions::default().try_with_compression(kind).map_err(unwritten)?;
    let reader = Reader::new(export.query.clone(), &arrow_options(&export)?).map_err(of_arrow)?;
    Ok((reader, options, export.file))
}
