//! What programs add: this test is such a program, and runs itself.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

use std::env;
use std::io::Write;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use tdb_cli::clap::{self, ArgMatches};
use tdb_cli::tdb_storage::{Storage, StorageError};
use tdb_cli::{Context, Exit, Export, Extensions, Failure, FileFormat, FileOption, FurtherCommand, Result};

/// Says that the process is to be the program.
const PROGRAM: &str = "TDB_TEST_PROGRAM";

fn main() -> ExitCode {
    if env::var_os(PROGRAM).is_some() {
        return program();
    }
    arrays_are_opened_by_uris();
    commands_are_added();
    files_are_added();
    println!("extensions: ok");
    ExitCode::SUCCESS
}

fn program() -> ExitCode {
    let open = |uri: &str| -> Result<Arc<dyn Storage>, StorageError> {
        Ok(tdb_testkit::fixtures::named(uri.strip_prefix("fixture://").unwrap()).array_storage())
    };
    tdb_cli::run(Extensions::new().storage("fixture", open).command(CountCells).format(OnlyCounts))
}

/// A further command.
struct CountCells;

impl FurtherCommand for CountCells {
    fn command(&self) -> clap::Command {
        clap::Command::new("count").about("Count cells").arg(clap::Arg::new("array").required(true))
    }

    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()> {
        let array = context.open_array(matches.get_one::<String>("array").unwrap().as_ref())?;
        let mut cells = 0;
        for batch in array.read().batches()? {
            cells += batch?.len();
        }
        println!("{cells}");
        match cells {
            0 => Err(Failure::new(Exit::Finding, "there are none")),
            _ => Ok(()),
        }
    }
}

/// Files with the number of cells.
struct OnlyCounts;

impl FileFormat for OnlyCounts {
    fn endings(&self) -> &'static [&'static str] {
        &["count"]
    }

    fn options(&self) -> &'static [FileOption] {
        &[FileOption { name: "unit", what: "what stands behind the number" }]
    }

    fn export(&self, mut export: Export<'_>) -> Result<u64> {
        let unit = export.option("unit").unwrap_or("cells").to_owned();
        let mut cells = 0;
        for batch in export.query.batches()? {
            cells += batch?.len() as u64;
        }
        writeln!(export.file, "{cells} {unit}")?;
        Ok(cells)
    }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env::current_exe().unwrap()).args(arguments).env(PROGRAM, "1").output().unwrap()
}

fn told(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

const ARRAY: &str = "fixture://v22-by-2.30.0-sparse-2d";

fn arrays_are_opened_by_uris() {
    assert!(told(&["read", ARRAY, "--format", "csv"]).lines().count() > 10);
    assert!(told(&["schema", ARRAY]).contains("sparse"));
    // Nobody is sent to a fuller program: this may be it.
    let other = run(&["read", "s3://bucket/array"]);
    assert_eq!(other.status.code(), Some(4));
    assert!(!String::from_utf8_lossy(&other.stderr).contains("cargo install"));
}

fn commands_are_added() {
    let lines = told(&["read", ARRAY, "--format", "csv"]).lines().count() - 1;
    assert_eq!(told(&["count", ARRAY]).trim().parse(), Ok(lines));
    assert!(told(&["--help"]).contains("Count cells") && told(&["completions", "bash"]).contains("count"));
    assert_eq!(run(&["count"]).status.code(), Some(2));
}

fn files_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cells.count");
    told(&["export", ARRAY, file.to_str().unwrap(), "--option", "unit=rows"]);
    let lines = told(&["read", ARRAY, "--format", "csv"]).lines().count() - 1;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{lines} rows\n"));
}
