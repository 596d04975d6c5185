//! Tables in Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use tdb_arrow::arrow_schema::SchemaRef;
use tdb_cli::{Failure, Result};

use super::foreign::read;
use super::plain;
use super::tables::{Batches, MAX_ROWS, TableKind};

/// Parquet files.
pub(super) struct ParquetTables;

impl TableKind for ParquetTables {
    fn schema(&self, path: &Path) -> Result<SchemaRef> {
        Ok(Arc::clone(builder(path)?.schema()))
    }

    fn batches(&self, path: &Path, columns: &[usize], budget: usize) -> Result<Batches> {
        let builder = builder(path)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let metadata = Arc::clone(builder.metadata());
        let rows = rows_within(&metadata, budget);
        let build = || builder.with_projection(mask).with_batch_size(rows).build();
        let mut reader = read(path, FILE, build)?;
        let size = std::fs::metadata(path).map_err(|error| Failure::io(path.display(), &error))?.len();
        let all = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0).max(1);
        let (mut before, path) = (0, path.to_owned());
        let mut is_over = false;
        Ok(Box::new(std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let batch = read(&path, FILE, || reader.next().transpose()).transpose()?;
            is_over = batch.is_err();
            Some(batch.map(|batch| {
                before += batch.num_rows() as u64;
                let passed = u128::from(size) * u128::from(before.min(all)) / u128::from(all);
                (batch, passed as u64)
            }))
        })))
    }
}

const FILE: &str = "Parquet file";

fn builder(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>> {
    let file = File::open(path).map_err(|error| Failure::io(path.display(), &error))?;
    read(path, FILE, || {
        let stored = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
        let schema = plain::schema(stored.schema());
        let metadata = if schema == *stored.schema() {
            stored
        } else {
            ArrowReaderMetadata::try_new(Arc::clone(stored.metadata()), ArrowReaderOptions::new().with_schema(schema))?
        };
        Ok::<_, ParquetError>(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata))
    })
}

/// Returns the number of rows that take about `budget` bytes, according to the metadata.
fn rows_within(metadata: &ParquetMetaData, budget: usize) -> usize {
    let bytes = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns).map(|column| {
        // A dictionary value is stored once, but may occur in any number of rows.
        let unpacked = column.unencoded_byte_array_data_bytes().unwrap_or(0);
        column.uncompressed_size().max(unpacked).max(0).unsigned_abs()
    });
    let bytes = bytes.fold(0, u64::saturating_add);
    let rows = metadata.file_metadata().num_rows().max(1).unsigned_abs();
    let rows = (budget as u64).checked_div((bytes / rows).max(1)).unwrap_or(1);
    usize::try_from(rows).unwrap_or(usize::MAX).clamp(1, MAX_ROWS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // test helpers unwrap like tests
mod tests {
    use parquet::arrow::ArrowWriter;
    use tdb_arrow::arrow_array::{ArrayRef, RecordBatch, StringArray};

    use super::*;

    #[test]
    fn batches_fit_the_budget() {
        // Strings of 1000 bytes, stored once in the file.
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1000); 5000]));
        let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let metadata = writer.close().unwrap();
        assert!((990..=1010).contains(&rows_within(&metadata, 1_000_000)), "{}", rows_within(&metadata, 1_000_000));
        assert_eq!((rows_within(&metadata, 0), rows_within(&metadata, usize::MAX)), (1, MAX_ROWS));
    }
}
