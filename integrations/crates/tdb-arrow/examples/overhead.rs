//! Compares the CPU time of reading as Arrow and of native reading: `cargo run --release --example
//! overhead`.
//!
//! With arguments, creates and reads one array, for tools that count instructions. The arguments
//! are `zstd` or `plain` (without filters), then `native`, `arrow` or another word (reads nothing),
//! then the fields.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tdb_array::tdb_filters::FilterPipeline;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
use tdb_array::tdb_storage::{MemoryStorage, Storage};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch, WriteColumn};
use tdb_arrow::{ArrowOptions, Conversion, Reader};

const CELLS: u64 = 1_000_000;
/// Smaller, because tools that count instructions slow the program down.
const COUNTED_CELLS: u64 = 400_000;
const ROUNDS: usize = 9;
const FIELDS: [&[&str]; 9] = [
    &["number"],
    &["maybe"],
    &["kind"],
    &["ascii"],
    &["text"],
    &["word"],
    &["long"],
    &["d", "text"],
    &["d", "number", "maybe", "kind", "text"],
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [filters, how, fields @ ..] = &arguments[..] {
        let array = array(COUNTED_CELLS, filters == "zstd")?;
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        return match how.as_str() {
            "native" => native(&array, &fields),
            "arrow" => {
                let conversion = Conversion::of(&array.read().select(&fields)?, &ArrowOptions::new())?;
                as_arrow(&array, &fields, &conversion)
            }
            // Only creates the array. Measures the cost to subtract from the other runs.
            _ => Ok(()),
        };
    }
    for (filters, is_packed) in [("zstd", true), ("no filters", false)] {
        let array = array(CELLS, is_packed)?;
        for fields in FIELDS {
            let conversion = Conversion::of(&array.read().select(fields)?, &ArrowOptions::new())?;
            let (mut native_times, mut arrow_times) = (Vec::new(), Vec::new());
            // Alternates the two, to spread other load on the machine over both.
            for _ in 0..ROUNDS {
                native_times.push(timed(|| native(&array, fields))?);
                arrow_times.push(timed(|| as_arrow(&array, fields, &conversion))?);
            }
            let (native, arrow) = (least(&native_times), least(&arrow_times));
            let more = (arrow.as_secs_f64() / native.as_secs_f64() - 1.0) * 100.0;
            println!("{filters}, {fields:?}: native {native:.1?}, as Arrow {arrow:.1?}: {more:+.1} %");
        }
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

/// Returns the minimum, because other programs can only make a run longer.
fn least(times: &[Duration]) -> Duration {
    times.iter().min().copied().unwrap_or_default()
}

/// Runs a function, and returns the CPU time of all threads. Reading decompresses on separate
/// threads.
fn timed(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let processor_time = || clock_gettime(ClockId::ProcessCPUTime);
    let started = processor_time();
    run()?;
    Ok(Duration::try_from(processor_time() - started)?)
}

/// Creates an array in memory, with the default filters of coordinates or without filters.
fn array(cells: u64, is_packed: bool) -> Result<Array, Box<dyn Error>> {
    let filters = if is_packed { FilterPipeline::default_coords() } else { FilterPipeline::default() };
    let dimension = Dimension::new("d", 0u64..=cells - 1);
    let fixed = |name, datatype| Attribute::new(name, datatype).with_filters(filters.clone());
    let strings = |name, datatype| fixed(name, datatype).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse()
        .dimension(dimension.with_tile(100_000).with_filters(filters.clone()))
        .attribute(fixed("number", Datatype::Float64))
        .attribute(fixed("maybe", Datatype::Int32).nullable(false))
        .attribute(fixed("kind", Datatype::UInt8).with_enumeration("kinds"))
        .attribute(strings("ascii", Datatype::StringAscii))
        .attribute(strings("text", Datatype::StringUtf8))
        .attribute(strings("word", Datatype::StringUtf8))
        .attribute(strings("long", Datatype::StringUtf8))
        .enumeration(EnumerationRef::unplaced("kinds"))
        .offsets_filters(filters.clone())
        .validity_filters(filters.clone())
        .capacity(100_000)
        .build()?;
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let kinds = Enumeration::strings("kinds", "", Datatype::StringUtf8, (0..200).map(|kind| format!("kind-{kind}")))?;
    CreateOptions::new().create_on(&storage, ArrayDefinition::new(schema)?.with_enumeration(kinds)?)?;
    let places: Vec<u64> = (0..cells).collect();
    let numbers: Vec<f64> = (0..cells).map(|cell| mixed(cell) as f64 / 8.0).collect();
    let kinds: Vec<u8> = (0..cells).map(|cell| (mixed(cell) % 200) as u8).collect();
    let maybe = WriteColumn::options((0..cells).map(|cell| (cell % 7 > 0).then_some(mixed(cell) as i32)));
    let texts = |text: fn(u64) -> String| WriteColumn::strings((0..cells).map(move |cell| text(mixed(cell))));
    let cells = WriteBatch::new()
        .with("d", &places)
        .with("number", &numbers)
        .with("maybe", maybe)
        .with("kind", &kinds)
        .with("ascii", texts(|number| format!("sample-{}", number % 5000)))
        .with("text", texts(|number| format!("sample-{}", number % 5000)))
        .with("word", texts(|number| format!("größe-{}", number % 5000)))
        .with(
            "long",
            texts(|number| {
                format!(
                    "{number:>8} of a sentence that has eighty bytes, as notes and paths mostly have {:>6}",
                    number % 977
                )
            }),
        );
    ArrayOptions::new().open_on(Arc::clone(&storage))?.write().cells(cells)?;
    Ok(ArrayOptions::new().threads(1).open_on(storage)?)
}

/// Numbers that neither repeat nor are incompressible.
fn mixed(cell: u64) -> u64 {
    cell.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44
}
