//! Measures the cost of metadata: opening an array, reopening it, and computing count, minimum and
//! maximum.
//!
//! ```console
//! $ cargo run --release -p tdb-array --example statistics
//! ```
//!
//! Arrays are sparse, in a temporary folder, and read by one thread. Times are means of many runs:
//! processor time if the system reports it, in steps of some milliseconds, else elapsed time.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{LocalStorage, Storage};
use tdb_types::Datatype;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("tdb-statistics-{}", std::process::id()));
    for (name, fragments, cells, capacity) in
        [("1,000 fragments", 1000, 20, 10_000), ("100,000 tiles in one fragment", 1, 1_000_000, 10)]
    {
        let path = folder.join(name);
        std::fs::create_dir_all(&path)?;
        fill(&(Arc::new(LocalStorage::new(&path)) as Arc<dyn Storage>), fragments, cells, capacity)?;
        println!("{name}");
        measure(&path)?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn measure(path: &std::path::Path) -> Result<()> {
    let open = || -> Result<Array> {
        let array = ArrayOptions::new().threads(1).open(path)?;
        array.fragments()?;
        Ok(array)
    };
    println!("  open, with footers           {:8.2}", mean(20, || open().map(drop))?);
    let array = open()?;
    for fields in [&["i"][..], &["f"], &["x"], &["i", "f", "x"]] {
        let mut fresh = (0..10).map(|_| open()).collect::<Result<Vec<_>>>()?;
        let at_first = |array: Array| Ok(array.read().statistics_of(fields).map(drop)?);
        let first = mean(10, || fresh.pop().map_or(Ok(()), at_first))?;
        let then = mean(100, || Ok(array.read().statistics_of(fields).map(drop)?))?;
        println!("  statistics of {:<14} {first:8.2} at first, {then:8.2} then", fields.join(", "));
    }
    println!("  count                        {:8.2}", mean(100, || Ok(array.read().cell_count().map(drop)?))?);
    let again = mean(100, || Ok(array.refreshed(None)?.fragments().map(drop)?))?;
    println!("  open again, with footers     {again:8.2}");
    Ok(())
}

/// Returns the mean time of a run in milliseconds.
fn mean(runs: u32, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let (begin, clock) = (processor(), Instant::now());
    for _ in 0..runs {
        run()?;
    }
    let took = match (begin, processor()) {
        (Some(begin), Some(end)) => end.saturating_sub(begin),
        _ => clock.elapsed(),
    };
    Ok(took.as_secs_f64() * 1e3 / f64::from(runs))
}

/// Returns the processor time of this thread.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

fn fill(storage: &Arc<dyn Storage>, fragments: i64, cells: i64, capacity: u64) -> Result<()> {
    let x = Dimension::new("x", 0i64..=1 << 40);
    let schema = SchemaBuilder::sparse().capacity(capacity).dimension(x.with_tile(1i64 << 20));
    let schema =
        schema.attribute(Attribute::new("i", Datatype::Int32)).attribute(Attribute::new("f", Datatype::Float64));
    CreateOptions::new().create_on(storage, schema.build()?)?;
    let array = ArrayOptions::new().threads(1).open_on(storage.clone())?;
    for fragment in 0..fragments {
        let x: Vec<i64> = (fragment * cells..(fragment + 1) * cells).collect();
        let i: Vec<i32> = x.iter().map(|x| (x * 7919 % 1_000_003) as i32).collect();
        let f: Vec<f64> = x.iter().map(|x| *x as f64 / 3.0).collect();
        array.write().cells(WriteBatch::new().with("x", &x[..]).with("i", &i[..]).with("f", &f[..]))?;
    }
    Ok(())
}
