//! Import of files with tables.

use std::cell::Cell;
use std::collections::HashSet;
use std::path::Path;

use arrow_select::filter::filter_record_batch;
use tdb_arrow::arrow_array::cast::AsArray;
use tdb_arrow::arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use tdb_arrow::arrow_schema::{DataType, Schema, SchemaRef};
use tdb_arrow::tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_arrow::tdb_array::tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_arrow::{Error, NewArray, cells_for, cells_of};
use tdb_cli::{ColumnBatch, ColumnFiles, ColumnResult, Exit, Failure, FileColumn, Import, Result};

use super::casts::{Casts, Rejected, castable};

/// Maximum number of rows per batch.
pub(super) const MAX_ROWS: usize = 1 << 16;

/// A file format with tables.
pub(super) trait TableKind {
    /// Returns the schema of a file.
    fn schema(&self, path: &Path) -> Result<SchemaRef>;

    /// Reads these columns of a file, in batches of about `budget` bytes where the format allows
    /// it. Each item contains the number of bytes of the file read so far.
    fn batches(&self, path: &Path, columns: &[usize], budget: usize) -> Result<Batches>;
}

/// Batches of a file.
pub(super) type Batches = Box<dyn Iterator<Item = Result<(RecordBatch, u64)>>>;

/// Files of one format.
pub(super) struct Tables {
    kind: &'static dyn TableKind,
    import: Import,
    casts: Casts,
    /// Schema of the first file, after conversion of types.
    schema: SchemaRef,
    columns: Vec<FileColumn>,
    /// Size of all files, and number of bytes read so far.
    size: u64,
    passed: Cell<u64>,
}

impl Tables {
    /// Opens the files, and compares their columns.
    pub(super) fn open(kind: &'static dyn TableKind, import: Import) -> Result<Box<dyn ColumnFiles>> {
        let Some(first) = import.paths.first() else { return Err(Failure::usage("no files are given")) };
        let schema = kind.schema(first)?;
        let mut size = 0;
        for path in &import.paths {
            size += size_of_file(path)?;
            let other = kind.schema(path)?;
            check_names(path, &other)?;
            if let Some(name) = lacks(&other, &schema) {
                return Err(differs(path, &format!("lacks column {name:?}"), first));
            }
            if let Some(name) = lacks(&schema, &other) {
                return Err(differs(path, &format!("has an additional column {name:?}"), first));
            }
        }
        let casts = Casts::new(import.types.clone());
        for path in &import.paths {
            casts.schema(path, &kind.schema(path)?)?;
        }
        let schema = casts.schema(first, &schema)?;
        let column = |(name, kind)| FileColumn { name, kind };
        let columns = schema.fields().iter().map(|field| (field.name().clone(), cells_of(field).ok()));
        let columns = columns.map(column).collect();
        Ok(Box::new(Self { kind, import, casts, schema, columns, size, passed: Cell::new(0) }))
    }

    /// Calls `each` with all batches of these columns, and the rows rejected by the conversion.
    fn each(
        &self,
        columns: &[&str],
        each: &mut dyn FnMut(usize, u64, (RecordBatch, Rejected)) -> Result<()>,
    ) -> Result<()> {
        let mut before = 0;
        for (file, path) in self.import.paths.iter().enumerate() {
            let schema = self.kind.schema(path)?;
            let is_wanted = |index: &usize| columns.contains(&schema.field(*index).name().as_str());
            let indices: Vec<usize> = (0..schema.fields().len()).filter(is_wanted).collect();
            let mut row = 0;
            for batch in self.kind.batches(path, &indices, self.import.budget / 4)? {
                let (batch, passed) = batch?;
                self.passed.set(before + passed);
                for start in (0..batch.num_rows()).step_by(MAX_ROWS) {
                    let part = batch.slice(start, MAX_ROWS.min(batch.num_rows() - start));
                    let rows = part.num_rows() as u64;
                    each(file, row, self.casts.apply(part).map_err(|error| self.failure(file, error.into()))?)?;
                    row += rows;
                }
            }
            before += size_of_file(path)?;
        }
        Ok(())
    }

    /// Creates a failure for an error about a file.
    fn failure(&self, file: usize, error: Error) -> Failure {
        match error {
            Error::Array(error) => error.into(),
            error => {
                let path = self.import.paths.get(file).map(|path| path.display().to_string()).unwrap_or_default();
                let types = match &error {
                    Error::Refused { field, .. } | Error::WrongType { field, .. } => {
                        // The error may name the item type of a list.
                        let column = self.schema.field_with_name(field).ok();
                        let types = column.and_then(|column| castable(column.data_type()));
                        types.map(|types| format!("pass --type {field}={types} to convert it"))
                    }
                    _ => None,
                };
                let hint = types.unwrap_or_else(|| "see docs/guides/arrow.md for the supported types".to_owned());
                Failure::new(Exit::Unsupported, format!("{path}: {error}")).with_hint(hint)
            }
        }
    }

    /// Splits a batch into rows that fit the array, and rejected rows with reasons.
    fn sort_out(
        &self,
        file: usize,
        (batch, mut rejected): (&RecordBatch, Rejected),
        definition: &ArrayDefinition,
    ) -> Result<(RecordBatch, Vec<(usize, String)>)> {
        for row in 0..batch.num_rows() {
            match cells_for(&batch.slice(row, 1), definition) {
                Err(Error::Cell { field, problem, .. }) => {
                    rejected.entry(row).or_insert_with(|| format!("{field}: {problem}"));
                }
                Err(error) => return Err(self.failure(file, error)),
                Ok(_) => {}
            }
        }
        let is_good: Vec<bool> = (0..batch.num_rows()).map(|row| !rejected.contains_key(&row)).collect();
        let good = filter_record_batch(batch, &BooleanArray::from(is_good));
        let good = good.map_err(|error| self.failure(file, error.into()))?;
        Ok((good, rejected.into_iter().collect()))
    }
}

impl ColumnFiles for Tables {
    fn columns(&self) -> &[FileColumn] {
        &self.columns
    }

    fn definition(&self) -> ColumnResult<Option<ArrayDefinition>> {
        match tdb_arrow::definition(&self.schema) {
            Ok(definition) => Ok(Some(definition)),
            Err(Error::NoDefinition) => Ok(None),
            Err(error) => Err(self.failure(0, error).into()),
        }
    }

    fn new_array(&self, builder: SchemaBuilder, dimensions: Vec<Dimension>) -> ColumnResult<ArrayDefinition> {
        let filters = FilterPipeline::new(vec![Filter::Zstd { level: Filter::DEFAULT_LEVEL }]);
        let mut new = NewArray::new(builder).filters(filters);
        let names: Vec<String> = dimensions.iter().map(|dimension| dimension.name().to_owned()).collect();
        for dimension in dimensions {
            new = new.dimension(dimension);
        }
        let is_enumerated = |name: &&str| !names.iter().any(|dimension| dimension == name);
        let dictionaries: Vec<&str> = dictionaries(&self.schema).filter(is_enumerated).collect();
        let mut last: Vec<Option<ArrayRef>> = Vec::new();
        if !dictionaries.is_empty() {
            self.each(&dictionaries, &mut |file, _, (batch, _)| {
                let values = batch.columns().iter().map(|column| column.as_any_dictionary_opt());
                let values: Vec<Option<ArrayRef>> =
                    values.map(|dictionary| dictionary.map(|dictionary| dictionary.values().clone())).collect();
                // Most files use the same dictionary in all batches.
                if values != last {
                    new.add_dictionaries(&batch).map_err(|error| self.failure(file, error))?;
                    last = values;
                }
                Ok(())
            })?;
        }
        Ok(new.definition(&self.schema).map_err(|error| self.failure(0, error))?)
    }

    fn walk(
        &self,
        definition: &ArrayDefinition,
        fields: &[String],
        each: &mut dyn FnMut(ColumnBatch<'_>) -> ColumnResult<()>,
    ) -> ColumnResult<()> {
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        self.passed.set(0);
        self.each(&fields, &mut |file, first, (batch, unconverted)| {
            let rows = batch.num_rows();
            match cells_for(&batch, definition) {
                Ok(cells) if unconverted.is_empty() => {
                    each(ColumnBatch { file, first, rows, cells, rejected: Vec::new() })?;
                }
                Ok(_) | Err(Error::Cell { .. }) => {
                    let (good, rejected) = self.sort_out(file, (&batch, unconverted), definition)?;
                    let cells = cells_for(&good, definition).map_err(|error| self.failure(file, error))?;
                    each(ColumnBatch { file, first, rows, cells, rejected })?;
                }
                Err(error) => return Err(self.failure(file, error)),
            }
            Ok(())
        })?;
        Ok(())
    }

    fn progress(&self) -> (u64, u64) {
        (self.size, self.passed.get())
    }
}

fn size_of_file(path: &Path) -> Result<u64> {
    std::fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| Failure::io(path.display(), &error))
}

/// Returns the names of dictionary columns.
fn dictionaries(schema: &Schema) -> impl Iterator<Item = &str> {
    let fields = schema.fields().iter().filter(|field| matches!(field.data_type(), DataType::Dictionary(..)));
    fields.map(|field| field.name().as_str())
}

/// Returns a column of `other` that `schema` lacks.
fn lacks<'a>(schema: &Schema, other: &'a Schema) -> Option<&'a str> {
    let mut names = other.fields().iter().map(|field| field.name().as_str());
    names.find(|name| schema.column_with_name(name).is_none())
}

fn differs(path: &Path, how: &str, first: &Path) -> Failure {
    let message = format!("{}: {how}, unlike {}", path.display(), first.display());
    Failure::usage(message).with_hint("import files with different columns separately")
}

/// Rejects duplicate column names.
fn check_names(path: &Path, schema: &Schema) -> Result<()> {
    let mut seen = HashSet::new();
    match schema.fields().iter().find(|field| !seen.insert(field.name())) {
        Some(field) => Err(Failure::usage(format!("{}: two columns are named {:?}", path.display(), field.name()))),
        None => Ok(()),
    }
}
