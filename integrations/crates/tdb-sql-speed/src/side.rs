//! Sides: processes that answer queries.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::outcome::Result;
use crate::queries::Query;

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// DataFusion over the array.
    Array,
    /// DataFusion over Parquet.
    Parquet,
    /// DuckDB over Parquet.
    Duckdb,
    /// TileDB-Py's `df[]` with pandas.
    #[value(name = "tiledb")]
    Pandas,
}

impl Side {
    /// Returns the name of the side for the program and the script.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Rows and times of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Vec<Value>>,
    /// CPU seconds over all processors.
    pub(crate) cpu_seconds: f64,
    pub(crate) seconds: f64,
}

/// Location of the rows, with settings of the processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) python: &'a Path,
    pub(crate) threads: usize,
}

/// A running process of a side.
#[derive(Debug)]
pub(crate) struct Running {
    side: Side,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(side: Side, place: Place<'_>) -> Result<Self> {
        let mut command = match side {
            Side::Array | Side::Parquet => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("--answer").arg(side.word());
                command.arg("--folder").arg(place.folder).arg("--threads").arg(place.threads.to_string());
                command
            }
            Side::Duckdb | Side::Pandas => {
                let mut command = Command::new(place.python);
                command.args(["-W", "ignore", "-c", crate::data::SCRIPT, &side.word()]);
                command.arg(place.folder).arg(place.threads.to_string());
                command
            }
        };
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("a side has no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("a side has no output")?);
        Ok(Self { side, child, input, output })
    }

    pub(crate) fn ask(&mut self, query: &Query) -> Result<Answer> {
        let mut asked = query.frame.clone();
        asked["sql"] = match self.side {
            Side::Parquet | Side::Duckdb => json!(query.sql_of_parquet()),
            Side::Array | Side::Pandas => json!(query.sql),
        };
        writeln!(self.input, "{asked}")?;
        self.input.flush()?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(format!("{} ended: {}", self.side.word(), self.child.wait()?).into());
        }
        let said: Value = serde_json::from_str(&line)?;
        let seconds =
            |name: &str| said[name].as_f64().ok_or_else(|| format!("{}: the answer has no {name}", self.side.word()));
        let rows = said["rows"].as_array().ok_or("no rows")?.iter().map(|row| row.as_array().cloned());
        Ok(Answer {
            cpu_seconds: seconds("cpu_seconds")?,
            seconds: seconds("seconds")?,
            rows: rows.collect::<Option<_>>().ok_or("a row is not a list")?,
        })
    }

    /// Returns the peak memory of the process in bytes. Zero if unknown.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|kib| kib.parse().ok()).unwrap_or(0) * 1024
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process is idle or useless.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
