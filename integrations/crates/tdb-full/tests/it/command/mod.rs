//! Runs the command, and writes files for it.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;

pub(crate) fn tdb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tdb")).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs the command, checks the exit code, and returns the output.
pub(crate) fn told(words: &[&str], code: i32) -> String {
    let run = tdb(words);
    let all = text(&run.stdout) + &text(&run.stderr);
    assert_eq!(run.status.code(), Some(code), "{words:?}: {all}");
    all
}

/// Runs the command successfully, and returns the standard output.
pub(crate) fn stdout(words: &[&str]) -> String {
    let run = tdb(words);
    assert!(run.status.success(), "{words:?}: {}", text(&run.stderr));
    text(&run.stdout)
}

/// Writes batches to a file. The extension selects the format.
pub(crate) fn write(file: &Path, batches: &[RecordBatch]) -> PathBuf {
    let schema = batches[0].schema();
    let out = File::create(file).unwrap();
    match file.extension().unwrap().to_str().unwrap() {
        "parquet" => {
            let mut writer = ArrowWriter::try_new(out, schema, None).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        "arrows" => {
            let mut writer = StreamWriter::try_new(out, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let mut writer = FileWriter::try_new(out, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
    }
    file.to_owned()
}
