//! Definition of a new array from the rows to import.

use std::collections::HashMap;

use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype, Scalar};

use super::column_files::ColumnFiles;
use super::options::Import;
use super::source::Source;
use crate::error::{Error, Result};
use crate::infer::{Inference, dimension, is_integer};
use crate::rows::Input;

impl Import {
    /// Returns the definition of a new sparse array with these columns as dimensions, and all other
    /// columns as attributes. If no dimensions are given, returns the definition of the array that
    /// was exported to the files of columns.
    ///
    /// # Errors
    /// Fails if the files cannot be read, do not determine a definition, or hold values that an
    /// array cannot hold.
    pub fn definition(&self, dimensions: &[String], allows_duplicates: bool) -> Result<ArrayDefinition> {
        match &self.source {
            Source::Rows { inputs, nulls, types } => {
                let schema = inference(inputs, nulls)?.schema(dimensions, types, allows_duplicates)?;
                Ok(ArrayDefinition::new(schema)?)
            }
            Source::Columns { files, .. } => of_columns(&**files, dimensions, allows_duplicates),
        }
    }
}

/// Infers the columns from all rows.
fn inference(inputs: &[Input], nulls: &[String]) -> Result<Inference> {
    let mut inference = Inference::default();
    let mut first = None;
    for input in inputs {
        inference.read(input, nulls, |line, row| {
            if let (None, Err(why)) = (&first, row) {
                first = Some((input.name().to_owned(), line, why));
            }
        })?;
    }
    match first {
        Some((name, line, why)) if inference.is_empty() => {
            Err(Error::Rows { name, line, reason: format!("{why}; no row is readable") })
        }
        _ => Ok(inference),
    }
}

fn of_columns(files: &dyn ColumnFiles, dimensions: &[String], allows_duplicates: bool) -> Result<ArrayDefinition> {
    let names = || files.columns().iter().map(|column| column.name.clone()).collect();
    if dimensions.is_empty() {
        return files.definition()?.ok_or_else(|| Error::NoDimensions { columns: names() });
    }
    let mut kinds = Vec::new();
    for name in dimensions {
        let Some(column) = files.columns().iter().find(|column| column.name == *name) else {
            return Err(Error::NoSuchColumn { column: name.clone(), columns: names(), is_typed: false });
        };
        // Treat an unsupported column as `int64` until `ColumnFiles` rejects it with a hint.
        kinds.push((name.as_str(), column.kind.unwrap_or((Datatype::Int64, CellValNum::ONE))));
    }
    let builder = || SchemaBuilder::sparse().allows_duplicates(allows_duplicates);
    let make = |seen: &HashMap<String, (u64, u64)>| {
        let made = kinds.iter().map(|(name, kind)| {
            let value = |key| Scalar::from_key(kind.0.physical(), key).to_integer();
            let seen = seen.get(*name).and_then(|(low, high)| value(*low).zip(value(*high)));
            dimension(name, *kind, seen)
        });
        files.new_array(builder(), made.collect::<Result<Vec<Dimension>>>()?)
    };
    let widest = make(&HashMap::new())?;
    let integers: Vec<String> =
        kinds.iter().filter(|(_, kind)| is_integer(kind.0)).map(|(name, _)| (*name).to_owned()).collect();
    if integers.is_empty() {
        return Ok(widest);
    }
    make(&seen(files, &widest, &integers)?)
}

/// Returns the minimum and maximum coordinates of integer dimensions, as ordered keys.
fn seen(
    files: &dyn ColumnFiles,
    definition: &ArrayDefinition,
    names: &[String],
) -> Result<HashMap<String, (u64, u64)>> {
    let (mut seen, mut keys) = (HashMap::new(), Vec::new());
    files.walk(definition, names, &mut |batch| {
        for (name, column) in batch.cells.columns() {
            let dimension = definition.schema().dimensions().iter().find(|dimension| dimension.name() == name);
            let Some(dimension) = dimension else { continue };
            keys.clear();
            tdb_types::ordered_keys(dimension.physical(), column.as_bytes(), &mut keys);
            if let Some((low, high)) = keys.iter().min().copied().zip(keys.iter().max().copied()) {
                let range = seen.entry(name.to_owned()).or_insert((low, high));
                *range = (range.0.min(low), range.1.max(high));
            }
        }
        Ok(())
    })?;
    Ok(seen)
}
