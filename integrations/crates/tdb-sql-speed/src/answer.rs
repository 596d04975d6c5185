//! The process of a DataFusion side. Answers one query per line of standard input.

use std::io::{self, BufRead, Write};
use std::path::Path;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::prelude::SessionContext;
use serde_json::{Value, json};
use tdb_datafusion::{Opener, SessionOptions, session};
use tdb_reference::Stopwatch;

use crate::outcome::Result;
use crate::side::Side;

/// Answers queries until the end of standard input.
pub(crate) fn serve(side: Side, folder: &Path, threads: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    // Arrays and Parquet files are tables in the same session.
    let session = session(SessionOptions::new(Opener::local()).partitions(threads))?;
    runtime.block_on(create(&session, side, folder))?;
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let sql = asked["sql"].as_str().ok_or("no SQL")?.to_owned();
        let stopwatch = Stopwatch::start();
        let batches = runtime.block_on(async { session.sql(&sql).await?.collect().await })?;
        let (seconds, cpu_seconds) = (stopwatch.seconds(), stopwatch.cpu_seconds());
        let rows = batches.iter().map(rows_of).collect::<Result<Vec<_>>>()?.concat();
        let mut output = io::stdout().lock();
        writeln!(output, "{}", json!({"rows": rows, "seconds": seconds, "cpu_seconds": cpu_seconds}))?;
        output.flush()?;
    }
    Ok(())
}

/// Creates the table `t` of a side.
async fn create(session: &SessionContext, side: Side, folder: &Path) -> Result<()> {
    let (format, name) = match side {
        Side::Array => ("TILEDB", "array"),
        _ => ("PARQUET", "rows.parquet"),
    };
    let location = folder.join(name);
    let location = location.to_str().ok_or("the folder's name is not UTF-8")?.replace('\'', "''");
    let create = format!("CREATE EXTERNAL TABLE t STORED AS {format} LOCATION '{location}'");
    session.sql(&create).await?.collect().await?;
    Ok(())
}

/// Converts rows to the form of the Python sides: numbers, strings, and times in milliseconds.
fn rows_of(batch: &RecordBatch) -> Result<Vec<Vec<Value>>> {
    let columns = batch.columns().iter().map(values_of).collect::<Result<Vec<_>>>()?;
    Ok((0..batch.num_rows()).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect())
}

fn values_of(column: &ArrayRef) -> Result<Vec<Value>> {
    let data_type = column.data_type();
    let is_integer = data_type.is_integer() || data_type.is_temporal();
    let target = match data_type {
        _ if is_integer => DataType::Int64,
        _ if data_type.is_numeric() => DataType::Float64,
        _ => DataType::Utf8,
    };
    let plain = cast(column, &target)?;
    let value = |row| match &target {
        _ if plain.is_null(row) => Value::Null,
        DataType::Int64 => json!(plain.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => json!(plain.as_primitive::<Float64Type>().value(row)),
        _ => json!(plain.as_string::<i32>().value(row)),
    };
    Ok((0..plain.len()).map(value).collect())
}
