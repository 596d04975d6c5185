//! Tables in Arrow files and streams.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_dictionary, read_record_batch};
use arrow_ipc::{Block, root_as_footer};
use tdb_arrow::arrow_array::{ArrayRef, RecordBatch};
use tdb_arrow::arrow_schema::{ArrowError, SchemaRef};
use tdb_cli::{Failure, Result};

use super::arrow_messages::{next, of_block};
use super::foreign::read;
use super::tables::{Batches, TableKind};

/// Arrow files and streams. Detected by content, not by name.
pub(super) struct ArrowTables;

/// Start and end of files, but not of streams.
const MAGIC: &[u8] = b"ARROW1";
const FILE: &str = "Arrow file or stream";

impl TableKind for ArrowTables {
    fn schema(&self, path: &Path) -> Result<SchemaRef> {
        let mut file = open(path)?;
        let schema = || match is_file(&mut file)? {
            true => FileBatches::open(file, None).map(|batches| batches.schema),
            false => StreamBatches::open(file).map(|batches| batches.schema),
        };
        read(path, FILE, schema)
    }

    fn batches(&self, path: &Path, columns: &[usize], _budget: usize) -> Result<Batches> {
        let mut file = open(path)?;
        let columns = columns.to_vec();
        let mut batches: Box<dyn NextBatch> = read(path, FILE, || {
            Ok::<Box<dyn NextBatch>, ArrowError>(match is_file(&mut file)? {
                true => Box::new(FileBatches::open(file, Some(columns))?),
                false => Box::new(StreamBatches { columns, ..StreamBatches::open(file)? }),
            })
        })?;
        let (path, mut is_over) = (path.to_owned(), false);
        Ok(Box::new(std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let batch = read(&path, FILE, || batches.next_batch()).transpose()?;
            is_over = batch.is_err();
            Some(batch)
        })))
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Failure::io(path.display(), &error))
}

fn is_file(file: &mut File) -> Result<bool, ArrowError> {
    let mut bytes = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
    file.rewind()?;
    if bytes.starts_with(b"FEA1") {
        let why = "a Feather file of version 1, which has no Arrow types; convert it to version 2";
        return Err(ArrowError::IpcError(why.to_owned()));
    }
    Ok(bytes == MAGIC)
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, ArrowError> {
    match schema.endianness().equals_to_target_endianness() {
        true => Ok(Arc::new(fb_to_schema(schema))),
        false => Err(ArrowError::IpcError("the numbers have the opposite byte order; convert the file".to_owned())),
    }
}

/// An iterator over batches.
trait NextBatch {
    /// Returns the next batch, and the number of bytes read so far.
    fn next_batch(&mut self) -> Result<Option<(RecordBatch, u64)>, ArrowError>;
}

/// The batches of a file, listed in its footer.
struct FileBatches {
    file: File,
    size: u64,
    schema: SchemaRef,
    decoder: FileDecoder,
    blocks: std::vec::IntoIter<Block>,
    passed: u64,
}

impl FileBatches {
    fn open(mut file: File, columns: Option<Vec<usize>>) -> Result<Self, ArrowError> {
        let invalid = |why: &str| ArrowError::IpcError(why.to_owned());
        let size = file.seek(SeekFrom::End(0))?;
        let mut end = [0; 10];
        file.seek(SeekFrom::Start(size.checked_sub(10).ok_or_else(|| invalid("the file is truncated"))?))?;
        file.read_exact(&mut end)?;
        let length = arrow_ipc::reader::read_footer_length(end)? as u64;
        let start = (size - 10).checked_sub(length).ok_or_else(|| invalid("the footer is longer than the file"))?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        (&mut file).take(length).read_to_end(&mut bytes)?;
        let footer = root_as_footer(&bytes).map_err(|error| invalid(&format!("invalid footer: {error}")))?;
        let schema = footer.schema().ok_or_else(|| invalid("the footer has no schema"))?;
        let schema = schema_of(schema)?;
        let mut decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
        if let Some(columns) = columns {
            decoder = decoder.with_projection(columns);
        }
        for block in footer.dictionaries().into_iter().flatten() {
            let bytes = of_block(&mut file, size, block)?;
            decoder.read_dictionary(block, &bytes.into())?;
        }
        let blocks: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
        Ok(Self { file, size, schema, decoder, blocks: blocks.into_iter(), passed: 0 })
    }
}

impl NextBatch for FileBatches {
    fn next_batch(&mut self) -> Result<Option<(RecordBatch, u64)>, ArrowError> {
        for block in self.blocks.by_ref() {
            let bytes = of_block(&mut self.file, self.size, &block)?;
            self.passed += bytes.len() as u64;
            if let Some(batch) = self.decoder.read_record_batch(&block, &bytes.into())? {
                return Ok(Some((batch, self.passed)));
            }
        }
        Ok(None)
    }
}

/// The batches of a stream.
struct StreamBatches {
    stream: BufReader<File>,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    columns: Vec<usize>,
    passed: u64,
}

impl StreamBatches {
    /// Reads the schema.
    fn open(file: File) -> Result<Self, ArrowError> {
        let mut stream = BufReader::with_capacity(1 << 16, file);
        let no_schema = || ArrowError::IpcError("the file does not begin with a schema".to_owned());
        let encoded = next(&mut stream)?.ok_or_else(no_schema)?;
        let schema = schema_of(encoded.message()?.header_as_schema().ok_or_else(no_schema)?)?;
        let passed = encoded.len();
        Ok(Self { stream, schema, dictionaries: HashMap::new(), columns: Vec::new(), passed })
    }
}

impl NextBatch for StreamBatches {
    fn next_batch(&mut self) -> Result<Option<(RecordBatch, u64)>, ArrowError> {
        while let Some(encoded) = next(&mut self.stream)? {
            self.passed += encoded.len();
            let message = encoded.message()?;
            let version = message.version();
            if let Some(dictionary) = message.header_as_dictionary_batch() {
                read_dictionary(&encoded.body, dictionary, &self.schema, &mut self.dictionaries, &version)?;
            } else if let Some(batch) = message.header_as_record_batch() {
                let (schema, columns) = (Arc::clone(&self.schema), Some(&self.columns[..]));
                let batch = read_record_batch(&encoded.body, batch, schema, &self.dictionaries, columns, &version)?;
                return Ok(Some((batch, self.passed)));
            } else {
                let kind = message.header_type().variant_name().unwrap_or("of an unknown kind");
                return Err(ArrowError::IpcError(format!("unexpected message {kind} among the batches")));
            }
        }
        Ok(None)
    }
}
