//! Runs `tdb sql`.
#![cfg(feature = "sql")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use crate::command::{path, stdout as rows, tdb, text, write};
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int32Array, RecordBatch};
use tdb_testkit::fixtures::{self, Fixture};

/// An array of two integer dimensions, an `int32` attribute `a` and a string `s`.
const SPARSE: &str = "v22-by-2.30.0-sparse-2d";

/// Returns a fixture and the path of its array, which exists as long as the fixture.
fn unpacked(name: &str) -> (Fixture, String) {
    let fixture = fixtures::named(name);
    let array = path(fixture.array_dir()).to_owned();
    (fixture, array)
}

fn with_input(arguments: &[&str], input: &str) -> Output {
    // `tdb sql` needs the program in the same folder.
    assert!(Path::new(env!("CARGO_BIN_EXE_tdb-sql")).is_file());
    let mut command = Command::new(env!("CARGO_BIN_EXE_tdb"));
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Returns the exit code and the error output.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = tdb(arguments);
    assert_eq!(text(&output.stdout), "");
    (output.status.code().unwrap(), text(&output.stderr))
}

#[test]
fn statement_returns_the_cells_of_read() {
    let (_fixture, array) = unpacked(SPARSE);
    for format in ["csv", "jsonl", "json"] {
        let select = format!("SELECT y, x, a, s FROM '{array}' WHERE y BETWEEN 0 AND 3 ORDER BY y, x");
        let by_sql = rows(&["sql", &select, "--format", format]);
        let some = ["--select", "y,x,a,s", "--range", "y=0..=3", "--order", "row-major"];
        let by_read = rows(&[&["read", &array, "--format", format][..], &some].concat());
        assert_eq!(by_sql, by_read, "{format}");
        assert!(by_sql.lines().count() > 3);
    }
}

/// Values with a declared type of integers or dates, but of other lengths, are binary in SQL.
#[test]
fn enumeration_values_with_partial_elements_are_binary() {
    for datatype in ["int32", "datetime_day"] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let schema = format!(
            "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int32\"\ndomain = [0, 9]\n\
             [[attribute]]\nname = \"a\"\ndatatype = \"uint8\"\nenumeration = \"e\"\n\
             [[enumeration]]\nname = \"e\"\ndatatype = \"{datatype}\"\nvalues_per_value = \"var\"\n\
             values = [{{ hex = \"6162\" }}, {{ hex = \"636465\" }}]\n"
        );
        fs::write(path("schema.toml"), schema).unwrap();
        let cells = "{\"x\":1,\"a\":{\"hex\":\"6162\"}}\n{\"x\":2,\"a\":{\"hex\":\"636465\"}}\n{\"x\":3,\"a\":{\"hex\":\"6162\"}}\n";
        fs::write(path("cells.jsonl"), cells).unwrap();
        rows(&["import", &path("array"), &path("cells.jsonl"), "--schema", &path("schema.toml")]);
        let select = format!("SELECT a, count(*) AS n FROM '{}' GROUP BY a ORDER BY a", path("array"));
        assert_eq!(rows(&["sql", &select, "--format", "csv"]), "a,n\n6162,2\n636465,1\n", "{datatype}");
        let select = format!("SELECT x FROM '{}' WHERE a = X'636465'", path("array"));
        assert_eq!(rows(&["sql", &select, "--format", "csv"]), "x\n2\n", "{datatype}");
    }
}

#[test]
fn statements_come_from_files_and_pipes() {
    let (_fixture, array) = unpacked(SPARSE);
    let statements = format!("-- two of them\nSELECT count(*) AS n FROM '{array}'; SELECT ';' AS s;");
    let expected = "n\n68\ns\n;\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queries.sql");
    fs::write(&file, &statements).unwrap();
    assert_eq!(rows(&["sql", "-f", file.to_str().unwrap(), "--format", "csv"]), expected);
    for arguments in [&["sql", "--format", "csv"][..], &["sql", "--format", "csv", "-f", "-"]] {
        assert_eq!(text(&with_input(arguments, &statements).stdout), expected);
    }
    assert_eq!(rows(&["sql", &statements, "--format", "csv"]), expected);
    // Stops at the first failure.
    let output = with_input(&["sql", "--format", "csv"], "SELECT 1 AS a; SELECT b; SELECT 2");
    assert_eq!(text(&output.stdout), "a\n1\n");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn statement_files_are_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queries.sql");
    let run = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        tdb(&["sql", "-f", file.to_str().unwrap(), "--format", "csv"])
    };
    assert_eq!(text(&run(b"\xef\xbb\xbfSELECT 1 AS a").stdout), "a\n1\n");
    for (bytes, place) in [
        (
            &b"SELECT 1 AS a;\nSELECT '\xe4'"[..],
            ":2: cannot read statements: expected UTF-8 at byte 9 of the line, found byte 0xe4",
        ),
        (b"\xff\xfeS\0", ":1: cannot read statements: expected UTF-8 at byte 1 of the line, found byte 0xff"),
    ] {
        let output = run(bytes);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{said}");
        assert!(said.contains(&format!("{}{place}", file.display())), "{said}");
    }
}

#[test]
fn unknown_schemes_are_errors() {
    for statement in [
        "SELECT * FROM 's4://bucket/x'",
        "SELECT * FROM 's4://bucket/x@2024-05-01'",
        "SELECT * FROM 's4://bucket/x.parquet'",
        "SELECT * FROM tdb_schema('s4://bucket/x')",
        "CREATE EXTERNAL TABLE t STORED AS TILEDB LOCATION 's4://bucket/x'",
        "CREATE EXTERNAL TABLE t (x INT NOT NULL) STORED AS TILEDB LOCATION 's4://bucket/x' OPTIONS ('dimensions' 'x')",
        "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 's4://bucket/x'",
        "COPY (SELECT 1 AS x) TO 's4://bucket/x' STORED AS TILEDB OPTIONS ('dimensions' 'x')",
        "COPY (SELECT 1 AS x) TO 's4://bucket/x.parquet'",
    ] {
        let (_, said) = refused(&["sql", statement]);
        assert!(said.contains("s4:// is not a known scheme"), "{statement}: {said}");
    }
    assert_eq!(refused(&["sql", "SELECT * FROM 's4://bucket/x'"]).0, 4);
    assert!(!Path::new("s4:").exists());
}

#[test]
fn folder_named_like_a_uri_opens_by_path() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["s4:x", "s4://x"] {
        let path = format!("{}/{name}", folder.path().display());
        rows(&["sql", &format!("COPY (SELECT 7 AS x) TO '{path}' STORED AS TILEDB OPTIONS ('dimensions' 'x')")]);
        assert_eq!(rows(&["sql", &format!("SELECT x FROM '{path}'"), "--format", "csv"]), "x\n7\n");
    }
    let mut from_there = Command::new(env!("CARGO_BIN_EXE_tdb"));
    let from_there = from_there.current_dir(folder.path()).args(["sql", "SELECT x FROM './s4://x'", "--format", "csv"]);
    assert_eq!(text(&from_there.output().unwrap().stdout), "x\n7\n");
}

#[test]
fn nulls_in_not_null_columns_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}/t", folder.path().display());
    let create = format!(
        "CREATE EXTERNAL TABLE t (x INT NOT NULL, a INT NOT NULL) STORED AS TILEDB LOCATION '{path}' OPTIONS ('dimensions' 'x')"
    );
    rows(&["sql", &create]);
    let (exit, said) = refused(&["sql", &format!("INSERT INTO '{path}' (x, a) VALUES (1, 1), (2, NULL)")]);
    assert!(exit == 2 && said.contains("value 2 of a row of VALUES is NULL, but its column is NOT NULL"), "{said}");
    let (exit, said) = refused(&["sql", &format!("INSERT INTO '{path}' (x) VALUES (1)")]);
    assert!(exit == 2 && said.contains("column \"a\" is NOT NULL"), "{said}");
    assert_eq!(rows(&["sql", &format!("SELECT count(*) AS n FROM '{path}'"), "--format", "csv"]), "n\n0\n");
}

#[test]
fn columns_use_the_last_part_of_a_path() {
    let (_fixture, array) = unpacked(SPARSE);
    let found = rows(&["sql", &format!("SELECT min(y), max(a + 1) FROM '{array}'"), "--format", "csv"]);
    assert!(found.starts_with("min(array.y),max(array.a + Int64(1))\n"), "{found}");
    let (_, said) = refused(&["sql", &format!("SELECT z FROM '{array}'")]);
    assert!(said.contains("array.y") && !said.contains(&format!("{array}.y")), "{said}");
    // Two tables with the same last path part keep their paths.
    let folder = tempfile::tempdir().unwrap();
    let other = format!("{}/array", folder.path().display());
    rows(&["copy", &array, &other]);
    let both = rows(&["sql", &format!("SELECT count(*) AS n FROM '{array}', '{other}' LIMIT 1"), "--format", "csv"]);
    assert!(both.starts_with("n\n"), "{both}");
    let named = rows(&["sql", &format!("SELECT min(\"{array}\".y) AS y FROM '{array}'"), "--format", "csv"]);
    assert!(named.starts_with("y\n"), "{named}");
    // The hint for an ambiguous column works.
    let (_, said) = refused(&["sql", &format!("SELECT y FROM '{array}', '{other}'")]);
    assert!(said.contains("hint: give each table a name"), "{said}");
    let (_, said) = refused(&["sql", &format!("SELECT y FROM '{array}' AS a JOIN '{array}' AS b ON a.x = b.x")]);
    assert!(said.contains("hint: write a.y or b.y"), "{said}");
    rows(&["sql", &format!("SELECT a.y FROM '{array}' AS a JOIN '{array}' AS b ON a.x = b.x")]);
}

#[test]
fn times_without_a_text_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}/t", folder.path().display());
    let copy = "SELECT 1 AS x, arrow_cast(arrow_cast(9000000000000000, 'Int64'), 'Timestamp(Second, None)') AS far";
    rows(&["sql", &format!("COPY ({copy}) TO '{path}' STORED AS TILEDB OPTIONS ('dimensions' 'x')")]);
    for format in ["csv", "jsonl", "json"] {
        let output = tdb(&["sql", &format!("SELECT far FROM '{path}'"), "--format", format]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains("column \"far\": the date or time 9000000000000000 has no text form"), "{said}");
        assert!(said.contains("hint: use CAST"), "{said}");
    }
    let number = rows(&["sql", &format!("SELECT CAST(far AS BIGINT) AS far FROM '{path}'"), "--format", "csv"]);
    assert_eq!(number, "far\n9000000000000000\n");
}

/// Arrow cannot read dictionaries of booleans from Parquet files, and panics.
#[test]
fn dictionaries_of_booleans_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b.parquet");
    let keys = Int32Array::from(vec![0, 1, 0]);
    let values = Arc::new(BooleanArray::from(vec![true, false]));
    let column: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    let batch = RecordBatch::try_from_iter([("b", column)]).unwrap();
    write(&file, &[batch]);
    for sql in [
        format!("SELECT b, count(*) FROM '{}' GROUP BY b", file.display()),
        format!("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '{}'", file.display()),
    ] {
        let (exit, said) = refused(&["sql", &sql]);
        assert!(exit == 2 && said.contains("column \"b\" has dictionaries of booleans"), "{said}");
    }
}

/// Each operator of a chain is an operand of the next.
#[test]
fn long_chains_run_and_longer_ones_are_refused() {
    let chain = |term: &str, operator: &str, count: usize| vec![term; count].join(operator);
    let any = (0..1000).map(|value| format!("v = {value}")).collect::<Vec<_>>().join(" OR ");
    for (select, result) in [
        (format!("{} AS n FROM (VALUES (1)) AS t(v)", chain("v", " + ", 300)), 300),
        (format!("count(*) AS n FROM (VALUES (1), (999), (1000)) AS t(v) WHERE {any}"), 2),
        (format!("length({}) AS n FROM (VALUES ('a')) AS t(v)", chain("v", " || ", 300)), 300),
        (format!("count(*) AS n FROM ({})", chain("SELECT 1, 2", " UNION ALL ", 300)), 300),
    ] {
        let output = with_input(&["sql", "--format", "csv"], &format!("SELECT {select}"));
        assert_eq!(text(&output.stdout), format!("n\n{result}\n"), "{}", text(&output.stderr));
    }
    for (sql, said) in [
        (format!("SELECT {}", chain("1", " + ", 100_000)), "chains more than 10000 operators"),
        (format!("SELECT 1 WHERE {}", chain("true", " AND ", 100_000)), "chains more than 10000 operators"),
        (chain("SELECT 1, 2", " UNION ALL ", 10_000), "combines more than 2000 queries or tables"),
        (format!("SELECT 1 FROM {}", chain("a", " JOIN ", 10_000)), "combines more than 2000 queries or tables"),
    ] {
        let output = with_input(&["sql"], &sql);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
}

#[test]
fn overflow_is_an_error_with_a_hint() {
    let (exit, said) = refused(&["sql", "SELECT v * v FROM (VALUES (4611686018427387904)) AS t(v)"]);
    assert_eq!(exit, 2, "{said}");
    assert!(said.contains("overflow") && said.contains("hint: "), "{said}");
    let off = ["--set", "datafusion.execution.enable_ansi_mode=false", "--format", "csv"];
    let sum = "SELECT sum(v) AS s FROM (VALUES (9223372036854775807), (1)) AS t(v)";
    assert_eq!(rows(&[&["sql", sum][..], &off].concat()), "s\n-9223372036854775808\n");
    let (exit, said) = refused(&["sql", sum]);
    assert!(exit == 2 && said.contains("9223372036854775808 exceeds Int64"), "{said}");
}

#[test]
fn errors_show_the_position() {
    let (_fixture, array) = unpacked(SPARSE);
    let (exit, said) = refused(&["sql", &format!("SELECT y,\n  z\nFROM '{array}'")]);
    assert_eq!(exit, 2);
    assert!(said.contains("  2 |   z") && said.contains("    |   ^"), "{said}");
    let (exit, said) = refused(&["sql", "SELEC 1"]);
    assert_eq!(exit, 2);
    assert!(said.contains("  1 | SELEC 1") && said.contains("    | ^"), "{said}");
    let (exit, said) = refused(&["sql", "SELECT v, cluster FROM (VALUES (1, 2)) AS t(v, cluster)"]);
    assert_eq!(exit, 2);
    assert!(said.contains("if cluster is a name, write it in double quotes"), "{said}");
    let (exit, said) = refused(&["sql", "SELECT 1 +"]);
    assert_eq!(exit, 2);
    assert!(said.contains("    |           ^"), "{said}");
    let (exit, said) = refused(&["sql", "SELECT * FROM 'no/such/array'"]);
    assert!(exit == 2 || exit == 5, "{exit} {said}");
    assert!(said.contains("no/such/array"), "{said}");
    let (exit, said) = refused(&["sql", "SELECT 1", "--set", "datafusion.no.such=1"]);
    assert_eq!(exit, 2, "{said}");
    let (exit, said) = refused(&["sql", "SELECT 1", "--memory", "much"]);
    assert_eq!(exit, 2, "{said}");
}

#[test]
fn errors_name_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.sql");
    fs::write(&file, "SELECT 1;\n\nSELECT no_column FROM (VALUES (1)) AS t(a);\n").unwrap();
    let output = tdb(&["sql", "-f", file.to_str().unwrap(), "--format", "csv"]);
    let said = text(&output.stderr);
    assert!(said.contains("q.sql:3: "), "{said}");
    assert!(said.contains("  3 | SELECT no_column"), "{said}");
}

#[test]
fn too_little_memory_is_an_error() {
    // A join keeps one side in memory. Sorts and aggregations spill to files.
    let series = |name: &str| format!("generate_series(1, 300000) AS {name}(v)");
    let join = format!("SELECT count(*) AS n FROM {} JOIN {} ON a.v = b.v", series("a"), series("b"));
    let groups = format!("SELECT count(*) AS n FROM (SELECT v || 'x' AS w FROM {} GROUP BY w)", series("a"));
    let settings = ["--memory", "1MiB", "--threads", "1"];
    let (exit, said) = refused(&[&["sql", &join][..], &settings].concat());
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("--memory"), "{said}");
    let spilled = rows(&[&["sql", &groups, "--format", "csv"][..], &settings].concat());
    assert_eq!(spilled, "n\n300000\n");
}

#[test]
fn scans_leave_memory_for_the_rest_of_a_query() {
    let (_fixture, array) = unpacked(SPARSE);
    // Three scans of two partitions each, with aggregation and sort.
    let query = format!(
        "SELECT one.y, count(*) AS n FROM '{array}' AS one JOIN '{array}' AS two ON one.s = two.s JOIN '{array}' AS three ON \
         two.y = three.y GROUP BY one.y ORDER BY n, one.y"
    );
    let little = rows(&["sql", &query, "--memory", "32MiB", "--threads", "2", "--format", "csv"]);
    assert_eq!(little, rows(&["sql", &query, "--format", "csv"]));
}

#[test]
fn times_and_groups() {
    let (_fixture, array) = unpacked(SPARSE);
    let count = format!("SELECT count(*) AS n FROM '{array}'");
    // The second fragment was written a second later.
    let early = rows(&["sql", &count, "--at", "2023-11-14T22:13:20Z", "--format", "csv"]);
    assert_ne!(early, rows(&["sql", &count, "--format", "csv"]));
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("cohort");
    let group = group.to_str().unwrap();
    rows(&["group", "create", group]);
    rows(&["copy", &array, &format!("{group}/calls")]);
    rows(&["group", "add", group, "calls"]);
    for table in ["calls", "cohort.public.calls"] {
        let found = rows(&["sql", &format!("SELECT count(*) AS n FROM {table}"), "--group", group, "--format", "csv"]);
        assert_eq!(found, "n\n68\n");
    }
    // Does not decode the name.
    rows(&["copy", &array, &format!("{group}/my%20calls")]);
    rows(&["group", "add", group, "my%20calls"]);
    let found = rows(&["sql", "SELECT count(*) AS n FROM \"my%20calls\"", "--group", group, "--format", "csv"]);
    assert_eq!(found, "n\n68\n");
    let shown = rows(&["sql", "SHOW TABLES", "--group", &format!("g={group}"), "--format", "jsonl"]);
    assert!(shown.contains(r#""table_catalog":"g""#) && shown.contains(r#""table_name":"calls""#), "{shown}");
}

#[test]
fn missing_wrong_and_unneeded_keys_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("key");
    fs::write(&wrong, "0".repeat(64)).unwrap();
    let wrong = wrong.to_str().unwrap();
    let [(_secret, secret), (_plain, plain)] = ["v15-by-2.11.3-sparse-encrypted", SPARSE].map(unpacked);
    let [secret, plain] = [secret, plain].map(|array| format!("SELECT * FROM '{array}'"));
    let (exit, said) = refused(&["sql", &secret]);
    assert!(exit == 6 && said.contains("no key was given") && said.contains("--key-file FILE"), "{said}");
    let (exit, said) = refused(&["sql", "--key-file", wrong, &secret]);
    assert!(exit == 6 && said.contains("cannot decrypt with the given key"), "{said}");
    let (exit, said) = refused(&["sql", "--key-file", wrong, &plain]);
    assert!(exit == 6 && said.contains("do not pass a key") && said.contains("hint: leave out `--key-file`"), "{said}");
}

#[test]
fn arrays_by_path_are_never_dropped() {
    let (_fixture, array) = unpacked(SPARSE);
    let (exit, said) = refused(&["sql", &format!("DROP TABLE '{array}'")]);
    assert_eq!(exit, 2, "{said}");
    assert!(said.contains("`tdb remove`"), "{said}");
    assert!(Path::new(&array).join("__schema").is_dir());
}

#[test]
fn statistics_of_no_rows_are_right() {
    let (_fixture, array) = unpacked(SPARSE);
    let before = format!("SELECT count(*) AS n, sum(a) AS s, min(a) AS m FROM '{array}@2001-01-01'");
    assert_eq!(rows(&["sql", &before, "--format", "jsonl"]), "{\"n\":0,\"s\":null,\"m\":null}\n");
    let alone = format!("SELECT sum(a) AS s FROM '{array}@2001-01-01'");
    assert_eq!(rows(&["sql", &alone, "--format", "jsonl"]), "{\"s\":null}\n");
}

#[test]
fn plans_are_not_truncated() {
    let (_fixture, array) = unpacked(SPARSE);
    let explain = format!("EXPLAIN SELECT max(s) FROM '{array}' WHERE y > 3");
    let plans = rows(&["sql", &explain, "--format", "table"]);
    assert!(plans.starts_with("logical plan\n  Aggregate: "), "{plans}");
    assert!(plans.contains("\nphysical plan\n") && plans.contains("DataSourceExec"), "{plans}");
    let steering = "EXPLAIN SELECT v FROM (VALUES (1)) AS t(v) WHERE v || chr(27) <> '\u{1b}[31m'";
    assert!(!rows(&["sql", steering, "--format", "table"]).contains('\u{1b}'));
    assert!(rows(&["sql", &explain, "--format", "jsonl"]).starts_with(r#"{"plan_type":"logical_plan","plan":"#));
}

#[test]
fn help_and_stats() {
    let help = rows(&["sql", "--help"]);
    assert!(help.contains("--scheduler") && help.contains("tdb_fragments"), "{help}");
    assert!(help.contains("Usage: tdb sql [OPTIONS]"), "{help}");
    let (_fixture, array) = unpacked(SPARSE);
    let output = tdb(&["--stats", "sql", &format!("SELECT sum(a) FROM '{array}'")]);
    assert!(text(&output.stderr).contains("files opened"), "{}", text(&output.stderr));
}
