//! Imports of files, and schemas of foreign tables.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;
use tdb_array::tdb_schema::{Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayError, Monitor};
use tdb_arrow::NewArray;
use tdb_exchange::{Import, Imported, Input, RowsFormat, Source};

use crate::array::NativeArray;
use crate::error::{Failure, Result};
use crate::jobs::run;
use crate::run::{briefly, interruptible};
use crate::watch::Watch;
use crate::write::ids;

/// Returns an array with an attribute for each column of a table, and its enumerations, in TOML.
#[pyfunction]
pub(crate) fn attributes_of_arrow(py: Python<'_>, data: AnyRecordBatch) -> Result<String> {
    let reader = data.into_reader()?;
    let monitor = Monitor::only_cancelling();
    interruptible(py, &monitor, || {
        let schema = reader.schema();
        let fields = schema.fields().iter().map(|field| {
            let is_dictionary = matches!(field.data_type(), DataType::Dictionary(..));
            // A column without nulls needs no validity: the caller decides.
            let plain = Field::clone(field);
            (is_dictionary, plain)
        });
        let (dictionaries, fields): (Vec<bool>, Vec<Field>) = fields.unzip();
        let mut name = "d".to_owned();
        while fields.iter().any(|field| *field.name() == name) {
            name.push('d');
        }
        let mut new = NewArray::new(SchemaBuilder::dense()).dimension(Dimension::new(name, 0_i32..=1));
        if dictionaries.contains(&true) {
            for batch in reader {
                if monitor.is_cancelled() {
                    return Err(ArrayError::Cancelled.into());
                }
                new.add_dictionaries(&batch?)?;
            }
        }
        Ok(tdb_schema_text::to_toml(&new.definition(&Schema::new(fields))?)?)
    })
}

/// Opens a Parquet file as a stream of record batches.
#[pyfunction]
pub(crate) fn open_parquet(py: Python<'_>, path: PathBuf) -> Result<PyRecordBatchReader> {
    let reader = briefly(py, || {
        let file = File::open(&path).map_err(|error| failed(&path, &error))?;
        let damaged = |error| Failure::usage(format!("{}: {error}", path.display()));
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
        builder.build().map_err(damaged)
    })?;
    Ok(PyRecordBatchReader::new(Box::new(reader)))
}

fn failed(path: &std::path::Path, error: &std::io::Error) -> Failure {
    let error = std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    Failure::Python(PyErr::from(error))
}

/// The rows of a file, as the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Rows {
    path: PathBuf,
    is_json: bool,
    delimiter: Option<char>,
    nulls: Vec<String>,
    ignore_others: bool,
}

/// Returns the bytes that the current pass has read and will read.
fn progress_of(input: &Input) -> impl Fn() -> (u64, Option<u64>) + Send + Sync + use<> {
    let (taken, size) = (input.taken(), input.size());
    move || (taken.load(Relaxed), Some(size))
}

impl Rows {
    fn input(&self, watch: &Watch) -> Result<Input> {
        let delimiter = self
            .delimiter
            .map(|character| u8::try_from(character).map_err(|_| Failure::usage("the delimiter is not a single byte")));
        let format = if self.is_json { RowsFormat::Json } else { RowsFormat::Csv };
        let input = Input::file(self.path.clone(), format, delimiter.transpose()?)?;
        Ok(input.cancelled_by(watch.monitor.cancel_token()))
    }

    fn import(self, input: Input) -> Import {
        let mut import = Import::new(Source::Rows { inputs: vec![input], nulls: self.nulls, types: vec![] });
        import.ignore_others = self.ignore_others;
        import
    }
}

/// The first rejected rows.
#[derive(Default)]
struct Rejects {
    first: Option<String>,
}

impl tdb_exchange::Observer for Rejects {
    fn rejected(&mut self, place: &str, reason: &str) {
        self.first.get_or_insert_with(|| format!("{place}: {reason}"));
    }
}

/// Infers the schema of rows, in TOML.
#[pyfunction]
pub(crate) fn schema_of_rows(
    py: Python<'_>,
    rows: Rows,
    dimensions: Vec<String>,
    allow_duplicates: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<String> {
    let watch = Watch::new();
    let input = rows.input(&watch)?;
    run(py, progress.as_ref(), &watch, progress_of(&input), || {
        let definition = rows.import(input).definition(&dimensions, allow_duplicates)?;
        Ok(tdb_schema_text::to_toml(&definition)?)
    })
}

/// Writes the rows of a file to an array. All rows are checked first.
#[pyfunction]
pub(crate) fn import_rows(
    py: Python<'_>,
    array: &NativeArray,
    rows: Rows,
    keep_last: bool,
    at: Option<u64>,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<u64> {
    let watch = Watch::new();
    let input = rows.input(&watch)?;
    let array = Array::from(array.array.watched(&watch.monitor));
    run(py, progress.as_ref(), &watch, progress_of(&input), || {
        let mut import = rows.import(input);
        import.keep_last = keep_last;
        import.names = ids(at);
        let definition = array.definition()?;
        let mut rejects = Rejects::default();
        let checked = import.check(&definition, &mut rejects);
        let named = |error: tdb_exchange::Error| match rejects.first {
            Some(first) if error.is_of_rows() => Failure::usage(format!("{first} ({error})")),
            _ => error.into(),
        };
        let mut checked = checked.map_err(named)?;
        let mut imported = Imported::default();
        import.write(&array, &definition, &mut checked, &mut imported, &mut ())?;
        Ok(imported.cells)
    })
}

impl From<tdb_exchange::Error> for Failure {
    fn from(error: tdb_exchange::Error) -> Self {
        match error {
            tdb_exchange::Error::Array(error) => error.into(),
            tdb_exchange::Error::Io { name, source } => {
                let error = std::io::Error::new(source.kind(), format!("{name}: {source}"));
                Self::Python(error.into())
            }
            other => Self::usage(other),
        }
    }
}
