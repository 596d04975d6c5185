//! Queries split by the values of a field. Both halves together have the query's cells, each once.
//! The first half has the first values, in few tiles.

use tdb_array::{Array, FirstValues, Query, WriteBatch, WriteColumn};
use tdb_condition::field;
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_testkit::fixtures;
use tdb_types::{CellValNum, Datatype};

use crate::arrays::{self, Row};

const FIELDS: [&str; 6] = ["x", "i", "f", "s", "n", "u"];

/// A thousand cells, in a hundred tiles of a sparse array or the tiles of a dense array.
fn array(builder: SchemaBuilder) -> Array {
    let x = Dimension::new("x", 0i32..=9_999).with_tile(10);
    let schema = builder
        .capacity(10)
        .dimension(x)
        .attribute(Attribute::new("i", Datatype::Int64))
        .attribute(Attribute::new("f", Datatype::Float64))
        .attribute(Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var))
        .attribute(Attribute::new("n", Datatype::Int16).nullable(true))
        .attribute(Attribute::new("u", Datatype::UInt64))
        .build()
        .unwrap();
    let storage = arrays::create(schema);
    let open = || arrays::open(&storage);
    for (start, count) in [(0, 1000), (1000, 200), (395, 30)] {
        let x: Vec<i32> = (start..start + count).collect();
        let mixed = |x: &i32| (i64::from(*x) * 7919 + 13) % 1009;
        let i: Vec<i64> = x.iter().map(|x| if x % 97 == 0 { i64::MIN } else { mixed(x) - 500 }).collect();
        let special = [f64::NAN, -0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY, -f64::NAN];
        let f: Vec<f64> = x
            .iter()
            .map(|x| if x % 83 < 6 && x % 2 == 0 { special[(*x % 83) as usize] } else { mixed(x) as f64 / 8.0 - 60.0 })
            .collect();
        let s: Vec<String> =
            x.iter().map(|x| "ab\u{1}".repeat((mixed(x) % 3) as usize) + &mixed(x).to_string()).collect();
        let n = x.iter().map(|x| (x % 7 != 3 && x / 10 % 9 != 4).then(|| mixed(x) as i16));
        let u: Vec<u64> = x.iter().map(|x| if x % 89 == 0 { u64::MAX } else { *x as u64 / 40 }).collect();
        let cells = WriteBatch::new().with("i", &i).with("f", &f).with("s", WriteColumn::strings(&s));
        let cells = cells.with("n", WriteColumn::options(n)).with("u", &u);
        arrays::write_line(&open(), open().write(), &x, cells);
    }
    open()
}

/// Returns the cells as rows of bytes.
fn rows(query: &Query) -> Vec<Row> {
    let mut all = arrays::rows(query.clone().only_matching());
    all.sort();
    all
}

fn number(bytes: &[u8], name: &str) -> i128 {
    match name {
        "x" => i32::from_le_bytes(bytes.try_into().unwrap()).into(),
        "u" => u64::from_le_bytes(bytes.try_into().unwrap()).into(),
        _ => i64::from_le_bytes(bytes.try_into().unwrap()).into(),
    }
}

fn all_firsts() -> impl Iterator<Item = FirstValues> {
    [false, true].into_iter().flat_map(|greatest| [false, true].map(|nulls| FirstValues { greatest, nulls }))
}

/// Returns the number of splits that succeed.
fn check(query: &Query, names: &[&str]) -> usize {
    let whole = rows(query);
    let mut divided = 0;
    for name in names {
        for first in all_firsts() {
            let Some((one, other)) = query.split_by_value(name, first).unwrap() else { continue };
            divided += 1;
            let (mut found, others) = (rows(&one), rows(&other));
            found.extend(others);
            found.sort();
            assert!(found == whole, "{name}, {first:?}: expected {}, found {} in halves", whole.len(), found.len());
        }
    }
    divided
}

#[test]
fn halves_are_the_whole() {
    let sparse = array(SchemaBuilder::sparse());
    assert_eq!(check(&sparse.read(), &FIELDS), 4 * FIELDS.len());
    let some = sparse.read().range("x", 7..=777).unwrap().filter(field("i").gt(-300i64));
    assert_eq!(check(&some, &FIELDS), 4 * FIELDS.len());
    assert!(check(&array(SchemaBuilder::sparse().allows_duplicates(true)).read(), &FIELDS) > 0);
    let dense = array(SchemaBuilder::dense());
    let shown = dense.read().select(FIELDS).unwrap().range("x", 0..1200).unwrap();
    assert!(shown.split_by_value("i", FirstValues::default()).unwrap().is_none());
    // Tiles of strings, and of values that may hide a NaN, rarely have usable statistics.
    assert!(check(&shown.only_matching(), &FIELDS[1..]) >= 4);
}

#[test]
fn first_half_reads_few_tiles_and_excludes_the_rest() {
    let query = array(SchemaBuilder::sparse()).read();
    let all = query.plan().unwrap().tile_count();
    for (name, greatest) in [("x", true), ("u", false), ("i", false), ("i", true)] {
        let first = FirstValues { greatest, nulls: false };
        let (one, other) = query.split_by_value(name, first).unwrap().unwrap();
        let tiles = one.plan().unwrap().tile_count();
        assert!(16 <= tiles && tiles < all / 2, "{name}: {tiles} of {all}");
        // Excluded by the tenth row of the first half.
        let rows = rows(&one.select([name]).unwrap());
        let mut values: Vec<i128> = rows.iter().map(|row| number(row[0].as_deref().unwrap(), name)).collect();
        values.sort_unstable();
        if greatest {
            values.reverse();
        }
        let tenth = values[9];
        let narrower = match (name, greatest) {
            ("u", _) => field(name).le(tenth as u64),
            (_, true) => field(name).ge(tenth as i64),
            _ => field(name).le(tenth as i64),
        };
        let left = other.filter(narrower).plan().unwrap().tile_count();
        assert!(left <= tiles, "{name}: {left} of {all}");
    }
    // Few tiles are not worth a split.
    let few = query.clone().range("x", 0..200).unwrap();
    assert!(few.split_by_value("i", FirstValues::default()).unwrap().is_none());
    assert!(query.split_by_value("nothing", FirstValues::default()).is_err());
}

#[test]
fn every_fixture() {
    for fixture in fixtures::all() {
        let array = arrays::open_fixture(&fixture, 1);
        let schema = array.schema().clone();
        for name in schema.fields().filter_map(|field| schema.field_name(field)) {
            for first in all_firsts() {
                // Most have too few tiles. Errors must not occur.
                array.read().only_matching().split_by_value(name, first).unwrap();
            }
        }
    }
}
