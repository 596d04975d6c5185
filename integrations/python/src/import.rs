//! Imports of files, and schemas of foreign tables.

use std::fs::File;
use std::path::PathBuf;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;
use tdb_array::Monitor;
use tdb_array::tdb_schema::{Dimension, SchemaBuilder};
use tdb_arrow::NewArray;
use tdb_exchange::{Import, Imported, Input, RowsFormat, Source};

use crate::array::NativeArray;
use crate::error::{Failure, Result};
use crate::run::{briefly, interruptible};
use crate::write::ids;

/// Returns an array with an attribute for each column of a table, and its enumerations, in TOML.
#[pyfunction]
pub(crate) fn attributes_of_arrow(py: Python<'_>, data: AnyRecordBatch) -> Result<String> {
    let reader = data.into_reader()?;
    briefly(py, || {
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

impl Rows {
    fn import(&self) -> Result<Import> {
        let delimiter = self
            .delimiter
            .map(|character| u8::try_from(character).map_err(|_| Failure::usage("the delimiter is not a single byte")));
        let format = if self.is_json { RowsFormat::Json } else { RowsFormat::Csv };
        let input = Input::file(self.path.clone(), format, delimiter.transpose()?)?;
        let source = Source::Rows { inputs: vec![input], nulls: self.nulls.clone(), types: vec![] };
        let mut import = Import::new(source);
        import.ignore_others = self.ignore_others;
        Ok(import)
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
) -> Result<String> {
    interruptible(py, &Monitor::only_cancelling(), || {
        let definition = rows.import()?.definition(&dimensions, allow_duplicates)?;
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
) -> Result<u64> {
    interruptible(py, &Monitor::only_cancelling(), || {
        let mut import = rows.import()?;
        import.keep_last = keep_last;
        import.names = ids(at);
        let definition = array.array.definition()?;
        let mut rejects = Rejects::default();
        let checked = import.check(&definition, &mut rejects);
        let named = |error: tdb_exchange::Error| match rejects.first {
            Some(first) if error.is_of_rows() => Failure::usage(format!("{first} ({error})")),
            _ => error.into(),
        };
        let mut checked = checked.map_err(named)?;
        let mut imported = Imported::default();
        import.write(&array.array, &definition, &mut checked, &mut imported, &mut ())?;
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
