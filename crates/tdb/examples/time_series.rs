//! Writes a time series in several fragments, and reads a window as of two points in time.
//!
//! ```sh
//! cargo run -p tdb-library --example time_series
//! ```

use std::path::Path;

use tdb::array::WriteIds;
use tdb::schema::{Attribute, Dimension, SchemaBuilder};
use tdb::types::{Datatype, datetime};
use tdb::{Array, ArrayOptions, Order, WriteBatch};

/// The unit of the dimension: seconds since 1970.
const UNIT: Datatype = Datatype::DatetimeSec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("temperatures");
    let time = Dimension::new("time", second("2020-01-01")?..=second("2029-12-31")?);
    let schema = SchemaBuilder::sparse()
        .dimension(time.with_datatype(UNIT).with_tile(86_400))
        .attribute(Attribute::new("temperature", Datatype::Float64))
        .build()?;
    Array::create(&path, schema)?;

    write(&path, "2024-05-02", &[("2024-05-01T06:00", 8.5), ("2024-05-01T12:00", 31.0), ("2024-05-01T18:00", 14.0)])?;
    write(&path, "2024-05-03", &[("2024-05-02T06:00", 9.0), ("2024-05-02T12:00", 19.5)])?;
    // A correction supersedes the cell with the same time.
    write(&path, "2024-05-04", &[("2024-05-01T12:00", 21.0)])?;

    // Without `at`, the array opens as of now.
    for day in ["2024-05-03", "2024-05-04"] {
        let array = ArrayOptions::new().at(millisecond(day)?).open(&path)?;
        println!("as of {day}, from {} fragments", array.fragments()?.len());
        let (first, last) = datetime::read(UNIT, "2024-05-01")?;
        for batch in array.read().range("time", first..=last)?.order(Order::RowMajor).batches()? {
            let batch = batch?;
            let temperatures: &[f64] = batch.column("temperature")?.values()?;
            for (time, temperature) in batch.column("time")?.values::<i64>()?.iter().zip(temperatures) {
                println!("{} {temperature:.1}", datetime::display(UNIT, *time).unwrap_or_default());
            }
        }
    }
    Ok(())
}

/// Writes a fragment with the time `day`. By default, a fragment has the current time.
fn write(path: &Path, day: &str, series: &[(&str, f64)]) -> Result<(), Box<dyn std::error::Error>> {
    let times = series.iter().map(|(time, _)| second(time)).collect::<Result<Vec<i64>, _>>()?;
    let temperatures: Vec<f64> = series.iter().map(|(_, temperature)| *temperature).collect();
    let cells = WriteBatch::new().with("time", &times).with("temperature", &temperatures);
    Array::open(path)?.write().ids(WriteIds::new().at(millisecond(day)?)).cells(cells)?;
    Ok(())
}

/// Returns the coordinate of the start of a period.
fn second(text: &str) -> Result<i64, datetime::WrittenError> {
    Ok(datetime::read(UNIT, text)?.0)
}

/// Returns the start of a day as the time of a fragment: milliseconds since 1970.
fn millisecond(day: &str) -> Result<u64, Box<dyn std::error::Error>> {
    Ok(datetime::read(Datatype::DatetimeMs, day)?.0.try_into()?)
}
