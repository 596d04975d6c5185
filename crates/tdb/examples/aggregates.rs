//! Computes aggregates of the cells that match a condition, in total and by group.
//!
//! ```sh
//! cargo run -p tdb-library --example aggregates -- fixtures/v22-by-2.30.0-sparse-2d/array
//! ```

use tdb::{Aggregate, Array};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let array = Array::open(std::env::args().nth(1).ok_or("usage: aggregates ARRAY")?)?;
    let query = array.read().range("x", 0..=9)?.filter("s > 'd'".parse()?);

    let total = query.clone().aggregate([Aggregate::count(), Aggregate::mean("a"), Aggregate::max("a")])?;
    let count: Option<u64> = total.value("count")?;
    // Without matching cells, the mean and the maximum are `None`.
    let mean: Option<f64> = total.value("mean(a)")?;
    let max: Option<i32> = total.value("max(a)")?;
    println!("count {count:?}, mean {mean:?}, max {max:?}");

    // Batches keep memory bounded for any number of groups. Groups are sorted by key.
    for batch in query.group_by(["y"], [Aggregate::count(), Aggregate::sum("a")])? {
        let batch = batch?;
        let counts: &[u64] = batch.column("count")?.values()?;
        let sums: &[i64] = batch.column("sum(a)")?.values()?;
        for (group, y) in batch.column("y")?.values::<i32>()?.iter().enumerate() {
            println!("y {y}: count {}, sum {}", counts[group], sums[group]);
        }
    }
    Ok(())
}
