//! Runs each example, and compares its output with the expected text.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Returns the path of an array or a group in `fixtures/`.
fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(format!("v22-by-2.30.0-{path}"))
}

/// Runs an example. `cargo test` builds the examples in a folder next to the folder of the tests.
fn run(name: &str, arguments: &[&str]) -> Output {
    let test = env::current_exe().unwrap();
    let mut program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    program.set_extension(env::consts::EXE_EXTENSION);
    let output = Command::new(&program).args(arguments).output();
    output.unwrap_or_else(|error| {
        panic!("{}: {error}; run `cargo test -p tdb-library` without --test", program.display())
    })
}

/// Runs an example, which must succeed, and compares the lines of its output.
fn expect(name: &str, arguments: &[&str], expected: &[&str]) {
    let output = run(name, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "{name}: {errors}");
}

/// Runs an example with a fixture as the first argument.
fn expect_of(name: &str, path: &str, arguments: &[&str], expected: &[&str]) {
    let path = fixture(path);
    expect(name, &[&[path.to_str().unwrap()], arguments].concat(), expected);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn every_example_has_a_test() {
    let tests = include_str!("main.rs");
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(tests.contains(&format!("(\"{name}\", ")), "no test runs the example {name}");
    }
}

#[test]
fn read_prints_schema_and_first_cells() {
    let expected = [
        "sparse array, format 22",
        "dimension y: int32",
        "dimension x: int32",
        "attribute a: int32",
        "attribute s: string_utf8",
        "y=-10 x=24 a=24 s=w",
        "y=-10 x=27 a=27 s=w",
        "y=-9 x=14 a=44 s=djf",
        "y=-9 x=17 a=47 s=ew",
        "y=-9 x=18 a=48 s=tky",
        "y=-8 x=22 a=82 s=",
        "y=-8 x=28 a=88 s=ctf",
        "y=-7 x=7 a=97 s=m",
        "y=-7 x=28 a=118 s=tl",
        "y=-5 x=2 a=152 s=",
    ];
    expect_of("read", "sparse-2d/array", &[], &expected);
}

#[test]
fn write_supersedes_cells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let expected =
        ["3 cells written", "2 cells written", "position 20: depth 9, base T", "position 30: depth 1, base G"];
    expect("write", &[path.to_str().unwrap()], &expected);
}

#[test]
fn raster_has_the_shape_of_the_selection() {
    let expected = [
        "center: 5 x 6",
        "[12, 13, 14, 15, 16, 17]",
        "[1000, 1001, 1002, 1003, 1004, 1005]",
        "[1007, 1008, 1009, 1010, 1011, 1012]",
        "[1014, 1015, 1016, 1017, 1018, 1019]",
        "[52, 53, 54, 55, 56, 57]",
        "each third cell: 3 x 4",
        "[0, 3, 6, 9]",
        "[30, 1008, 1011, 39]",
        "[60, 63, 66, 69]",
    ];
    expect_of("raster", "dense-2d-row-row/array", &[], &expected);
}

#[test]
fn time_series_keeps_the_past() {
    let expected = [
        "as of 2024-05-03, from 2 fragments",
        "2024-05-01T06:00:00 8.5",
        "2024-05-01T12:00:00 31.0",
        "2024-05-01T18:00:00 14.0",
        "as of 2024-05-04, from 3 fragments",
        "2024-05-01T06:00:00 8.5",
        "2024-05-01T12:00:00 21.0",
        "2024-05-01T18:00:00 14.0",
    ];
    expect("time_series", &[], &expected);
}

#[test]
fn variants_are_selected_by_region_and_quality() {
    let expected = ["chr1:10177 A>AC quality 31.5", "chr1:10352 T>TA quality 44", "chr2:20466 G>A quality 55.25"];
    expect("variants", &[], &expected);
}

#[test]
fn pages_have_the_requested_number_of_cells() {
    let expected = [
        "10 tiles, 3000 bytes to read",
        "page 1: 25 cells in 566 bytes",
        "page 2: 25 cells in 579 bytes",
        "page 3: 18 cells in 425 bytes",
    ];
    expect_of("pages", "sparse-2d/array", &["25"], &expected);
}

#[test]
fn follow_reads_only_new_fragments() {
    let expected = [
        "poll 1: 2 new fragments",
        "new hours: [24, 30, 36, 42]",
        "poll 2: 2 new fragments",
        "new hours: [48, 54, 60, 66]",
        "poll 3: 2 new fragments",
        "new hours: [72, 78, 84, 90]",
        "6 fragments in total",
    ];
    expect("follow", &[], &expected);
}

#[test]
fn verify_store_accepts_a_sound_group() {
    let expected =
        ["a group: group", "third: 0 fragments, 0 findings, 0 notes", "two: 0 fragments, 0 findings, 0 notes"];
    expect_of("verify_store", "group/group", &[], &expected);
}

#[test]
fn verify_store_reports_a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("group");
    tdb::Group::create(&group).unwrap();
    copy(&fixture("sparse-2d/array"), &group.join("array"));
    tdb::Group::open(&group).unwrap().change().add("array", true, None).commit().unwrap();
    let fragment = "array/__fragments/__1700000000000_1700000000000_36e52f8dde87923033e39f1520f8cc0d_22";
    fs::remove_file(group.join(fragment).join("a0.tdb")).unwrap();

    let group = group.to_str().unwrap();
    let output = run("verify_store", &[group]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let slashes = |text: &str| text.replace('\\', "/");
    let printed = slashes(&String::from_utf8(output.stdout).unwrap()).replace(&slashes(group), "GROUP");
    let (data, metadata) = (format!("GROUP/{fragment}/a0.tdb"), format!("GROUP/{fragment}/__fragment_metadata.tdb"));
    let expected = [
        "array: 2 fragments, 2 findings, 0 notes".to_owned(),
        format!("finding: {data}: unreadable: missing: expected 340 bytes according to the metadata"),
        format!("finding: {metadata}: field \"a\": unreadable: {data}: not found"),
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn fragment_tiles_prints_the_mbr_of_each_tile() {
    let expected = [
        "fragment of 1700000000000 ms, format 22, 7 tiles",
        "tile 0: 8 cells in [-10, -5] × [5, 27]",
        "tile 1: 8 cells in [-7, 1] × [2, 28]",
        "tile 2: 8 cells in [-3, 1] × [7, 23]",
        "tile 3: 8 cells in [-2, 6] × [1, 29]",
        "tile 4: 8 cells in [2, 6] × [11, 24]",
        "tile 5: 8 cells in [2, 9] × [2, 29]",
        "tile 6: 2 cells in [9, 9] × [27, 29]",
        "fragment of 1700000001000 ms, format 22, 3 tiles",
        "tile 0: 8 cells in [-9, -2] × [2, 28]",
        "tile 1: 8 cells in [-2, 6] × [0, 29]",
        "tile 2: 4 cells in [5, 8] × [15, 26]",
    ];
    expect_of("fragment_tiles", "sparse-2d/array", &[], &expected);
}

#[test]
fn custom_storage_records_the_opened_files() {
    let expected = [
        "9 cells",
        "1 x __1795175090115_1795175090115_00000002029cd6a76c136ce0736f0890",
        "2 x __fragment_metadata.tdb",
        "2 x a0.tdb",
        "2 x d0.tdb",
        "2 x d1.tdb",
    ];
    expect_of("custom_storage", "sparse-2d/array", &[], &expected);
}

#[test]
fn aggregates_cover_matching_cells() {
    let expected = [
        "count Some(12), mean Some(325.25), max Some(578)",
        "y -7: count 1, sum 97",
        "y -5: count 2, sum 313",
        "y -4: count 1, sum 183",
        "y -2: count 1, sum 247",
        "y -1: count 2, sum 550",
        "y 4: count 1, sum 422",
        "y 6: count 2, sum 967",
        "y 8: count 1, sum 546",
        "y 9: count 1, sum 578",
    ];
    expect_of("aggregates", "sparse-2d/array", &[], &expected);
}

#[test]
fn update_keeps_the_visible_cells() {
    let expected = [
        "overwritten: [(1, 10), (2, 25), (3, 30), (4, 0)], fragments: 2",
        "deleted: [(1, 10), (2, 25), (3, 30)], fragments: 2",
        "consolidated 2 fragments into 1",
        "vacuumed 5 files and folders, kept 0",
        "maintained: [(1, 10), (2, 25), (3, 30)], fragments: 1",
    ];
    expect("update", &[], &expected);
}

#[test]
fn evolve_reads_old_and_new_cells() {
    let expected = [
        "all parts",
        "part 1: red, weight None",
        "part 2: green, weight None",
        "part 3: blue, weight Some(2.5)",
        "blue parts",
        "part 3: blue, weight Some(2.5)",
    ];
    expect("evolve", &[], &expected);
}

#[test]
fn group_lists_members_and_metadata() {
    let expected = [
        "title: \"Survey of the valley\"",
        "year: 2024",
        "array \"heights\" at heights: int16",
        "array \"slopes in degrees\" at slopes: float32",
    ];
    expect("group", &[], &expected);
}
