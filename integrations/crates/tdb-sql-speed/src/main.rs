//! Compares SQL over an array and over Parquet: `cargo xtask speed sql`.
//!
//! The rows are a sparse array written by TileDB-Py, and a Parquet file written by pyarrow. Sides
//! are processes that answer the same query alternately. All sides have to return the same rows.
//!
//! * `data`, `sides.py`: the rows
//! * `queries`: the queries and targets
//! * `side`: the process of a side. `answer` implements the DataFusion sides, `sides.py` the others
//! * `measure`: runs all sides alternately. `answers` compares the rows
//! * `table`: the result

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answer;
mod answers;
mod data;
mod measure;
mod outcome;
mod queries;
mod side;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use outcome::Result;
use side::{Place, Side};
use table::Row;

/// Compare scans, boxes, filters and top-k in SQL over an array and over Parquet, by DataFusion,
/// DuckDB, and TileDB-Py with pandas
#[derive(Debug, Parser)]
#[command(name = "cargo xtask speed sql")]
struct Arguments {
    #[command(flatten)]
    shape: data::Shape,
    /// Number of repetitions of each query (the median is reported)
    #[arg(long, default_value_t = 7)]
    repeats: usize,
    /// Number of threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Run only queries with this text in the name
    #[arg(long)]
    only: Option<String>,
    /// Sides to compare with the array
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["parquet", "duckdb", "tiledb"])]
    sides: Vec<Side>,
    /// Folder of the rows, created if missing
    #[arg(long)]
    folder: Option<PathBuf>,
    /// List the queries without running
    #[arg(long)]
    list: bool,
    /// Run as the process of a side
    #[arg(long, value_enum, hide = true)]
    answer: Option<Side>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let folder = arguments.folder.clone().unwrap_or_else(|| {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/sql-speed");
        target.join(arguments.shape.name())
    });
    if let Some(side) = arguments.answer {
        return answer::serve(side, &folder, arguments.threads);
    }
    let mut queries = queries::all(arguments.shape.rows);
    queries.retain(|query| arguments.only.as_ref().is_none_or(|only| query.name.contains(only.as_str())));
    if arguments.list {
        queries.iter().for_each(|query| println!("{}: {}", query.name, query.sql));
        return Ok(());
    }
    let mut sides = vec![Side::Array];
    for side in &arguments.sides {
        if !sides.contains(side) {
            sides.push(*side);
        }
    }
    let python = tdb_reference::python("sql", &data::PACKAGES)?;
    data::make(&folder, &python, arguments.shape)?;
    let place = Place { folder: &folder, python: &python, threads: arguments.threads };
    println!("{}", about(arguments, place)?);
    println!("{}", table::HEADING);
    let mut missed = Vec::new();
    for query in &queries {
        let taken = measure::measure(query, &sides, place, arguments.repeats)?;
        let row = Row { query, taken: sides.iter().copied().zip(taken).collect() };
        println!("{}", row.line());
        missed.extend(row.missed().into_iter().map(|missed| format!("{}: {missed}", query.name)));
    }
    if !missed.is_empty() {
        println!("\nMissed targets:\n\n- {}", missed.join("\n- "));
    }
    Ok(())
}

/// Returns the text above the table.
fn about(arguments: &Arguments, place: Place<'_>) -> Result<String> {
    let bytes = |name: &str| bytes_below(&place.folder.join(name));
    Ok(format!(
        "{} rows: an array of {} MB, Parquet of {} MB in row groups of {} rows, {} index of pages; {} thread{}, {} repeats.\n",
        arguments.shape.rows,
        bytes("array")? / 1_000_000,
        bytes("rows.parquet")? / 1_000_000,
        arguments.shape.row_group,
        if arguments.shape.page_index { "with an" } else { "without an" },
        arguments.threads,
        if arguments.threads == 1 { "" } else { "s" },
        arguments.repeats,
    ))
}

fn bytes_below(path: &Path) -> Result<u64> {
    if !path.is_dir() {
        return Ok(path.metadata()?.len());
    }
    let mut bytes = 0;
    for entry in path.read_dir()? {
        bytes += bytes_below(&entry?.path())?;
    }
    Ok(bytes)
}
