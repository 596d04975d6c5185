//! Measures reads with 30 ms per request: sequential round trips, requests, time.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_storage::{MemoryStorage, Storage};
use tdb_array::tdb_types::Datatype;
use tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_testkit::LatentStorage;

const LATENCY: Duration = Duration::from_millis(30);
/// Bandwidth of each concurrent request.
const BYTES_PER_SECOND: u64 = 100_000_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Returns the number of cells per fragment.
fn cells(fragments: i64) -> i64 {
    (4_000_000 / fragments).min(400_000)
}

/// Creates an array of adjacent fragments, each with several tiles of two attributes.
fn written(sparse: bool, fragments: i64) -> Result<Arc<dyn Storage>> {
    let (cells, tile) = (cells(fragments), 10_000.min(cells(fragments) / 4));
    let x = Dimension::new("x", 0i64..=fragments * cells - 1).with_tile(tile);
    let builder = if sparse { SchemaBuilder::sparse().capacity(tile.cast_unsigned()) } else { SchemaBuilder::dense() };
    let schema = ["a", "b"]
        .into_iter()
        .fold(builder.dimension(x), |builder, name| builder.attribute(Attribute::new(name, Datatype::Int64)));
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, schema.build()?)?;
    let array = ArrayOptions::new().open_on(storage.clone())?;
    for fragment in 0..fragments {
        let x: Vec<i64> = (fragment * cells..(fragment + 1) * cells).collect();
        let values = WriteBatch::new().with("a", WriteColumn::values(&x)).with("b", WriteColumn::values(&x));
        let write = array.write().ids(WriteIds::new().at(1 + fragment.cast_unsigned()));
        match sparse {
            true => write.cells(values.with("x", WriteColumn::values(&x)))?,
            false => write.range("x", fragment * cells..=(fragment + 1) * cells - 1)?.cells(values)?,
        };
    }
    Ok(storage)
}

fn read_point(array: &Array, x: i64) -> Result<()> {
    for batch in array.read().select(["a", "b"])?.range("x", x..=x)?.batches()? {
        let batch = batch?;
        if batch.column("b")?.values::<i64>()? != [x] {
            return Err(format!("wrong value at {x}").into());
        }
    }
    Ok(())
}

fn read_all(array: &Array) -> Result<()> {
    array.read().batches()?.try_for_each(|batch| batch.map(drop))?;
    Ok(())
}

/// Measures and prints a table.
pub fn run() -> Result<()> {
    println!(
        "Each request takes {} ms and transfers {} MB/s; up to 64 requests are concurrent.\n",
        LATENCY.as_millis(),
        BYTES_PER_SECOND / 1_000_000
    );
    println!("| array | operation | round trips | requests | time |");
    println!("| --- | --- | --: | --: | --: |");
    for (sparse, fragments) in [(false, 1), (false, 10), (false, 1000), (true, 1), (true, 10), (true, 1000)] {
        let storage = LatentStorage::new(written(sparse, fragments)?, LATENCY, BYTES_PER_SECOND);
        let kind = if sparse { "sparse" } else { "dense" };
        let several = if fragments == 1 { "fragment" } else { "fragments" };
        let mut start = Instant::now();
        let mut line = |what: &str| {
            let (trips, requests) = (storage.take_trips(), storage.take_requests());
            let time = start.elapsed().as_millis();
            println!("| {kind}, {fragments} {several} | {what} | {trips} | {requests} | {time} ms |");
            start = Instant::now();
        };
        let array = ArrayOptions::new().open_on(Arc::new(storage.clone()))?;
        line("open");
        read_point(&array, 777)?;
        line("first point");
        read_point(&array, 5)?;
        line("second point");
        read_all(&array)?;
        line("all cells");
    }
    Ok(())
}
