//! Runs each example, and compares its output with the expected text.

use std::env;
use std::path::Path;
use std::process::Command;

/// Runs an example with an array of `fixtures/`, which must succeed. Returns its output.
///
/// `cargo test` builds the examples in a folder next to the folder of the tests.
fn run(name: &str, array: &str, arguments: &[&str]) -> String {
    let test = env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples").join(name);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures");
    let output = Command::new(&program).arg(fixtures.join(array)).args(arguments).output().unwrap_or_else(|error| {
        panic!("{}: {error}; run `cargo test -p tdb-datafusion` without --test", program.display())
    });
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";

#[test]
fn record_batches_hold_the_matching_cells() {
    let expected = "\
y: Int32
x: Int32
a: Int32
s: LargeUtf8
9 2 572 a
9 8 578 gzfamp
9 27 597 goez
9 29 599 jghtpw
";
    assert_eq!(run("record_batches", SPARSE, &["a > 570"]), expected);
}

#[test]
fn ndarray_has_the_shape_of_the_window() {
    let expected = "\
[[11, 12, 13, 14, 15, 16, 17, 18],
 [21, 1000, 1001, 1002, 1003, 1004, 1005, 1006],
 [31, 1007, 1008, 1009, 1010, 1011, 1012, 1013],
 [41, 1014, 1015, 1016, 1017, 1018, 1019, 1020],
 [51, 52, 53, 54, 55, 56, 57, 58]]
sums of rows: [116, 7042, 7101, 7160, 436]
";
    assert_eq!(run("ndarray", "v22-by-2.30.0-dense-2d-row-row/array", &[]), expected);
}

#[test]
fn sql_groups_cells() {
    let expected = "\
+-------+-----+------+
| cells | low | high |
+-------+-----+------+
| 19    | 336 | 476  |
+-------+-----+------+
+---+-------+-------+
| y | cells | total |
+---+-------+-------+
| 6 | 7     | 3438  |
| 8 | 5     | 2772  |
| 1 | 7     | 2442  |
+---+-------+-------+
";
    assert_eq!(run("sql", SPARSE, &[]), expected);
}
