//! Reads and writes of CSV and Parquet, compared with DuckDB, because the reference library
//! supports neither.
//!
//! DuckDB keeps rows in memory, and tdb in an array on a file system in memory. tdb runs as a
//! command, including startup.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_array::{Array, ArrayOptions};
use tdb_reference::model::Bytes;
use tdb_reference::{TimedRead, TimedReads};

use crate::arrays::scaled;
use crate::cells::{TABLE, columns, new_cells};
use crate::outcome::Result;
use crate::tdb;
use crate::workload::{Ask, Bench, Group, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

struct Files {
    name: String,
    format: Format,
    way: Way,
    rows: u64,
    /// Python interpreter with DuckDB.
    python: PathBuf,
    array: String,
    bytes: u64,
}

pub(super) fn all(scale: f64) -> Vec<Box<dyn Workload>> {
    let rows = |millions| scaled(millions, scale);
    let files = |name: &str, format, way, rows| -> Box<dyn Workload> {
        let (python, array) = (PathBuf::new(), String::new());
        Box::new(Files { name: name.to_owned(), format, way, rows, python, array, bytes: 0 })
    };
    vec![
        files("CSV out, `tdb read`", Format::Csv, Way::Out, rows(3.0)),
        files("CSV in, `tdb import`", Format::Csv, Way::In, rows(1.0)),
        files("Parquet out, `tdb export`", Format::Parquet, Way::Out, rows(3.0)),
        files("Parquet in, `tdb import`", Format::Parquet, Way::In, rows(1.0)),
    ]
}

/// The output of the script.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    runs: Vec<[f64; 2]>,
    peak: u64,
    cells: usize,
    digest: String,
}

impl Files {
    fn ending(&self) -> &'static str {
        if self.format == Format::Csv { "csv" } else { "parquet" }
    }

    /// Returns the path of the input file.
    fn source(&self, bench: &Bench) -> String {
        bench.in_memory(&format!("rows.{}", self.ending()))
    }

    fn ask(&self, job: &Value) -> Result<Said> {
        let mut python = Command::new(&self.python);
        python.arg("-c").arg(include_str!("files.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = python.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(job.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("DuckDB's script failed: {}", output.status).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn timed(&self, said: Said) -> Result<TimedReads> {
        let run = |[seconds, cpu_seconds]: [f64; 2]| TimedRead { seconds, cpu_seconds, open_seconds: 0.0, submits: 1 };
        Ok(TimedReads {
            cells: usize::try_from(self.rows)?,
            bytes: self.bytes,
            digest: Bytes::default(),
            reads: said.runs.into_iter().map(run).collect(),
            peak_memory: said.peak,
        })
    }

    fn digest(&self, file: &str, timed: &mut TimedReads) -> Result<()> {
        let said = self.ask(&json!({"job": "digest", "from": file}))?;
        timed.digest = Bytes(said.digest.into_bytes());
        timed.cells = said.cells;
        Ok(())
    }

    /// Returns the command and environment of tdb.
    fn command(&self, arguments: &[&str], threads: usize) -> Result<(Vec<String>, Value)> {
        let (program, environment) = match self.format {
            Format::Csv => (std::env::current_exe()?, json!({ (tdb::VARIABLE): "whole" })),
            Format::Parquet => (full_program()?, json!({})),
        };
        let threads = threads.to_string();
        let program = program.to_str().ok_or("the program's path is not UTF-8")?;
        let command = [&[program], arguments, &["--threads", &threads]].concat();
        Ok((command.into_iter().map(str::to_owned).collect(), environment))
    }
}

impl Workload for Files {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn prepare(&mut self, bench: &mut Bench) -> Result<()> {
        self.python = tdb_reference::python("duckdb", &["duckdb"])?;
        self.array = bench.in_memory("table");
        make(&self.array, self.rows)?;
        let csv = bench.in_memory("rows.csv");
        tdb::run_into(&["read", &self.array, "--format", "csv"], Path::new(&csv))?;
        if self.format == Format::Parquet {
            self.ask(&json!({"job": "prepare", "from": csv, "to": self.source(bench)}))?;
            full_program()?;
        }
        // The speed counts the CSV size for both formats. Equal times yield equal speeds.
        self.bytes = fs::metadata(csv)?.len();
        Ok(())
    }

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let out = bench.in_memory(&format!("theirs.{}", self.ending()));
        let job = if self.way == Way::Out { "write" } else { "read" };
        let (threads, repeats, from) = (ask.threads, ask.repeats, self.source(bench));
        let said = self.ask(&json!({"job": job, "threads": threads, "repeats": repeats, "from": from, "to": out}))?;
        let mut timed = self.timed(said)?;
        if ask.digest {
            self.digest(if self.way == Way::Out { &out } else { &from }, &mut timed)?;
        }
        Ok(timed)
    }

    fn ours(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let source = self.source(bench);
        let out = bench.in_memory(&format!("ours.{}", self.ending()));
        let imported = bench.in_memory("imported");
        let (makes, prints, arguments) = match (self.way, self.format) {
            (Way::Out, Format::Csv) => (&out, true, vec!["read", &self.array, "--format", "csv"]),
            (Way::Out, Format::Parquet) => (&out, false, vec!["export", &self.array, &out]),
            (Way::In, _) => (&imported, false, vec!["import", &imported, &source, "--dimensions", "id"]),
        };
        let (command, environment) = self.command(&arguments, ask.threads)?;
        let mut timed = self.timed(self.ask(&json!({
            "job": "run", "repeats": ask.repeats, "command": command, "environment": environment, "makes": makes,
            "prints": prints,
        }))?)?;
        if ask.digest {
            let read = match self.way {
                Way::In => {
                    let back = bench.in_memory("back.csv");
                    tdb::run_into(&["read", &imported, "--format", "csv"], Path::new(&back))?;
                    back
                }
                Way::Out => out,
            };
            self.digest(&read, &mut timed)?;
        }
        Ok(timed)
    }

    fn finish(&mut self, bench: &mut Bench) -> Result<()> {
        for entry in fs::read_dir(bench.memory.path())? {
            let path = entry?.path();
            if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        Ok(())
    }
}

/// Creates a table of rows.
fn make(path: &str, rows: u64) -> Result<()> {
    let id = Dimension::new("id", 0i64..=1 << 50);
    let numbers = [("time", Datatype::Int64), ("price", Datatype::Float64), ("amount", Datatype::Float64)];
    let numbers = numbers.map(|(name, datatype)| Attribute::new(name, datatype));
    let strings =
        ["word", "place"].map(|name| Attribute::new(name, Datatype::StringUtf8).with_cell_val_num(CellValNum::Var));
    let builder = SchemaBuilder::sparse().dimension(id.with_tile(1i64 << 30));
    let schema = numbers.into_iter().chain(strings).fold(builder, SchemaBuilder::attribute).build()?;
    Array::create(path, schema)?;
    ArrayOptions::new().open(path)?.write().cells(new_cells(&columns(&TABLE, rows)))?;
    Ok(())
}

/// Builds the command with Parquet support from the second workspace, and returns its path.
fn full_program() -> Result<PathBuf> {
    let integrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "--quiet", "--package", "tdb-full", "--manifest-path"]);
    let status = cargo.arg(integrations.join("Cargo.toml")).status()?;
    if !status.success() {
        return Err(format!("cannot build tdb-full: {status}").into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| integrations.join("target"), PathBuf::from);
    Ok(target.join("release/tdb"))
}
