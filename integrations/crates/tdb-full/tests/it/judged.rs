//! Compares with TileDB-Py, pyarrow, pandas and DuckDB in both directions.

use std::process::Command;

fn judge(script: &str) {
    let python =
        std::env::var("TDB_PYTHON").expect("TDB_PYTHON: a Python with tiledb, pyarrow, pandas below 3 and duckdb");
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{}/tests/{script}", env!("CARGO_MANIFEST_DIR"));
    let run = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_tdb")).arg(folder.path()).status();
    assert!(run.unwrap().success());
}

#[test]
#[ignore = "needs TDB_PYTHON, a Python with tiledb, pyarrow, pandas below 3 and duckdb"]
fn arrays_of_the_reference_library_survive_export_and_import() {
    judge("exchange.py");
}

#[test]
#[ignore = "needs TDB_PYTHON, a Python with tiledb, pyarrow, pandas below 3 and duckdb"]
fn files_of_other_programs_import_or_are_refused_by_name() {
    judge("foreign.py");
}

#[cfg(feature = "sql")]
#[test]
#[ignore = "needs TDB_PYTHON, a Python with tiledb, pyarrow, pandas below 3 and duckdb"]
fn random_sql_matches_duckdb() {
    // `tdb sql` needs the program in the same folder.
    assert!(std::path::Path::new(env!("CARGO_BIN_EXE_tdb-sql")).is_file());
    judge("sql_judge.py");
}
