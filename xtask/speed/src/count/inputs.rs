//! Input arrays of paths, written by tdb and the same in every run.

use std::path::Path;

use tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_array::tdb_schema::{ArraySchema, Attribute, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype, Layout};
use tdb_array::{Array, ArrayOptions, CreateOptions, WriteIds};
use tdb_reference::model::Rule;

use crate::cells::{TABLE, columns, new_cells};
use crate::outcome::Result;
use crate::schemas::{dimension, square};
use crate::tdb;

/// Number of cells per side of the dense arrays.
pub const SIDE: i64 = 512;
/// Number of bits of coordinates in the sparse arrays.
pub const BITS: u32 = 10;
/// Number of cells of the sparse arrays.
pub const CELLS: u64 = 40_000;
/// Number of rows of the table.
pub const ROWS: u64 = 10_000;

/// Returns reproducible fragment names.
pub fn names(number: u64) -> WriteIds {
    WriteIds::new().at(1_700_000_000_000 + 10 * number).seeded(number)
}

/// Opens an array with one thread.
pub fn open(path: impl AsRef<Path>) -> Result<Array> {
    Ok(ArrayOptions::new().threads(1).open(path)?)
}

/// Creates an array with a schema.
pub fn create(path: impl AsRef<Path>, schema: ArraySchema) -> Result<()> {
    CreateOptions::new().ids(names(0)).create(path, schema)?;
    Ok(())
}

/// Creates all inputs in an empty folder.
pub fn make(folder: &Path) -> Result<()> {
    let zstd = vec![Filter::Byteshuffle, Filter::Zstd { level: 3 }];
    dense(&folder.join("dense"), Vec::new())?;
    dense(&folder.join("dense-zstd"), zstd)?;
    words(&folder.join("words"))?;
    for (name, fragments, shared) in [("sparse", 1, false), ("ten", 10, true)] {
        sparse(&folder.join(name), fragments, shared)?;
    }
    row(&folder.join("one"), 1)?;
    row(&folder.join("hundred"), 100)?;
    wide(&folder.join("wide"))?;
    let path = folder.join("table");
    table(&path)?;
    let path = path.to_str().ok_or("the folder is not UTF-8")?;
    tdb::run_into(&["read", path, "--format", "csv", "--order", "row-major"], &folder.join("table.csv"))
}

/// Returns the schema of a square of doubles in tiles of 128 by 128.
pub fn dense_schema(filters: Vec<Filter>) -> Result<ArraySchema> {
    let value = Attribute::new("value", Datatype::Float64).with_filters(FilterPipeline::new(filters));
    Ok(square(SchemaBuilder::dense(), SIDE, 128).attribute(value).build()?)
}

/// Returns the schema of points on a square with a double and a time each. Coordinates and offsets
/// have no filters, because codecs would dominate the counts.
pub fn sparse_schema() -> Result<ArraySchema> {
    let none = || FilterPipeline { filters: Vec::new(), ..FilterPipeline::default_coords() };
    let builder =
        square(SchemaBuilder::sparse(), 1 << BITS, 128).capacity(5_000).coords_filters(none()).offsets_filters(none());
    let attributes = [Attribute::new("a", Datatype::Float64), Attribute::new("b", Datatype::Int64)];
    Ok(attributes.into_iter().fold(builder, SchemaBuilder::attribute).build()?)
}

/// Returns the rules of the columns of points. Equal numbers yield equal points.
pub fn point_rules(number: u64) -> [(&'static str, Rule); 4] {
    [
        ("y", Rule::Scattered { seed: number, bits: BITS, dimension: 0 }),
        ("x", Rule::Scattered { seed: number, bits: BITS, dimension: 1 }),
        ("a", Rule::Wave { seed: number }),
        ("b", Rule::Ascending { seed: number }),
    ]
}

fn dense(path: &Path, filters: Vec<Filter>) -> Result<()> {
    create(path, dense_schema(filters)?)?;
    let cells = columns(&[("value", Rule::Wave { seed: 1 })], (SIDE * SIDE).cast_unsigned());
    open(path)?.write().ids(names(1)).cells(new_cells(&cells))?;
    Ok(())
}

/// Writes a square of strings.
fn words(path: &Path) -> Result<()> {
    let word = Attribute::new("word", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var);
    create(path, square(SchemaBuilder::dense(), SIDE / 2, 64).attribute(word).build()?)?;
    let cells = columns(&[("word", Rule::Word { seed: 2 })], (SIDE * SIDE / 4).cast_unsigned());
    open(path)?.write().ids(names(1)).cells(new_cells(&cells))?;
    Ok(())
}

/// Writes points, distributed over several fragments. Overlapping fragments have different points.
fn sparse(path: &Path, fragments: u64, overlap: bool) -> Result<()> {
    create(path, sparse_schema()?)?;
    for fragment in 0..fragments {
        let seed = if overlap { fragment } else { 0 };
        let cells = columns(&point_rules(seed), CELLS / fragments);
        open(path)?.write().ids(names(1 + fragment)).cells(new_cells(&cells))?;
    }
    Ok(())
}

/// Writes a row of doubles with one fragment per tile.
fn row(path: &Path, fragments: i64) -> Result<()> {
    const TILE: i64 = 100;
    let value = Attribute::new("value", Datatype::Float64);
    create(path, SchemaBuilder::dense().dimension(dimension("x", 100 * TILE, TILE)).attribute(value).build()?)?;
    for fragment in 0..fragments {
        let cells = columns(&[("value", Rule::Wave { seed: 3 })], TILE.cast_unsigned());
        let first = fragment * TILE;
        let write = open(path)?.write().ids(names(1 + fragment.cast_unsigned()));
        write.range("x", first..first + TILE)?.cells(new_cells(&cells))?;
    }
    Ok(())
}

/// Writes an array with a long schema and footer: many attributes with separate filters.
fn wide(path: &Path) -> Result<()> {
    let attribute = |number: usize| {
        let filters = vec![Filter::DoubleDelta { level: -1, reinterpret: None }, Filter::Zstd { level: 5 }];
        Attribute::new(format!("attribute_{number:02}"), Datatype::Int64).with_filters(FilterPipeline::new(filters))
    };
    let builder = SchemaBuilder::dense().dimension(dimension("x", 1000, 100));
    create(path, (0..60).map(attribute).fold(builder, SchemaBuilder::attribute).build()?)?;
    let names_of: Vec<String> = (0..60).map(|number| format!("attribute_{number:02}")).collect();
    let rules: Vec<_> = names_of.iter().map(|name| (name.as_str(), Rule::Ascending { seed: 4 })).collect();
    open(path)?.write().ids(names(1)).cells(new_cells(&columns(&rules, 1000)))?;
    Ok(())
}

/// Writes a table with typical columns: a number, a time, doubles, strings.
fn table(path: &Path) -> Result<()> {
    let id = dimension("id", i64::from(i32::MAX), 1000);
    let time = Attribute::new("time", Datatype::DatetimeSec);
    let doubles = ["price", "amount"].map(|name| Attribute::new(name, Datatype::Float64));
    let strings =
        ["word", "place"].map(|name| Attribute::new(name, Datatype::StringUtf8).with_cell_val_num(CellValNum::Var));
    let builder = SchemaBuilder::sparse().cell_order(Layout::RowMajor).dimension(id).attribute(time);
    create(path, doubles.into_iter().chain(strings).fold(builder, SchemaBuilder::attribute).build()?)?;
    open(path)?.write().ids(names(1)).cells(new_cells(&columns(&TABLE, ROWS)))?;
    Ok(())
}
