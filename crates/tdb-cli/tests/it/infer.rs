//! Tests that the output of `tdb read`, imported without a schema, reads as the same rows.

use std::fs;
use std::path::Path;

use crate::support::{places, run_on as run};
use serde_json::Value;
use tdb_testkit::fixtures;

/// Returns rows as JSON with members sorted by name.
fn rows(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = text
        .lines()
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row.sort_all_objects();
            row.to_string()
        })
        .collect();
    rows.sort_unstable();
    rows
}

/// The inferred datatype, the number of values, and the JSON cells of one attribute, for each
/// datatype.
const COLUMNS: &[(&str, &str, &str)] = &[
    ("int8", "1", r#"[-128,0,127]"#),
    ("int64", "1", r#"[-9223372036854775808,0,9223372036854775807]"#),
    ("uint64", "1", r#"[18446744073709551615,0,1]"#),
    ("uint16", r#""var""#, r#"[[1,2],[],[65535]]"#),
    ("int32", "2", r#"[[-1,2],[3,4],[5,6]]"#),
    ("float32", "1", r#"[0.1,-0.0,3.4028235e38]"#),
    ("float32", "1", r#"["NaN","inf",1e-45]"#),
    ("float64", "1", r#"["NaN","NaN","NaN"]"#),
    ("float64", r#""var""#, r#"[["NaN",1.5],[],["-inf",1e300]]"#),
    ("bool", "1", r#"[true,false,true]"#),
    ("bool", "1", r#"[true,false,7]"#),
    ("bool", r#""var""#, r#"[[true,false],[],[true,7]]"#),
    ("char", "1", r#"["a","b","c"]"#),
    ("char", r#""var""#, r#"["abc","",{"hex":"ff00"}]"#),
    ("string_ascii", r#""var""#, r#"["abc","","1"]"#),
    ("string_ascii", r#""var""#, r#"["abc",{"hex":"c3"},"2020-01-01"]"#),
    ("string_utf8", r#""var""#, r#"["Grüße","","日本"]"#),
    ("string_utf8", "3", r#"["a\u0000\u0000","abc","é\u0000"]"#),
    ("string_utf8", r#""var""#, r#"["1","NaN","true"]"#),
    ("string_utf8", r#""var""#, r#"["2020-01-01","NaT","007"]"#),
    ("string_utf16", r#""var""#, r#"["é","𝄞",""]"#),
    ("string_utf32", r#""var""#, r#"["é","𝄞",""]"#),
    ("string_ucs2", r#""var""#, r#"["é","a",""]"#),
    ("string_ucs4", r#""var""#, r#"["é","a",""]"#),
    ("blob", r#""var""#, r#"[{"hex":"ff00"},{"hex":""},{"hex":"6162"}]"#),
    ("blob", "2", r#"[{"hex":"ff00"},{"hex":"0000"},{"hex":"6162"}]"#),
    ("any", r#""var""#, r#"[{"hex":"ff00"},{"hex":""},{"hex":"6162"}]"#),
    ("geom_wkb", r#""var""#, r#"[{"hex":"ff00"},{"hex":""},{"hex":"6162"}]"#),
    ("geom_wkt", r#""var""#, r#"["POINT (1 2)","","LINESTRING (1 2)"]"#),
    ("datetime_year", "1", r#"["2020","1969","NaT"]"#),
    ("datetime_month", "1", r#"["2020-02","1969-12","NaT"]"#),
    ("datetime_week", "1", r#"["2020-01-02","1969-12-25","NaT"]"#),
    ("datetime_day", "1", r#"["2020-01-01","0001-02-03","NaT"]"#),
    ("datetime_year", "1", r#"["NaT","8030Y","-1971Y"]"#),
    ("datetime_sec", "1", r#"["NaT","253402300800s","9999-12-31T23:59:59"]"#),
    ("datetime_hr", "1", r#"["2020-01-01T10:00:00","70389528h","NaT"]"#),
    ("datetime_us", r#""var""#, r#"[["NaT"],[],["NaT"]]"#),
    ("datetime_hr", "1", r#"["2020-01-01T10:00:00","0001-02-03T00:00:00","NaT"]"#),
    ("datetime_min", "1", r#"["2020-01-01T10:01:00","9999-02-03T00:00:00","NaT"]"#),
    ("datetime_sec", "1", r#"["2020-01-01T10:01:02","9999-02-03T00:00:00","NaT"]"#),
    ("datetime_ms", "1", r#"["2020-01-01T10:01:02.003","9999-02-03T00:00:00.000","NaT"]"#),
    ("datetime_us", "1", r#"["2020-01-01T10:01:02.003000","0001-02-03T00:00:00.000000","NaT"]"#),
    ("datetime_ns", "1", r#"["2020-01-01T10:01:02.003000000","1969-02-03T00:00:00.000000001","NaT"]"#),
    ("datetime_ps", "1", r#"["1970-01-01T10:01:02.500000000000","1969-12-03T00:00:00.000000000001","NaT"]"#),
    ("datetime_fs", "1", r#"["1970-01-01T00:01:02.500000000000000","1969-12-31T23:00:00.000000000000001","NaT"]"#),
    (
        "datetime_as",
        "1",
        r#"["1970-01-01T00:00:09.000000000000000000","1970-01-01T00:00:02.000000000000000001","NaT"]"#,
    ),
    ("datetime_day", r#""var""#, r#"[["2020-01-01","NaT"],[],["1960-01-01"]]"#),
    ("datetime_ms", "2", r#"[["2020-01-01T10:01:02.003","NaT"],["NaT","NaT"],["1960-01-01T00:00:00.000","NaT"]]"#),
    ("time_hr", "1", r#"[1,2,-3]"#),
    ("time_as", r#""var""#, r#"[[1,2,-3],[],[9223372036854775807]]"#),
];

#[test]
fn every_type_is_told_by_its_cells() {
    let (_folder, [schema, file, first, again]) = places(["s.toml", "rows", "first", "again"]);
    for nulls in [false, true] {
        let head = "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int64\"\ndomain = [0, 9]\n";
        let (mut text, mut wanted) = (head.to_owned(), [0, 1, 2].map(|x| format!("{{\"x\":{x}")));
        for (index, (datatype, number, cells)) in COLUMNS.iter().enumerate() {
            text += &format!(
                "[[attribute]]\nname = \"{index} {datatype}\"\ndatatype = \"{datatype}\"\nvalues_per_cell = {number}\n\
                 nullable = {nulls}\n"
            );
            let cells: Vec<Value> = serde_json::from_str(cells).unwrap();
            for (place, (row, cell)) in wanted.iter_mut().zip(&cells).enumerate() {
                let cell = if nulls && place == index % 3 { &Value::Null } else { cell };
                *row += &format!(",\"{index} {datatype}\":{cell}");
            }
        }
        let wanted = wanted.join("}\n") + "}\n";
        fs::write(&schema, text).unwrap();
        fs::write(&file, &wanted).unwrap();
        run(&["import", "@", "@", "--format", "jsonl", "--schema", "@"], &[&first, &file, &schema]).exits(0);
        for format in ["jsonl", "csv"] {
            let read = |array: &Path| run(&["read", "@", "--format", format, "--order", "row-major"], &[array]).stdout;
            let printed = read(&first);
            if format == "jsonl" {
                for (printed, wanted) in printed.lines().zip(wanted.lines()) {
                    let [printed, wanted] = [printed, wanted].map(|row| serde_json::from_str::<Value>(row).unwrap());
                    for (name, cell) in wanted.as_object().unwrap() {
                        // NaT prints as null.
                        let is_no_time = name.contains("datetime") && cell == "NaT";
                        assert_eq!(&printed[name], if is_no_time { &Value::Null } else { cell }, "{name}");
                    }
                }
                assert_eq!(printed.lines().count(), 3);
            }
            fs::write(&file, &printed).unwrap();
            run(&["import", "@", "@", "--format", format, "--dimensions", "x"], &[&again, &file]).exits(0);
            let (again_printed, printed) = (read(&again), printed);
            for (again, printed) in again_printed.lines().zip(printed.lines()) {
                // Digits become numbers, whose empty cell is indistinguishable from null.
                assert_eq!(again.replace("\"\"", ""), printed.replace("\"\"", ""));
            }
            assert_eq!(again_printed.lines().count(), printed.lines().count());
            fs::remove_dir_all(&again).unwrap();
        }
        fs::remove_dir_all(&first).unwrap();
    }
}

/// Values without a common type are rejected before the array is created.
#[test]
fn columns_without_a_common_type_are_rejected() {
    let (_folder, [file, array]) = places(["rows.jsonl", "array"]);
    for (cells, told) in [
        (["[1]", "1"], "it contains both arrays and single values"),
        (["[\"a\"]", "[\"b\"]"], "it contains arrays whose values are not all numbers"),
        (["[300]", "[true]"], "it contains arrays whose values are not all numbers"),
        (["[256]", "[true]"], "it contains arrays whose values are not all numbers"),
        (["1", "\"a\""], ":1: a: 1 is not a valid string_utf8"),
        (["\"2020-01-01\"", "9"], ":2: a: 9 is not a valid string_utf8"),
        (["{\"index\":7}", "\"a\""], ":1: a: {\"index\":7} is not a valid string_utf8"),
    ] {
        fs::write(&file, format!("{{\"x\":1,\"a\":{}}}\n{{\"x\":2,\"a\":{}}}\n", cells[0], cells[1])).unwrap();
        let import = run(&["import", "@", "@", "--dimensions", "x"], &[&array, &file]);
        assert!(matches!(import.code, Some(1 | 2)) && import.stderr.contains(told), "{import}");
        assert!(!array.exists());
    }
}

#[test]
fn read_cells_are_imported_without_a_schema() {
    let (_folder, [file, again]) = places(["rows", "again"]);
    let (mut same, mut refused) = (0, Vec::new());
    for fixture in fixtures::all() {
        let name = fixture.name();
        if !name.starts_with("v22") || name.contains("encrypted") {
            continue;
        }
        let array = fixture.array_dir();
        let schema: Value = serde_json::from_str(&run(&["schema", "@", "--format", "json"], &[array]).stdout).unwrap();
        let names =
            schema["dimensions"].as_array().unwrap().iter().map(|dimension| dimension["name"].as_str().unwrap());
        let dimensions = names.collect::<Vec<_>>().join(",");
        let read = |array: &Path| run(&["read", "@", "--format", "jsonl"], &[array]).stdout;
        let printed = read(array);
        if printed.is_empty() {
            continue;
        }
        fs::write(&file, &printed).unwrap();
        let words = ["import", "@", "@", "--format", "jsonl", "--dimensions", &dimensions, "--allow-duplicates"];
        let import = run(&words, &[&again, &file]);
        if import.code == Some(0) {
            assert_eq!(rows(&read(&again)), rows(&printed), "{name}");
            same += 1;
        } else {
            assert!(!again.exists(), "{name}: {import}");
            refused.push(name.to_owned());
        }
        let _ = fs::remove_dir_all(&again);
    }
    assert!(same > 80, "{same}");
    // Indices without values, coordinates that are no text, arrays of text.
    assert_eq!(refused, ["v22-by-2.30.0-dense-enumerations", "v22-by-2.30.0-sparse-hilbert-strings"]);
}

/// Digits that a number would lose stay text.
#[test]
fn no_digit_is_lost() {
    let (_folder, [rows, array]) = places(["rows.csv", "array"]);
    let text = "x,digits,far,mixed,exact,inf\n\
                1,1234567890123456789012345678901234567890,1e400,9007199254740993,9007199254740992,inf\n\
                2,1,1,0.5,0.5,1.5\n";
    fs::write(&rows, text).unwrap();
    let schema = run(&["import", "@", "@", "--dimensions", "x", "--dry-run"], &[&array, &rows]).stdout;
    let types: Vec<&str> = schema.lines().filter_map(|line| line.strip_prefix("datatype = ")).collect();
    let text = "\"string_utf8\"";
    assert_eq!(types, ["\"int64\"", text, text, text, "\"float64\"", "\"float64\""], "{schema}");
}

/// The unit holds the digits of every date, in any order. A date within the last second of a unit
/// stays text.
#[test]
fn the_unit_of_dates_fits_all_values() {
    let (_folder, [file, array]) = places(["rows.csv", "array"]);
    let text = "x,a,b\n1,2020-01-01T10:00:00.5,2262-04-11T23:47:16.900000000\n\
                2,2020-01-01T10:00:00,2262-04-11T23:47:16.900000001\n";
    fs::write(&file, text).unwrap();
    run(&["import", "@", "@", "--dimensions", "x"], &[&array, &file]).exits(0);
    let read = run(&["read", "@", "--order", "row-major", "--format", "csv"], &[&array]).stdout;
    assert_eq!(read, text.replace("00.5,", "00.500,").replace("00:00,", "00:00.000,"));
}
