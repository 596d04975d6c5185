//! Tests of sparse files with a size of a terabyte. The command must report the problem within
//! little memory.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Copy;

const TERABYTE: u64 = 1 << 40;

/// KiB of address space for the command. Libraries and threads need some of it.
const ADDRESSES: &str = "3500000";

/// Runs the command with limited memory. Returns its exit code and output.
fn run(command: &[&str], path: &Path) -> (Option<i32>, String) {
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {ADDRESSES}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_tdb")])
        .args(command)
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(start.elapsed() < Duration::from_secs(20), "{command:?}: {:?}: {said}", start.elapsed());
    (output.status.code(), said)
}

fn stretch(path: &Path, size: u64) {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).unwrap().set_len(size).unwrap();
}

/// Checks that the command reports the file as damaged or too large.
fn is_refused(command: &[&str], path: &Path, file: &Path) {
    let (code, said) = run(command, path);
    assert!(matches!(code, Some(3 | 4)), "{command:?} ended with {code:?}: {said}");
    let name = file.file_name().unwrap().to_string_lossy();
    assert!(said.contains(&*name), "{command:?}: {said}");
}

/// Returns a copy of an array, whose first file with this path suffix is enlarged to a terabyte.
fn stretched(fixture: &str, end: &str) -> (Copy, PathBuf, PathBuf) {
    let copy = Copy::of(fixture);
    let array = copy.path().join("array");
    let file = copy.find("array", end);
    stretch(&file, TERABYTE);
    (copy, array, file)
}

#[test]
fn metadata_of_a_terabyte() {
    for fixture in ["v22-by-2.30.0-sparse-1d", "v2-by-1.5.1-dense"] {
        let (_copy, array, file) = stretched(fixture, "__fragment_metadata.tdb");
        if fixture.starts_with("v22") {
            use std::os::unix::fs::FileExt;
            let open = OpenOptions::new().write(true).open(&file).unwrap();
            open.write_all_at(&(TERABYTE - 8).to_le_bytes(), TERABYTE - 8).unwrap();
        }
        for command in [&["info"][..], &["fragments"], &["read"], &["read", "--explain"]] {
            is_refused(command, &array, &file);
        }
        is_refused(&["inspect"], &file, &file);
    }
}

#[test]
fn small_files_of_a_terabyte() {
    let (_copy, array, file) = stretched("v2-by-1.5.1-dense", "__array_schema.tdb");
    is_refused(&["info"], &array, &file);
    is_refused(&["inspect"], &file, &file);
    for end in ["con", "vac", "ign", "wrt", "del"] {
        let copy = Copy::of("v22-by-2.30.0-sparse-1d");
        let (array, file) = (copy.path().join("array"), copy.find("array", ".wrt").with_extension(end));
        stretch(&file, TERABYTE);
        is_refused(&["inspect"], &file, &file);
        match end {
            // Readers use only the name of this file.
            "wrt" => assert_eq!(run(&["info"], &array).0, Some(0)),
            _ => is_refused(&["read"], &array, &file),
        }
    }
    let copy = Copy::of("v22-by-2.30.0-group");
    let group = copy.path().join("group");
    let details = fs::read_dir(group.join("__group")).unwrap().next().unwrap().unwrap().path();
    stretch(&details, TERABYTE);
    is_refused(&["tree"], &group, &details);
    is_refused(&["inspect"], &details, &details);
    let metadata = group.join("__meta/__1_1_00000000000000000000000000000001");
    fs::create_dir_all(metadata.parent().unwrap()).unwrap();
    stretch(&metadata, TERABYTE);
    is_refused(&["inspect"], &metadata, &metadata);
}

/// Without fragment metadata, the command reads the tiles of a data file in sequence.
#[test]
fn data_files_of_a_terabyte_are_walked_a_little() {
    for many in [0, 7, u64::MAX, TERABYTE / 12 - 1] {
        let (copy, _, file) = stretched("v22-by-2.30.0-sparse-1d", "/a0.tdb");
        fs::remove_file(copy.find("array", "__fragment_metadata.tdb")).unwrap();
        fs::write(&file, many.to_le_bytes()).unwrap();
        stretch(&file, TERABYTE);
        let (code, said) = run(&["inspect"], &file);
        assert!(matches!(code, Some(0 | 3)), "{many}: {code:?} {said}");
        // The number of requested tiles does not matter.
        let (code, said) = run(&["inspect", "--tiles", "1000000000000"], &file);
        assert!(matches!(code, Some(0 | 3)), "{many}: {code:?} {said}");
    }
}
