//! The counted paths.

use tdb_array::tdb_condition::field;
use tdb_array::{Aggregate, Array, Order, Query};

use super::inputs::{SIDE, open};
use super::path::{CountedPath, Work, here};
use super::{filters, parsing, writing};
use crate::outcome::Result;
use tdb_reference::model::Rule;

fn command(name: &str, arguments: &'static [&'static str]) -> CountedPath {
    CountedPath { name: name.to_owned(), work: Work::Command { arguments } }
}

/// Returns all paths in the order of the record.
pub fn all() -> Vec<CountedPath> {
    let mut paths = parsing::all();
    paths.extend(filters::all());
    paths.extend(dense_reads());
    paths.extend(sparse_reads());
    paths.extend(conditions());
    paths.extend(writing::all());
    paths.push(command("CSV out: 10,000 rows", &["read", "table", "--format", "csv", "--threads", "1"]));
    let import = &["import", "imported", "table.csv", "--dimensions", "id", "--threads", "1"];
    paths.push(command("CSV in: 10,000 rows", import));
    paths
}

/// Reads from an open array.
fn read(
    name: &str,
    array: &'static str,
    query: impl Fn(&Array) -> Result<Query> + Send + Sync + 'static,
) -> CountedPath {
    let query = std::sync::Arc::new(query);
    here(name, move || {
        let (array, query) = (open(array)?, query.clone());
        Ok(Box::new(move || {
            let mut cells = 0;
            for batch in query(&array)?.batches()? {
                cells += batch?.len();
            }
            std::hint::black_box(cells);
            Ok(())
        }))
    })
}

fn dense_reads() -> Vec<CountedPath> {
    let middle = SIDE / 2 - 50;
    vec![
        read("dense read: all", "dense", |array| Ok(array.read())),
        read("dense read: all, col-major", "dense", |array| Ok(array.read().order(Order::ColMajor))),
        read("dense read: slice across tiles", "dense", move |array| {
            Ok(array.read().range("y", middle..middle + 100)?.range("x", middle..middle + 100)?)
        }),
        read("dense read: point", "dense", move |array| {
            Ok(array.read().range("y", middle..=middle)?.range("x", middle..=middle)?)
        }),
        read("dense read: byteshuffle and zstd", "dense-zstd", |array| Ok(array.read())),
        read("dense read: strings", "words", |array| Ok(array.read())),
        read("dense read: 100 fragments", "hundred", |array| Ok(array.read())),
    ]
}

fn sparse_reads() -> Vec<CountedPath> {
    // Coordinates of an existing cell.
    let [y, x] = [0, 1].map(|dimension| Rule::scattered(0, super::inputs::BITS, dimension, 777));
    vec![
        read("sparse read: unordered", "sparse", |array| Ok(array.read().order(Order::Unordered))),
        read("sparse read: global order", "sparse", |array| Ok(array.read().order(Order::Global))),
        read("sparse read: row-major", "sparse", |array| Ok(array.read().order(Order::RowMajor))),
        read("sparse read: col-major", "sparse", |array| Ok(array.read().order(Order::ColMajor))),
        read("sparse read: ten fragments, row-major", "ten", |array| Ok(array.read().order(Order::RowMajor))),
        read("sparse read: point", "sparse", move |array| Ok(array.read().range("y", y..=y)?.range("x", x..=x)?)),
        read("sparse read: box", "sparse", |array| {
            Ok(array.read().range("y", 200_i64..300)?.range("x", 200_i64..300)?)
        }),
        read("sparse read: 100 ranges", "sparse", |array| {
            Ok(array.read().ranges("y", (0..100_i64).map(|range| 10 * range..10 * range + 2))?)
        }),
    ]
}

fn conditions() -> Vec<CountedPath> {
    let above = |value: f64| move |array: &Array| Ok(array.read().filter(field("a").gt(value)));
    let aggregate = |name: &str, array: &'static str, field: &'static str| {
        here(name, move || {
            let array = open(array)?;
            Ok(Box::new(move || {
                let aggregates =
                    [Aggregate::count(), Aggregate::sum(field), Aggregate::min(field), Aggregate::max(field)];
                std::hint::black_box(array.read().aggregate(aggregates)?);
                Ok(())
            }))
        })
    };
    vec![
        read("condition: no cell", "sparse", above(1e300)),
        read("condition: cells everywhere", "sparse", above(60.0)),
        read("condition: all cells", "sparse", above(-1.0)),
        read("condition: dense, cells everywhere", "dense", |array| Ok(array.read().filter(field("value").gt(60.0)))),
        aggregate("aggregates: dense, by metadata", "dense", "value"),
        aggregate("aggregates: sparse, by metadata", "sparse", "a"),
        aggregate("aggregates: sparse, ten fragments", "ten", "a"),
    ]
}
