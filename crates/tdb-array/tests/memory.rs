//! What a query holds at its peak: three times its budget and a constant.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod two_arrays;

use std::sync::Arc;

use tdb_array::{NewCells, NewColumn, Order};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::MemoryStorage;
use tdb_testkit::allocations::peak_while;
use tdb_types::{Datatype, Layout, Scalar};
use two_arrays::*;

const CELLS: i64 = 2_000_000;

/// What [`tdb_array::Query::budget`] promises.
const CONSTANT: u64 = 96 << 20;

fn sparse(order: Layout, fragments: i64) -> Arc<MemoryStorage> {
    let side = |name| Dimension::new(name, Datatype::Int64, Scalar::I64(0), Scalar::I64(9_999_999));
    let builder = SchemaBuilder::sparse().dimension(side("y")).dimension(side("x")).capacity(20_000).cell_order(order);
    let schema = ["a", "b"]
        .into_iter()
        .fold(builder, |builder, name| builder.attribute(Attribute::new(name, Datatype::Float64)));
    let storage = create(&schema.build().unwrap());
    for fragment in 0..fragments {
        let x: Vec<i64> = (0..CELLS / fragments).map(|cell| (cell * 7919 + fragment) % 9_999_991).collect();
        let y: Vec<i64> = x.iter().map(|x| x * 31 % 9_999_973).collect();
        let value: Vec<f64> = x.iter().map(|x| *x as f64).collect();
        let cells = NewCells::new().with("x", NewColumn::values(&x)).with("y", NewColumn::values(&y));
        let cells = cells.with("a", NewColumn::values(&value)).with("b", NewColumn::values(&value));
        array_on(&storage, 1).write().cells(cells).unwrap();
    }
    storage
}

fn dense() -> Arc<MemoryStorage> {
    let side = |name, extent| {
        Dimension::new(name, Datatype::Int32, Scalar::I32(0), Scalar::I32(1999)).with_tile_extent(Scalar::I32(extent))
    };
    let builder = SchemaBuilder::dense().dimension(side("y", 100)).dimension(side("x", 250));
    let schema = ["a", "b"]
        .into_iter()
        .fold(builder, |builder, name| builder.attribute(Attribute::new(name, Datatype::Float64)));
    let storage = create(&schema.build().unwrap());
    let values: Vec<f64> = (0..4_000_000).map(f64::from).collect();
    let cells = NewCells::new().with("a", NewColumn::values(&values)).with("b", NewColumn::values(&values));
    array_on(&storage, 1).write().cells(cells).unwrap();
    storage
}

/// Bytes of the process that were resident at most since the last [`forget_peak`], and are now; only Linux says so.
fn resident() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    };
    Some((of("VmHWM:")?, of("VmRSS:")?))
}

fn forget_peak() {
    // Where that isn't possible, the peak of all of the process counts, which is more.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

#[test]
fn a_query_keeps_to_its_budget() {
    let orders = [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered];
    let arrays = [sparse(Layout::RowMajor, 1), sparse(Layout::Hilbert, 4), dense()];
    for (number, storage) in arrays.iter().enumerate() {
        for budget in [64 << 10, 4 << 20, 40 << 20] {
            for order in orders {
                let array = array_on(storage, 1);
                forget_peak();
                let before = resident();
                let peak = peak_while(|| {
                    let batches = array.read().order(order).budget(budget).batches().unwrap();
                    let cells: usize = batches.map(|batch| batch.unwrap().len()).sum();
                    assert!(cells as i64 >= CELLS / 2);
                });
                // Large pages come from the system, and are seen there alone.
                let grown = before.zip(resident()).map_or(0, |((_, before), (peak, _))| peak.saturating_sub(before));
                let peak = peak.max(grown);
                let most = 3 * budget as u64 + CONSTANT;
                println!("array {number}, {order}, budget {} KiB: {} KiB", budget >> 10, peak >> 10);
                assert!(peak <= most, "array {number}, {order}, {budget}: {peak} bytes");
            }
        }
    }
}
