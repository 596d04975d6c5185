//! COPY … TO 'array' STORED AS TILEDB.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::{GetExt, Statistics};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{FileScanConfig, FileSinkConfig, FileSource};
use datafusion::datasource::sink::{DataSink, DataSinkExec};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::object_store::{ObjectMeta, ObjectStore};
use datafusion::physical_expr::LexRequirement;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan};
use futures_util::{StreamExt, TryStreamExt, stream};
use tdb_array::{Array, CreateOptions};
use tdb_storage::StorageError;

use crate::definition::Creation;
use crate::enumerations::Enumerations;
use crate::write::{InsertSink, row_major};
use crate::{Opener, error};

/// File format for `STORED AS TILEDB` in COPY.
#[derive(Debug)]
pub(crate) struct ArrayFormatFactory {
    pub(crate) opener: Opener,
}

#[derive(Debug)]
struct ArrayFormat {
    opener: Opener,
    options: HashMap<String, String>,
}

impl GetExt for ArrayFormatFactory {
    fn get_ext(&self) -> String {
        "tiledb".to_owned()
    }
}

impl FileFormatFactory for ArrayFormatFactory {
    fn create(&self, _: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Ok(Arc::new(ArrayFormat { opener: self.opener.clone(), options: options.clone() }))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(ArrayFormat { opener: self.opener.clone(), options: HashMap::new() })
    }
}

/// Returns the error for attempts to read an array as a file.
fn no_file() -> DataFusionError {
    error::plan("an array is not a file; read it as a table, by its URI")
}

#[async_trait]
impl FileFormat for ArrayFormat {
    fn get_ext(&self) -> String {
        "tiledb".to_owned()
    }

    fn get_ext_with_compression(&self, _: &FileCompressionType) -> Result<String> {
        Ok(self.get_ext())
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(&self, _: &dyn Session, _: &Arc<dyn ObjectStore>, _: &[ObjectMeta]) -> Result<SchemaRef> {
        Err(no_file())
    }

    async fn infer_stats(
        &self,
        _: &dyn Session,
        _: &Arc<dyn ObjectStore>,
        _: SchemaRef,
        _: &ObjectMeta,
    ) -> Result<Statistics> {
        Err(no_file())
    }

    async fn create_physical_plan(&self, _: &dyn Session, _: FileScanConfig) -> Result<Arc<dyn ExecutionPlan>> {
        Err(no_file())
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        _: &dyn Session,
        config: FileSinkConfig,
        _: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !config.table_partition_cols.is_empty() {
            return Err(error::plan(
                "COPY TO an array does not support PARTITIONED BY: the dimensions define the order",
            ));
        }
        let mut options = self.options.clone();
        let creation = Creation::of(&mut options);
        let definition = creation.definition(&config.output_schema, None)?;
        if let Some(unknown) = options.keys().next() {
            return Err(error::plan(format!("COPY TO an array: unknown option '{unknown}'")));
        }
        let schema = input.schema();
        let order = row_major(definition.schema(), &schema)?;
        let sink = CopySink { uri: config.original_url, creation, opener: self.opener.clone(), schema };
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), order)))
    }

    fn file_source(&self, table: TableSchema) -> Arc<dyn FileSource> {
        // Unused, because plans that read this format are rejected.
        Arc::new(datafusion::datasource::physical_plan::ArrowSource::new_file_source(table))
    }
}

/// Sink for a new array and its rows.
#[derive(Debug)]
struct CopySink {
    uri: String,
    creation: Creation,
    opener: Opener,
    schema: SchemaRef,
}

impl DisplayAs for CopySink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "new array={}", self.uri)
    }
}

#[async_trait]
impl DataSink for CopySink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, mut data: SendableRecordBatchStream, context: &Arc<TaskContext>) -> Result<u64> {
        // Waits for the first rows. An immediate failure creates no array.
        let first = data.try_next().await?;
        let array = self.create(first.clone()).await?;
        let order: Vec<usize> = {
            // Dense arrays need the dimensions first.
            let dimensions = array.schema().dimensions();
            let place = |name: &str| self.schema.index_of(name);
            let first = dimensions.iter().map(|dimension| place(dimension.name())).collect::<Result<Vec<_>, _>>()?;
            let rest = (0..self.schema.fields().len()).filter(|place| !first.contains(place));
            first.iter().copied().chain(rest).collect()
        };
        let schema: SchemaRef = Arc::new(self.creation.plain(&self.schema.project(&order)?));
        let enumerations = Enumerations { opener: self.opener.clone(), creation: self.creation.clone() };
        let sink = InsertSink::new(array, self.uri.clone(), schema.clone(), Some(enumerations));
        let told = schema.clone();
        let rows = stream::iter(first.map(Ok)).chain(data);
        let rows = rows.map(move |batch| batch.and_then(|batch| told_plainly(&batch.project(&order)?, &told)));
        let written = sink.write_all(Box::pin(RecordBatchStreamAdapter::new(schema, rows)), context).await;
        if written.is_err() {
            self.remove_empty().await;
        }
        written
    }
}

impl CopySink {
    /// Creates and opens the array. Enumerations contain the dictionary values of the first rows.
    async fn create(&self, first: Option<RecordBatch>) -> Result<Array> {
        let (uri, opener, creation, schema) =
            (self.uri.clone(), self.opener.clone(), self.creation.clone(), self.schema.clone());
        let made = move || {
            let definition = creation.definition(&schema, first.as_ref())?;
            let storage = opener.storage(&uri)?;
            CreateOptions::new().create_on(&storage, &definition).map_err(|error| error::of_array(&uri, error))?;
            opener.array(&uri, None)
        };
        error::blocking(made).await
    }

    /// Removes the array after an error, unless other writers have added fragments. Ignores errors,
    /// because the original error is reported.
    async fn remove_empty(&self) {
        let (uri, opener) = (self.uri.clone(), self.opener.clone());
        let removed = move || {
            let storage = opener.storage(&uri)?;
            let failed = |error: StorageError| error::of_array(&uri, error.into());
            let is_empty = opener.array(&uri, None)?.fragments().is_ok_and(<[_]>::is_empty);
            if is_empty {
                let entries = storage.list("").map_err(failed)?;
                // Removes the schema folder first. Without it, the folder is not an array. The
                // other folders are empty by now.
                let own = |name: &str| name.starts_with("__");
                let mut folders: Vec<String> =
                    entries.into_iter().map(|entry| entry.name).filter(|name| own(name)).collect();
                folders.sort_by_key(|name| name != "__schema");
                folders.iter().try_for_each(|name| storage.remove_folder(name)).map_err(failed)?;
            }
            Ok(())
        };
        let _: Result<()> = error::blocking(removed).await;
    }
}

/// Casts a batch to these types: dictionaries become plain values where required.
fn told_plainly(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type())).collect::<Result<_, _>>()?;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}
