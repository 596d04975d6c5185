//! Measures the processor time of a full scan, per byte stored and per byte of cells.
//!
//! ```console
//! $ cargo run --release -p tdb-array --example scan            # 20 million cells
//! $ cargo run --release -p tdb-array --example scan -- 1000000
//! ```
//!
//! The array is sparse, in memory and compressed with Zstandard. A single thread reads 16 parts in
//! sequence.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::{ArrayOptions, CreateOptions, WriteBatch, WriteColumn};
use tdb_filters::{Filter, FilterPipeline};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{CountingStorage, MemoryStorage, Storage};
use tdb_types::{CellValNum, Datatype};

fn main() -> Result<(), Box<dyn Error>> {
    let cells = std::env::args().nth(1).map_or(Ok(20_000_000), |argument| argument.parse::<i64>())?;
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    fill(&storage, cells)?;
    for fields in [&["qual"][..], &["pos", "qual", "depth", "alt"]] {
        let counting = Arc::new(CountingStorage::new(storage.clone()));
        let array = ArrayOptions::new().threads(1).open_on(counting.clone())?;
        let (begin, clock) = (processor(), Instant::now());
        let (mut read, mut bytes) = (0, 0);
        for part in array.read().select(fields)?.split(16)? {
            for batch in part.query(&array)?.batches()? {
                let batch = batch?;
                read += batch.len();
                bytes += batch.columns().iter().map(|column| column.bytes().len()).sum::<usize>();
            }
        }
        let took = match (begin, processor()) {
            (Some(begin), Some(end)) => end.saturating_sub(begin),
            _ => clock.elapsed(),
        };
        let counters = counting.counters();
        let (seconds, gb) = (took.as_secs_f64(), |bytes: f64| bytes / 1e9);
        println!(
            "{fields:?}: {read} cells, {:.3} GB stored, {:.3} GB of cells, {seconds:.2} s: {:.2} s/GB stored, {:.2} s/GB of cells",
            gb(counters.bytes as f64),
            gb(bytes as f64),
            seconds / gb(counters.bytes as f64),
            seconds / gb(bytes as f64),
        );
    }
    Ok(())
}

/// Writes cells that resemble genomic variants.
fn fill(storage: &Arc<dyn Storage>, cells: i64) -> Result<(), Box<dyn Error>> {
    let zstd = || FilterPipeline::new(vec![Filter::Zstd { level: 3 }]);
    let pos = Dimension::new("pos", 0i64..=i64::MAX - 1).with_filters(zstd());
    let text = Attribute::new("alt", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse()
        .dimension(pos)
        .capacity(100_000)
        .attribute(Attribute::new("qual", Datatype::Float64).with_filters(zstd()))
        .attribute(Attribute::new("depth", Datatype::Int32).with_filters(zstd()))
        .attribute(text.with_filters(zstd()))
        .build()?;
    CreateOptions::new().create_on(storage, schema)?;
    let array = ArrayOptions::new().open_on(storage.clone())?;
    let mut random = 1_u64;
    for first in (0..cells).step_by(1_000_000) {
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 33
        };
        let pos: Vec<i64> = (first..cells.min(first + 1_000_000)).map(|cell| cell * 10).collect();
        let qual: Vec<f64> = pos.iter().map(|_| (next() % 10_000) as f64 / 100.0).collect();
        let depth: Vec<i32> = pos.iter().map(|_| (next() % 60) as i32).collect();
        let alt = pos.iter().map(|_| ["A", "C", "G", "T", "AT", "GCC"][next() as usize % 6]);
        let columns = WriteBatch::new().with("pos", &pos).with("qual", &qual).with("depth", &depth);
        array.write().cells(columns.with("alt", WriteColumn::strings(alt)))?;
    }
    Ok(())
}

/// Returns the processor time of this thread.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
