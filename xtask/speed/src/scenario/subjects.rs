//! Arrays of a size, and operations on them.

use std::path::{Path, PathBuf};

use tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_array::tdb_schema::{ArrayDefinition, ArraySchema, Attribute, SchemaBuilder};
use tdb_array::tdb_types::Datatype;
use tdb_array::{Array, ArrayOptions, Order, WriteBatch, WriteColumn};
use tdb_reference::model::{Column, Rule};

use crate::arrays::side_bits;
use crate::cells::{columns, new_cells};
use crate::folders;
use crate::outcome::Result;
use crate::schemas::{dimension, square};

/// An operation that can be repeated.
pub type Act = Box<dyn FnMut() -> Result<()>>;

/// Number of cells per fragment of the row.
const CELLS: i64 = 100;

fn open(path: &Path, threads: usize) -> Result<Array> {
    Ok(ArrayOptions::new().threads(threads).open(path)?)
}

fn create(path: &Path, schema: ArraySchema) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(Array::create(path, schema)?)
}

fn zstd() -> FilterPipeline {
    FilterPipeline::new(vec![Filter::Byteshuffle, Filter::Zstd { level: 3 }])
}

/// Creates a grid and points with `cells` cells each.
pub fn cells(folder: &Path, cells: u64) -> Result<()> {
    let side = side(cells);
    create(&folder.join("grid"), grid_schema(side)?)?;
    let value = columns(&[("value", Rule::Wave { seed: 1 })], (side * side).cast_unsigned());
    open(&folder.join("grid"), 0)?.write().cells(new_cells(&value))?;
    create(&folder.join("points"), points_schema(side_bits(cells))?)?;
    open(&folder.join("points"), 0)?.write().cells(new_cells(&point_columns(cells)))?;
    Ok(())
}

fn side(cells: u64) -> i64 {
    (cells as f64).sqrt().round() as i64
}

fn grid_schema(side: i64) -> Result<ArraySchema> {
    let value = Attribute::new("value", Datatype::Float64).with_filters(zstd());
    Ok(square(SchemaBuilder::dense(), side, side.min(256)).attribute(value).build()?)
}

fn points_schema(bits: u32) -> Result<ArraySchema> {
    let builder = square(SchemaBuilder::sparse(), 1 << bits, 64).capacity(10_000);
    Ok(builder.attribute(Attribute::new("value", Datatype::Float64).with_filters(zstd())).build()?)
}

fn point_columns(cells: u64) -> Vec<Column> {
    let side = |dimension| Rule::Scattered { seed: 0, bits: side_bits(cells), dimension };
    columns(&[("y", side(0)), ("x", side(1)), ("value", Rule::Wave { seed: 1 })], cells)
}

const ROW: u64 = 1 << 21;

/// Creates a row of a fixed number of cells in `tiles` tiles.
pub fn tiles(folder: &Path, tiles: u64) -> Result<()> {
    create(&folder.join("row"), row_schema(ROW.cast_signed(), (ROW / tiles).cast_signed(), 1)?)?;
    let value = columns(&[("a0", Rule::Wave { seed: 1 })], ROW);
    open(&folder.join("row"), 0)?.write().cells(new_cells(&value))?;
    Ok(())
}

fn row_schema(cells: i64, tile: i64, attributes: u64) -> Result<ArraySchema> {
    let builder = SchemaBuilder::dense().dimension(dimension("x", cells, tile));
    let attribute = |number: u64| Attribute::new(format!("a{number}"), Datatype::Float64);
    Ok((0..attributes).map(attribute).fold(builder, SchemaBuilder::attribute).build()?)
}

/// Creates a row of fragments with one tile each.
pub fn fragments(folder: &Path, fragments: u64) -> Result<()> {
    let fragments = fragments.cast_signed();
    let path = folder.join("row");
    create(&path, row_schema(fragments * CELLS, CELLS, 1)?)?;
    let value = columns(&[("a0", Rule::Wave { seed: 1 })], CELLS.cast_unsigned());
    let array = open(&path, 1)?;
    for fragment in 0..fragments {
        let write = array.write().range("x", fragment * CELLS..(fragment + 1) * CELLS)?;
        write.cells(new_cells(&value))?;
    }
    Ok(())
}

/// Creates a row with a number of attributes.
pub fn attributes(folder: &Path, attributes: u64) -> Result<()> {
    const ROWS: u64 = 5_000;
    let path = folder.join("row");
    create(&path, row_schema(ROWS.cast_signed(), ROWS.cast_signed(), attributes)?)?;
    let value = columns(&[("a0", Rule::Wave { seed: 1 })], ROWS);
    let column = |number: u64| (format!("a{number}"), WriteColumn::bytes(&value[0].values));
    let cells = (0..attributes).map(column).fold(WriteBatch::new(), |cells, (name, column)| cells.with(name, column));
    open(&path, 1)?.write().cells(cells)?;
    Ok(())
}

/// Opens an array and reads all cells.
pub fn reading(path: &Path, threads: usize) -> Result<Act> {
    let path = path.to_owned();
    Ok(Box::new(move || drained(open(&path, threads)?.read().order(Order::RowMajor))))
}

pub fn reading_one(path: &Path, threads: usize) -> Result<Act> {
    let path = path.to_owned();
    Ok(Box::new(move || drained(open(&path, threads)?.read().select(["a0"])?)))
}

fn drained(query: tdb_array::Query) -> Result<()> {
    for batch in query.batches()? {
        std::hint::black_box(batch?);
    }
    Ok(())
}

pub fn opening(path: &Path, threads: usize) -> Result<Act> {
    let path = path.to_owned();
    Ok(Box::new(move || {
        std::hint::black_box(open(&path, threads)?.fragments()?.len());
        Ok(())
    }))
}

pub fn opening_and_point(path: &Path, threads: usize) -> Result<Act> {
    let path = path.to_owned();
    Ok(Box::new(move || drained(open(&path, threads)?.read().range("x", 77_i64..=77)?)))
}

pub fn small_write(path: &Path, threads: usize) -> Result<Act> {
    let (path, value) = (path.to_owned(), columns(&[("a0", Rule::Wave { seed: 1 })], 10));
    Ok(Box::new(move || {
        open(&path, threads)?.write().range("x", 0_i64..10)?.cells(new_cells(&value))?;
        Ok(())
    }))
}

/// Writes the cells to a new array.
fn writing(path: PathBuf, schema: ArraySchema, columns: Vec<Column>, threads: usize) -> Result<Act> {
    let definition = ArrayDefinition::new(schema)?;
    Ok(Box::new(move || {
        folders::remove(&path)?;
        Array::create(&path, &definition)?;
        open(&path, threads)?.write().cells(new_cells(&columns))?;
        Ok(())
    }))
}

pub fn writing_grid(folder: &Path, cells: u64, threads: usize) -> Result<Act> {
    let side = side(cells);
    let value = columns(&[("value", Rule::Wave { seed: 1 })], (side * side).cast_unsigned());
    writing(folder.join("new-grid"), grid_schema(side)?, value, threads)
}

pub fn writing_points(folder: &Path, cells: u64, threads: usize) -> Result<Act> {
    writing(folder.join("new-points"), points_schema(side_bits(cells))?, point_columns(cells), threads)
}

pub fn writing_tiles(folder: &Path, tiles: u64, threads: usize) -> Result<Act> {
    let schema = row_schema(ROW.cast_signed(), (ROW / tiles).cast_signed(), 1)?;
    writing(folder.join("new-row"), schema, columns(&[("a0", Rule::Wave { seed: 1 })], ROW), threads)
}

/// Number of cells of the array for queries of ranges and points.
const SPREAD: u64 = 1_000_000;
/// Number of bits of the coordinates, enough for more rows than any query selects.
const SPREAD_BITS: u32 = 16;

fn spread_side(dimension: u32) -> Rule {
    Rule::Scattered { seed: 0, bits: SPREAD_BITS, dimension }
}

/// Creates scattered points, about fifteen per row.
pub fn spread(folder: &Path, _: u64) -> Result<()> {
    let path = folder.join("points");
    create(&path, points_schema(SPREAD_BITS)?)?;
    let rules = [("y", spread_side(0)), ("x", spread_side(1)), ("value", Rule::Wave { seed: 1 })];
    open(&path, 0)?.write().cells(new_cells(&columns(&rules, SPREAD)))?;
    Ok(())
}

/// Queries `ranges` single rows, spread over the array.
pub fn asking_ranges(path: &Path, ranges: u64, threads: usize) -> Result<Act> {
    let array = open(path, threads)?;
    // The factor is odd, so all rows are distinct.
    let row = |range: i64| (range * 7919) % (1 << SPREAD_BITS);
    Ok(Box::new(move || {
        let rows: Vec<_> = (0..ranges.cast_signed()).map(|range| row(range)..=row(range)).collect();
        drained(array.read().ranges("y", rows)?)
    }))
}

/// Queries `points` points with cells.
pub fn asking_points(path: &Path, points: u64, threads: usize) -> Result<Act> {
    let array = open(path, threads)?;
    let cells = || (0..points).map(|point| point * 61 % SPREAD);
    let coordinates =
        |dimension| -> Vec<i64> { cells().map(|cell| Rule::scattered(0, SPREAD_BITS, dimension, cell)).collect() };
    let (y, x) = (coordinates(0), coordinates(1));
    Ok(Box::new(move || {
        let points = WriteBatch::new().with("y", WriteColumn::values(&y)).with("x", WriteColumn::values(&x));
        drained(array.read().points(points)?)
    }))
}
