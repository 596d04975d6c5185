//! RLE strings in arrays of formats 1 to 11. Arrays up to format 6 receive fragments of format 22.
//! The reference library decides by the schema's version and therefore expects a separate offsets
//! file.

use std::sync::Arc;

use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype, FormatVersion};
use tdb_array::{ArrayOptions, Order, WriteColumn};
use tdb_filters::{Filter, FilterPipeline};
use tdb_storage::{EntryKind, Storage};

use crate::arrays::create;

const WORDS: [&str; 5] = ["a", "bb", "bb", "ccc", "ccc"];

/// Returns the bytes of the only file with this name.
fn file(storage: &dyn Storage, folder: &str, name: &str) -> Option<Vec<u8>> {
    let below = |entry: &str| if folder.is_empty() { entry.to_owned() } else { format!("{folder}/{entry}") };
    storage.list(folder).unwrap().into_iter().find_map(|entry| match entry.kind {
        EntryKind::Folder => file(storage, &below(&entry.name), name),
        EntryKind::File => (entry.name == name).then(|| storage.read(&below(&entry.name)).unwrap()),
    })
}

#[test]
fn offsets_lie_where_readers_of_the_array_look_for_them() {
    let rle = || FilterPipeline::new(vec![Filter::Rle { level: -1 }]);
    for version in FormatVersion::all() {
        let rows = Dimension::new("row", 0i32..=9);
        let words = |name: &str, datatype| {
            Attribute::new(name, datatype).with_cell_val_num(CellValNum::Var).with_filters(rle())
        };
        let schema = SchemaBuilder::sparse().version(version).dimension(rows);
        let schema = schema.attribute(words("a", Datatype::StringAscii)).attribute(words("b", Datatype::StringUtf8));
        let storage = create(schema.build().unwrap());
        let open = || ArrayOptions::new().open_on(Arc::clone(&storage)).unwrap();
        let columns = [
            ("row", WriteColumn::values(&[0, 1, 2, 3, 4])),
            ("a", WriteColumn::strings(WORDS)),
            ("b", WriteColumn::strings(WORDS)),
        ];
        open().write().cells(columns).unwrap();
        for (index, carries) in [version.number() >= 12, version.number() >= 17].into_iter().enumerate() {
            let name =
                if (7..=8).contains(&version.number()) { ["a.tdb", "b.tdb"] } else { ["a0.tdb", "a1.tdb"] }[index];
            let offsets = file(&*storage, "", name).unwrap_or_else(|| panic!("no {name} in {version}"));
            assert_eq!(offsets == [0; 8], carries, "{name} in {version}");
        }
        let array = open();
        let batches = array.read().order(Order::RowMajor).batches().unwrap().map(Result::unwrap);
        for batch in batches {
            for name in ["a", "b"] {
                let column = batch.column(name).unwrap();
                let read: Vec<_> = (0..batch.len()).map(|cell| column.cell_bytes(cell)).collect();
                assert_eq!(read, WORDS.map(str::as_bytes), "{name} in {version}");
            }
        }
    }
}
