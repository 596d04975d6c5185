//! Arrow IPC files (random access) and streams.

use std::fs::File;
use std::io::BufWriter;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use tdb_arrow::Reader;
use tdb_arrow::arrow_array::RecordBatchReader as _;
use tdb_arrow::arrow_schema::ArrowError;
use tdb_cli::{ColumnFiles, Export, FileFormat, FileOption, Import, Result};

use super::arrow_tables::ArrowTables;
use super::options::{STRINGS, arrow_options, compression, wrong};
use super::tables::Tables;
use super::write::{each, of_arrow, unwritten};

/// Format of `.arrow` and `.feather`.
#[derive(Debug)]
pub(crate) struct ArrowFiles;

/// Format of `.arrows`.
#[derive(Debug)]
pub(crate) struct ArrowStreams;

const COMPRESSION: FileOption = compression("none (the default), lz4 or zstd");
const OPTIONS: &[FileOption] = &[COMPRESSION, STRINGS];

impl FileFormat for ArrowFiles {
    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>> {
        Tables::open(&ArrowTables, import)
    }

    fn endings(&self) -> &'static [&'static str] {
        &["arrow", "feather"]
    }

    fn options(&self) -> &'static [FileOption] {
        OPTIONS
    }

    fn export(&self, export: Export<'_>) -> Result<u64> {
        let (reader, options, file) = begin(export)?;
        let mut writer =
            FileWriter::try_new_with_options(BufWriter::new(file), &reader.schema(), options).map_err(unwritten)?;
        let rows = each(reader, |batch| writer.write(batch).map_err(unwritten))?;
        finish(writer.into_inner())?;
        Ok(rows)
    }
}

impl FileFormat for ArrowStreams {
    fn import(&self, import: Import) -> Result<Box<dyn ColumnFiles>> {
        Tables::open(&ArrowTables, import)
    }

    fn endings(&self) -> &'static [&'static str] {
        &["arrows"]
    }

    fn options(&self) -> &'static [FileOption] {
        OPTIONS
    }

    fn export(&self, export: Export<'_>) -> Result<u64> {
        let (reader, options, file) = begin(export)?;
        let mut writer =
            StreamWriter::try_new_with_options(BufWriter::new(file), &reader.schema(), options).map_err(unwritten)?;
        let rows = each(reader, |batch| writer.write(batch).map_err(unwritten))?;
        finish(writer.into_inner())?;
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

fn finish(file: Result<BufWriter<File>, ArrowError>) -> Result<()> {
    file.map_err(unwritten)?.into_inner().map(drop).map_err(|error| unwritten(error.into_error()))
}
