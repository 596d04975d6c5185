//! How much longer reading takes as Arrow than natively: `cargo run --release --example overhead`.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::tdb_filters::FilterPipeline;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_storage::{MemoryStorage, Storage};
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};
use tdb_array::{Array, ArrayOptions, CreateOptions, NewCells, NewColumn};
use tdb_arrow::{ArrowOptions, Conversion, Reader};

const CELLS: u64 = 4_000_000;
const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let array = array()?;
    for fields in [&["d", "number"][..], &["number", "maybe"], &["text"], &["d", "number", "maybe", "text"]] {
        let conversion = Conversion::of(&array.read().select(fields)?, &ArrowOptions::new())?;
        let (mut native, mut arrow) = (Vec::new(), Vec::new());
        // One after the other, so that what else the machine does is shared.
        for _ in 0..ROUNDS {
            native.push(timed(|| {
                for batch in array.read().select(fields)?.batches()? {
                    black_box(batch?);
                }
                Ok(())
            })?);
            arrow.push(timed(|| {
                for batch in Reader::with(array.read().select(fields)?, conversion.clone())? {
                    black_box(batch?);
                }
                Ok(())
            })?);
        }
        let (native, arrow) = (least(&native), least(&arrow));
        let more = (arrow.as_secs_f64() / native.as_secs_f64() - 1.0) * 100.0;
        println!("{fields:?}: native {native:.1?}, as Arrow {arrow:.1?}: {more:+.1} %");
    }
    Ok(())
}

/// What other programs take of the machine makes a time longer, never shorter.
fn least(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

fn timed(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed())
}

/// An array in memory, filtered as arrays mostly are.
fn array() -> Result<Array, Box<dyn Error>> {
    let zstd = FilterPipeline::default_coords();
    let dimension = Dimension::new("d", Datatype::UInt64, Scalar::U64(0), Scalar::U64(CELLS - 1));
    let text = Attribute::new("text", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse()
        .dimension(dimension.with_tile_extent(Scalar::U64(100_000)))
        .attribute(Attribute::new("number", Datatype::Float64).with_filters(zstd.clone()))
        .attribute(Attribute::new("maybe", Datatype::Int32).nullable(false).with_filters(zstd.clone()))
        .attribute(text.with_filters(zstd))
        .capacity(100_000)
        .build()?;
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, &ArrayDefinition::new(schema)?)?;
    let places: Vec<u64> = (0..CELLS).collect();
    // Numbers that neither repeat nor are noise.
    let mixed = |cell: u64| cell.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    let numbers: Vec<f64> = (0..CELLS).map(|cell| mixed(cell) as f64 / 8.0).collect();
    let maybe = NewColumn::options((0..CELLS).map(|cell| (cell % 7 > 0).then_some(mixed(cell) as i32)));
    let texts = NewColumn::strings((0..CELLS).map(|cell| format!("sample-{}", mixed(cell) % 5000)));
    let cells = NewCells::new().with("d", &places).with("number", &numbers).with("maybe", maybe).with("text", texts);
    ArrayOptions::new().open_on(Arc::clone(&storage))?.write().cells(cells)?;
    Ok(ArrayOptions::new().threads(1).open_on(storage)?)
}
