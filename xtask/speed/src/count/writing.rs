//! Paths that write or consolidate.

use std::cell::Cell;
use std::path::Path;

use tdb_array::tdb_filters::Filter;
use tdb_array::tdb_schema::ArraySchema;
use tdb_maintain::ConsolidateFragments;
use tdb_reference::model::{Column, Rule};

use super::inputs::{self, CELLS, SIDE, names, open};
use super::path::{CountedPath, Prepared, here};
use crate::cells::{columns, new_cells};
use crate::folders::{copy, remove};
use crate::ours::columns_in_global_order;
use crate::outcome::Result;

pub fn all() -> Vec<CountedPath> {
    let dense = |filters: fn() -> Vec<Filter>| {
        move || {
            let cells = columns(&[("value", Rule::Wave { seed: 1 })], (SIDE * SIDE).cast_unsigned());
            into_new(inputs::dense_schema(filters())?, cells)
        }
    };
    vec![
        here("dense write: unfiltered", dense(Vec::new)),
        here("dense write: byteshuffle and zstd", dense(|| vec![Filter::Byteshuffle, Filter::Zstd { level: 3 }])),
        here("sparse write: unordered", || into_new(inputs::sparse_schema()?, columns(&inputs::point_rules(0), CELLS))),
        here("sparse write: global order", in_global_order),
        here("small write: next to 100 fragments, with an open", small_write),
        here("consolidation: 10 fragments that overlap", || consolidation("ten")),
        here("consolidation: 100 fragments one after the other", || consolidation("hundred")),
    ]
}

/// Prefix of the array to create.
const TARGET: &str = "written";

/// Returns the name of a folder that only this process uses.
fn target() -> Result<String> {
    let folder = format!("{TARGET}-{:07}", std::process::id());
    remove(&folder)?;
    Ok(folder)
}

/// Writes the cells to a new array. Each call adds a fragment.
fn into_new(schema: ArraySchema, cells: Vec<Column>) -> Result<Prepared> {
    let folder = target()?;
    inputs::create(&folder, schema)?;
    let (array, number) = (open(&folder)?, Cell::new(1));
    Ok(Box::new(move || {
        array.write().ids(names(number.replace(number.get() + 1))).cells(new_cells(&cells))?;
        Ok(())
    }))
}

fn in_global_order() -> Result<Prepared> {
    let folder = target()?;
    let cells = columns_in_global_order("sparse", ["y", "x", "a", "b"].into_iter())?;
    inputs::create(&folder, inputs::sparse_schema()?)?;
    let (array, number) = (open(&folder)?, Cell::new(1));
    Ok(Box::new(move || {
        let mut writer = array.write().ids(names(number.replace(number.get() + 1))).global_order()?;
        writer.push(new_cells(&cells))?;
        writer.commit()?;
        Ok(())
    }))
}

/// Opens an array of many fragments and writes a few cells.
fn small_write() -> Result<Prepared> {
    let folder = target()?;
    copy(Path::new("hundred"), Path::new(&folder))?;
    let (cells, number) = (columns(&[("value", Rule::Wave { seed: 2 })], 10), Cell::new(1000));
    Ok(Box::new(move || {
        let write = open(&folder)?.write().ids(names(number.replace(number.get() + 1)));
        write.range("x", 0_i64..10)?.cells(new_cells(&cells))?;
        Ok(())
    }))
}

/// Consolidates the fragments of another copy in each call.
fn consolidation(array: &str) -> Result<Prepared> {
    let folder = target()?;
    let copies: Vec<String> = ["first", "second"].iter().map(|copy| format!("{folder}/{copy}")).collect();
    copies.iter().try_for_each(|target| copy(Path::new(array), Path::new(target)))?;
    let mut copies = copies.into_iter();
    Ok(Box::new(move || {
        let array = open(copies.next().ok_or("more than two calls")?)?;
        ConsolidateFragments::new().amplification(1000.0).plan(&array)?.run()?;
        Ok(())
    }))
}
