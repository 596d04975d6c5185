//! How much longer reading takes as Arrow than natively: `cargo run --release --example overhead`.
//!
//! With arguments, `native` or `arrow` and fields, it makes the array and reads it so, once: for tools that count instructions.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_array::tdb_filters::FilterPipeline;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_array::tdb_storage::{MemoryStorage, Storage};
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};
use tdb_array::{Array, ArrayOptions, CreateOptions, NewCells, NewColumn};
use tdb_arrow::{ArrowOptions, Conversion, Reader};

const CELLS: u64 = 4_000_000;
/// Where each instruction is counted, reading takes long.
const COUNTED_CELLS: u64 = 400_000;
const ROUNDS: usize = 15;
const FIELDS: [&[&str]; 6] = [
    &["d", "number"],
    &["number", "maybe"],
    &["kind"],
    &["text"],
    &["d", "text"],
    &["d", "number", "maybe", "kind", "text"],
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [how, fields @ ..] = &arguments[..] {
        let (array, fields) = (array(COUNTED_CELLS)?, fields.iter().map(String::as_str).collect::<Vec<_>>());
        return match how.as_str() {
            "native" => native(&array, &fields),
            "arrow" => {
                let conversion = Conversion::of(&array.read().select(&fields)?, &ArrowOptions::new())?;
                as_arrow(&array, &fields, &conversion)
            }
            // What making the array takes, to be taken off.
            _ => Ok(()),
        };
    }
    let array = array(CELLS)?;
    for fields in FIELDS {
        let conversion = Conversion::of(&array.read().select(fields)?, &ArrowOptions::new())?;
        let (mut native_times, mut arrow_times) = (Vec::new(), Vec::new());
        // One after the other, so that what else the machine does is shared.
        for _ in 0..ROUNDS {
            native_times.push(timed(|| native(&array, fields))?);
            arrow_times.push(timed(|| as_arrow(&array, fields, &conversion))?);
        }
        let (native, arrow) = (least(&native_times), least(&arrow_times));
        let more = (arrow.as_secs_f64() / native.as_secs_f64() - 1.0) * 100.0;
        println!("{fields:?}: native {native:.1?}, as Arrow {arrow:.1?}: {more:+.1} %");
    }
    Ok(())
}

fn native(array: &Array, fields: &[&str]) -> Result<(), Box<dyn Error>> {
    for batch in array.read().select(fields)?.batches()? {
        black_box(batch?);
    }
    Ok(())
}

fn as_arrow(array: &Array, fields: &[&str], conversion: &Conversion) -> Result<(), Box<dyn Error>> {
    for batch in Reader::with(array.read().select(fields)?, conversion.clone())? {
        black_box(batch?);
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
fn array(cells: u64) -> Result<Array, Box<dyn Error>> {
    let zstd = FilterPipeline::default_coords();
    let dimension = Dimension::new("d", Datatype::UInt64, Scalar::U64(0), Scalar::U64(cells - 1));
    let text = Attribute::new("text", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse()
        .dimension(dimension.with_tile_extent(Scalar::U64(100_000)))
        .attribute(Attribute::new("number", Datatype::Float64).with_filters(zstd.clone()))
        .attribute(Attribute::new("maybe", Datatype::Int32).nullable(false).with_filters(zstd.clone()))
        .attribute(Attribute::new("kind", Datatype::UInt8).with_enumeration("kinds").with_filters(zstd.clone()))
        .attribute(text.with_filters(zstd))
        .enumeration(EnumerationRef::unplaced("kinds"))
        .capacity(100_000)
        .build()?;
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let kinds = Enumeration::strings("kinds", "", Datatype::StringUtf8, (0..200).map(|kind| format!("kind-{kind}")))?;
    CreateOptions::new().create_on(&storage, &ArrayDefinition::new(schema)?.with_enumeration(kinds)?)?;
    let places: Vec<u64> = (0..cells).collect();
    // Numbers that neither repeat nor are noise.
    let mixed = |cell: u64| cell.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    let numbers: Vec<f64> = (0..cells).map(|cell| mixed(cell) as f64 / 8.0).collect();
    let maybe = NewColumn::options((0..cells).map(|cell| (cell % 7 > 0).then_some(mixed(cell) as i32)));
    let texts = NewColumn::strings((0..cells).map(|cell| format!("sample-{}", mixed(cell) % 5000)));
    let kinds: Vec<u8> = (0..cells).map(|cell| (mixed(cell) % 200) as u8).collect();
    let cells = NewCells::new().with("d", &places).with("number", &numbers).with("maybe", maybe).with("text", texts);
    let cells = cells.with("kind", &kinds);
    ArrayOptions::new().open_on(Arc::clone(&storage))?.write().cells(cells)?;
    Ok(ArrayOptions::new().threads(1).open_on(storage)?)
}
