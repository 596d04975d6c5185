//! What an array is made from, from the rows that it is to hold.

use std::collections::HashMap;

use tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder, SchemaError};
use tdb_types::{CellValNum, Datatype, Scalar};

use super::dimension::{dimension, is_integer};
use super::infer::Guesses;
use super::rows::Input;
use super::source::Source;
use crate::failure::{Exit, Failure, Result};
use crate::files::ColumnFiles;

/// What an array is made from whose dimensions are these columns, and whose attributes are the others, as these types where that is told; or what files of
/// columns themselves say that they were written from.
///
/// # Errors
/// The files can't be read; they say too little, or hold what no array can.
pub(crate) fn new_array(source: &Source, dimensions: &[String], allows_duplicates: bool) -> Result<ArrayDefinition> {
    match source {
        Source::Rows { inputs, nulls, types } => {
            let schema = guesses(inputs, nulls)?.schema(dimensions, types, allows_duplicates)?;
            ArrayDefinition::new(schema).map_err(|error: SchemaError| Failure::usage(error))
        }
        Source::Columns { files, .. } => of_columns(&**files, dimensions, allows_duplicates),
    }
}

/// What all rows hold.
fn guesses(inputs: &[Input], nulls: &[String]) -> Result<Guesses> {
    let mut guesses = Guesses::default();
    let mut first = None;
    for input in inputs {
        let mut rows = input.rows()?;
        guesses.begin(rows.columns());
        while let Some((line, row)) = rows.next(input.name())? {
            match row {
                Ok(row) => guesses.add(row, nulls),
                Err(why) if first.is_none() => first = Some(format!("{}:{line}: {why}", input.name())),
                Err(_) => {}
            }
        }
    }
    match first {
        Some(why) if guesses.is_empty() => Err(Failure::new(Exit::Finding, format!("{why}; no row could be read"))),
        _ => Ok(guesses),
    }
}

fn of_columns(files: &dyn ColumnFiles, dimensions: &[String], allows_duplicates: bool) -> Result<ArrayDefinition> {
    let names = || files.columns().iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    if dimensions.is_empty() {
        return files.definition()?.ok_or_else(|| {
            Failure::usage("there is no such array, and nothing says what its dimensions are")
                .with_hint(format!("name columns with --dimensions, of {}; or give a --schema", names()))
        });
    }
    let mut kinds = Vec::new();
    for name in dimensions {
        let Some(column) = files.columns().iter().find(|column| column.name == *name) else {
            let failure = Failure::usage(format!("no column is called {name:?}"));
            return Err(failure.with_hint(format!("the columns are {}", names())));
        };
        // An unsupported column fits no dimension of integers, so that the files refuse it with a hint.
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

/// The least and the greatest coordinate of dimensions of integers, as ordered keys.
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
