//! Tests of `tdb inspect` on every kind of file, intact and damaged.

use crate::support;

use std::fs;

use crate::support::{Copy, Key, Transcript, tdb};
use insta::assert_snapshot;
use tdb_testkit::fixtures;

/// Inspects the first file of a fixture whose path ends with `end`.
fn inspect(fixture: &str, end: &str, options: &[&str]) -> support::Run {
    let files = fixtures::named(fixture).files();
    let (file, _) =
        files.iter().find(|(path, _)| path.ends_with(end)).unwrap_or_else(|| panic!("no {end} in {fixture}"));
    tdb(["inspect", &format!("{fixture}/{file}")].iter().chain(options))
}

/// Returns the first file in a folder of a fixture.
fn first_in(fixture: &str, folder: &str) -> &'static str {
    let names = fixtures::named(fixture).files().below(folder).map(|(path, _)| path);
    names.filter(|path| !path.contains('/')).min().unwrap()
}

#[test]
fn schema() {
    let mut seen = Transcript::default();
    let name = first_in("v22-by-2.30.0-sparse-1d", "array/__schema");
    seen.add(inspect("v22-by-2.30.0-sparse-1d", name, &[]));
    seen.add(inspect("v22-by-2.30.0-sparse-1d", name, &["--format", "json"]));
    assert_snapshot!("schema", seen);
}

#[test]
fn enumeration() {
    let fixture = "v22-by-2.30.0-dense-enumerations";
    let name = first_in(fixture, "array/__schema/__enumerations");
    assert_snapshot!("enumeration", inspect(fixture, name, &[]));
}

#[test]
fn fragment_metadata() {
    assert_snapshot!("fragment_metadata", inspect("v22-by-2.30.0-dense-1d", "__fragment_metadata.tdb", &[]));
}

#[test]
fn data_files() {
    let mut seen = Transcript::default();
    seen.add(inspect("v22-by-2.30.0-dense-1d", "a0.tdb", &[]));
    seen.add(inspect("v22-by-2.30.0-sparse-2d", "a1_var.tdb", &["--tiles", "2"]));
    seen.add(inspect("v22-by-2.30.0-sparse-2d", "a1.tdb", &["--tiles", "1"]));
    assert_snapshot!("data_files", seen);
}

#[test]
fn commits() {
    let mut seen = Transcript::default();
    seen.add(inspect("v22-by-2.30.0-sparse-1d", ".wrt", &[]));
    seen.add(inspect("v22-by-2.30.0-sparse-deletes", ".del", &[]));
    seen.add(inspect("v22-by-2.30.0-sparse-consolidated-commits", ".con", &[]));
    seen.add(inspect("v22-by-2.30.0-sparse-consolidated", ".vac", &[]));
    seen.add(inspect("v22-by-2.30.0-sparse-consolidated-footers", ".meta", &[]));
    assert_snapshot!("commits", seen);
}

#[test]
fn metadata_and_groups() {
    let mut seen = Transcript::default();
    let name = first_in("v22-by-2.30.0-dense-metadata", "array/__meta");
    seen.add(inspect("v22-by-2.30.0-dense-metadata", name, &[]));
    let name = first_in("v22-by-2.30.0-group", "group/__group");
    seen.add(inspect("v22-by-2.30.0-group", name, &[]));
    assert_snapshot!("metadata_and_groups", seen);
}

/// Every file of every fixture can be inspected, and each parsed byte is shown unchanged.
#[test]
fn every_file_of_every_fixture() {
    for fixture in fixtures::all() {
        let key = fixture.expected().encryption_key.map(|key| Key::new(key.as_bytes()));
        let key: Vec<String> = key.iter().flat_map(Key::words).collect();
        for path in fixture.array_files() {
            let file = fixture.array_dir().join(path);
            let mut words: Vec<&std::ffi::OsStr> =
                ["inspect", "--format", "json", "--tiles", "100000"].map(AsRef::as_ref).into();
            words.push(file.as_os_str());
            words.extend(key.iter().map(AsRef::<std::ffi::OsStr>::as_ref));
            let run = tdb(words);
            assert_eq!(run.code, Some(0), "{}: {path}: {}", fixture.name(), run.stderr);
            let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            assert_ne!(report["kind"], "unknown", "{path}");
            let bytes = fixture.read(path);
            assert_eq!(report["size"], bytes.len());
            check_bytes(&report, &bytes, path);
        }
    }
}

/// Checks the bytes of each field against the file, and that the fields cover the file.
fn check_bytes(report: &serde_json::Value, bytes: &[u8], path: &str) {
    let mut covered = vec![false; bytes.len()];
    for field in report["fields"].as_array().unwrap() {
        let hex = field["bytes"].as_str().unwrap();
        if field["space"] != "file" || hex.is_empty() {
            continue;
        }
        let (offset, length) = (field["offset"].as_u64().unwrap() as usize, field["length"].as_u64().unwrap() as usize);
        let shown = tdb_types::hex::decode(hex).unwrap();
        assert_eq!(shown, bytes[offset..offset + shown.len()], "{path} at {offset:#x}");
        covered[offset..offset + length].fill(true);
    }
    let gap = covered.iter().position(|covered| !covered);
    assert_eq!(gap, None, "{path}: a byte that no field shows");
}

#[test]
fn damaged_files_show_what_precedes_the_damage() {
    let mut seen = Transcript::default();
    let copy = Copy::of("v22-by-2.30.0-sparse-1d");
    let name = first_in("v22-by-2.30.0-sparse-1d", "array/__schema");
    let schema = copy.find("array", name);
    let whole = fs::read(&schema).unwrap();
    let relative = format!("array/__schema/{name}");
    fs::write(&schema, &whole[..40]).unwrap();
    seen.add(copy.run("inspect", &relative, ""));
    seen.add(copy.run("inspect", &relative, "--format json"));
    let mut altered = whole.clone();
    *altered.last_mut().unwrap() ^= 1;
    fs::write(&schema, &altered).unwrap();
    copy.run("inspect", &relative, "").exits(3).shows("persisted size");
    assert_snapshot!("damaged_files_show_what_precedes_the_damage", seen);
}

#[test]
fn fragment_metadata_without_its_footer() {
    let copy = Copy::of("v22-by-2.30.0-dense-1d");
    let file = copy.find("array", "__fragment_metadata.tdb");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 8]).unwrap();
    let relative = file.strip_prefix(copy.path()).unwrap().to_str().unwrap().to_owned();
    copy.run("inspect", &relative, "").exits(3).shows("shown as generic tiles").shows("filter pipeline");
}

#[test]
fn data_files_without_metadata() {
    let copy = Copy::of("v22-by-2.30.0-dense-1d");
    fs::remove_file(copy.find("array", "__fragment_metadata.tdb")).unwrap();
    let data = copy.find("array", "a0.tdb");
    let relative = data.strip_prefix(copy.path()).unwrap().to_str().unwrap().to_owned();
    copy.run("inspect", &relative, "").exits(0).shows("tiles are read in stored order").shows("tile 0");
    let bytes = fs::read(&data).unwrap();
    fs::write(&data, &bytes[..bytes.len() - 1]).unwrap();
    copy.run("inspect", &relative, "").exits(3);
}

#[test]
fn files_that_the_format_does_not_know() {
    let copy = Copy::of("v22-by-2.30.0-dense-1d");
    fs::write(copy.path().join("notes.txt"), "twenty-one bytes long").unwrap();
    assert_snapshot!("unknown", copy.run("inspect", "notes.txt", ""));
    fs::write(copy.path().join("empty"), "").unwrap();
    assert_eq!(copy.run("inspect", "empty", "").code, Some(0));
    assert_eq!(copy.run("inspect", "array", "").code, Some(5));
}
