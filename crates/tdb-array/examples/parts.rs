//! Measures the cost of splitting a query of an array with many fragments, and the size of the
//! serialized parts.
//!
//! ```console
//! $ cargo run --release -p tdb-array --example parts             # 1, 100 and 10,000 fragments
//! $ cargo run --release -p tdb-array --example parts -- 5000 64  # 5000 fragments, 64 parts
//! ```
//!
//! Times are processor time on Linux, and elapsed time elsewhere.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::{Array, ArrayOptions, CreateOptions, QueryPart, WriteBatch};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::Datatype;

/// Cells per fragment.
const CELLS: i64 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let wanted = arguments.next().transpose()?;
    let parts = arguments.next().transpose()?.unwrap_or(16);
    println!(
        "fragments  layout       open s  split s  parts  largest part, bytes  all parts, bytes  parsed and opened, s"
    );
    for fragments in wanted.map_or_else(|| vec![1, 100, 10_000], |wanted| vec![wanted]) {
        for overlap in [false, true] {
            measure(fragments as i64, overlap, parts)?;
        }
    }
    Ok(())
}

fn measure(fragments: i64, overlap: bool, parts: usize) -> Result<(), Box<dyn Error>> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let dimension = Dimension::new("x", 0i64..=i64::MAX - 1);
    let schema =
        SchemaBuilder::sparse().dimension(dimension).attribute(Attribute::new("a", Datatype::Int64)).capacity(100);
    CreateOptions::new().create_on(&storage, schema.build()?)?;
    let options = ArrayOptions::new().threads(1);
    let array = options.open_on(storage.clone())?;
    for fragment in 0..fragments {
        // Consecutive, as in a time series, or interleaved.
        let at = |cell: i64| if overlap { cell * fragments + fragment } else { fragment * CELLS + cell };
        let x: Vec<i64> = (0..CELLS).map(at).collect();
        array.write().cells(WriteBatch::new().with("a", &x).with("x", &x))?;
    }
    let (opened, open) = timed(|| Ok(options.clone().with_footers().open_on(storage.clone())?))?;
    let (divided, split) = timed(|| Ok(opened.read().split(parts)?))?;
    let sizes: Vec<usize> = divided.iter().map(|part| part.to_bytes().len()).collect();
    let (_, read) = timed(|| again(&divided, &opened))?;
    println!(
        "{fragments:9}  {:11}  {:6.2}  {:7.2}  {:5}  {:19}  {:16}  {:20.3}",
        if overlap { "overlapping" } else { "disjoint" },
        open.as_secs_f64(),
        split.as_secs_f64(),
        divided.len(),
        sizes.iter().max().unwrap_or(&0),
        sizes.iter().sum::<usize>(),
        read.as_secs_f64(),
    );
    Ok(())
}

/// Parses and opens all parts, as their readers do first.
fn again(parts: &[QueryPart], array: &Array) -> Result<(), Box<dyn Error>> {
    for part in parts {
        let _query = QueryPart::from_bytes(&part.to_bytes())?.query(array)?;
    }
    Ok(())
}

fn timed<T>(job: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<(T, Duration), Box<dyn Error>> {
    let (begin, clock) = (processor(), Instant::now());
    let done = job()?;
    let took = match (begin, processor()) {
        (Some(begin), Some(end)) => end.saturating_sub(begin),
        _ => clock.elapsed(),
    };
    Ok((done, took))
}

/// Returns the processor time of this thread.
fn processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
