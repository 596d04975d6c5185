//! Arrays for the queries.

use std::path::Path;
use std::sync::Arc;

use tdb_ballista::tdb_datafusion::tdb_array::tdb_condition::field;
use tdb_ballista::tdb_datafusion::tdb_array::tdb_filters::EncryptionKey;
use tdb_ballista::tdb_datafusion::tdb_array::tdb_schema::{
    ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder,
};
use tdb_ballista::tdb_datafusion::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_ballista::tdb_datafusion::tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_ballista::tdb_datafusion::tdb_storage::{LocalStorage, Storage};
use tempfile::TempDir;

/// Creates a folder with a sparse array (`cells`), a small array (`genes`) and a dense array
/// (`grid`).
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fill(|name| local(folder.path(), name));
    folder
}

/// Creates the arrays in storages.
pub(crate) fn fill(at: impl Fn(&str) -> Arc<dyn Storage>) {
    sparse(&at("cells"), 600);
    genes(&at("genes"));
    dense(&at("grid"));
}

pub(crate) fn local(folder: &Path, name: &str) -> Arc<dyn Storage> {
    Arc::new(LocalStorage::new(folder.join(name)))
}

fn open(storage: &Arc<dyn Storage>) -> Array {
    ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap()
}

fn text(name: &str) -> Attribute {
    Attribute::new(name, Datatype::StringUtf8).with_cell_val_num(CellValNum::Var)
}

/// Creates five overlapping fragments of `cells` cells each, where newer cells hide older ones, and
/// deletes some cells. Values include nulls, NaNs, signed zeros and empty strings.
pub(crate) fn sparse(storage: &Arc<dyn Storage>, cells: i64) {
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::string("chrom"))
        .dimension(Dimension::new("pos", 0i64..=i64::MAX))
        .capacity(50)
        .attribute(Attribute::new("qual", Datatype::Float64))
        .attribute(Attribute::new("depth", Datatype::Int32).nullable(false))
        .attribute(text("alt").nullable(false))
        .attribute(Attribute::new("kind", Datatype::UInt8).with_enumeration("kinds"))
        .enumeration(EnumerationRef::unplaced("kinds"));
    let kinds = Enumeration::strings("kinds", "", Datatype::StringUtf8, ["SNP", "indel", ""]).unwrap();
    let definition = ArrayDefinition::new(schema.build().unwrap()).unwrap().with_enumeration(kinds).unwrap();
    CreateOptions::new().create_on(storage, &definition).unwrap();
    for fragment in 0..5 {
        let pos: Vec<i64> = (0..cells).map(|cell| cell * (2 + fragment % 2) + fragment).collect();
        let qual = |pos: i64| match pos % 11 {
            0 => f64::NAN,
            1 => -0.0,
            2 => 0.0,
            _ => pos as f64 / 7.0,
        };
        let qual: Vec<f64> = pos.iter().map(|pos| qual(*pos)).collect();
        let kind: Vec<u8> = pos.iter().map(|pos| (pos % 3) as u8).collect();
        let alts = ["A", "", "CCG", "ü"];
        let cells = WriteBatch::new()
            .with("chrom", WriteColumn::strings(pos.iter().map(|pos| format!("chr{}", pos % 4))))
            .with("pos", WriteColumn::values(&pos))
            .with("qual", WriteColumn::values(&qual))
            .with("depth", WriteColumn::options(pos.iter().map(|pos| (pos % 5 != 3).then_some((pos * 13 % 97) as i32))))
            .with("alt", WriteColumn::optional_strings(pos.iter().map(|pos| alts.get((pos % 5) as usize))))
            .with("kind", WriteColumn::values(&kind));
        open(storage).write().ids(WriteIds::new().at(1000 + fragment as u64)).cells(cells).unwrap();
    }
    let deleted = field("pos").ge(100).and(field("pos").lt(150));
    open(storage).delete_cells(&deleted, &WriteIds::new().at(2000)).unwrap();
}

/// Creates a small array for joins.
fn genes(storage: &Arc<dyn Storage>) {
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("gene", 0i32..=1000))
        .attribute(text("chrom"))
        .attribute(Attribute::new("first", Datatype::Int64))
        .attribute(Attribute::new("last", Datatype::Int64));
    CreateOptions::new().create_on(storage, schema.build().unwrap()).unwrap();
    let genes: Vec<i32> = (0..12).collect();
    let first: Vec<i64> = genes.iter().map(|gene| i64::from(*gene) * 150).collect();
    let last: Vec<i64> = first.iter().map(|first| first + 60).collect();
    let cells = WriteBatch::new()
        .with("gene", &genes)
        .with("chrom", WriteColumn::strings(genes.iter().map(|gene| format!("chr{}", gene % 4))))
        .with("first", &first)
        .with("last", &last);
    open(storage).write().cells(cells).unwrap();
}

/// Creates two overlapping boxes in a much larger domain.
fn dense(storage: &Arc<dyn Storage>) {
    let side = |name: &str| Dimension::new(name, 0i32..=9999).with_tile(10);
    let schema = SchemaBuilder::dense().dimension(side("y")).dimension(side("x"));
    let schema = schema.attribute(Attribute::new("value", Datatype::Int32)).attribute(text("name").nullable(false));
    CreateOptions::new().create_on(storage, schema.build().unwrap()).unwrap();
    for (number, rows, columns) in [(1, 0..=39, 0..=29), (2, 25..=44, 20..=49)] {
        let cells = (rows.end() - rows.start() + 1) * (columns.end() - columns.start() + 1);
        let values: Vec<i32> = (0..cells).map(|cell| number * 10_000 + cell).collect();
        let names = values.iter().map(|value| (value % 4 != 0).then(|| "n".repeat(*value as usize % 5)));
        let cells = WriteBatch::new().with("value", &values).with("name", WriteColumn::optional_strings(names));
        let write = open(storage).write().range("y", rows).unwrap().range("x", columns).unwrap();
        write.cells(cells).unwrap();
    }
}

/// Returns a key, and its 64 hexadecimal digits.
pub(crate) fn key() -> (String, EncryptionKey) {
    let digits = "0f".repeat(32);
    (digits, EncryptionKey::try_from(&[0x0f; 32][..]).unwrap())
}

/// Creates an encrypted array.
pub(crate) fn encrypted(storage: &Arc<dyn Storage>) {
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("x", 0i32..=1000))
        .attribute(Attribute::new("a", Datatype::Int32));
    let definition = ArrayDefinition::new(schema.build().unwrap()).unwrap();
    CreateOptions::new().key(key().1).create_on(storage, &definition).unwrap();
    let array = ArrayOptions::new().key(key().1).open_on(storage.clone()).unwrap();
    let x: Vec<i32> = (0..300).collect();
    array.write().cells(WriteBatch::new().with("x", &x).with("a", &x)).unwrap();
}
