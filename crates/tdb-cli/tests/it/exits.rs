//! Tests that provoked errors have the exit codes documented in `docs/reference/cli.md`.

use std::fs;

use crate::support::run_in as run;

const SCHEMA: &str = "array_type = \"sparse\"\n[[dimension]]\nname = \"x\"\ndatatype = \"int32\"\ndomain = [1, 100]\n\
                      current_domain = [1, 10]\n[[attribute]]\nname = \"a\"\ndatatype = \"int32\"\nnullable = true\n\
                      [[attribute]]\nname = \"s\"\ndatatype = \"string_ascii\"\nvalues_per_cell = \"var\"\n\
                      [[attribute]]\nname = \"p\"\ndatatype = \"int32\"\nvalues_per_cell = 2\n";

/// Returns a folder with an array `@/a`, a group `@/g`, and invalid files.
fn bench() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 12] = [
        ("schema.toml", SCHEMA.as_bytes()),
        ("unknown.toml", b"array_type = \"sparse\"\ncolour = 1\n"),
        ("broken.toml", b"array_type = \"sparse\n"),
        ("binary.toml", b"array_type = \"\xff\"\n"),
        ("nothing.toml", b""),
        ("good.csv", b"x,a,s,p\n1,2,t,\"[1,2]\"\n"),
        ("twice.csv", b"x,a,x\n1,2,3\n"),
        ("header.csv", b"x,\xff\n1,2\n"),
        ("binary.csv", b"x,a,s,p\n1,2,\xff,\"[1,2]\"\n"),
        ("same.csv", b"x,a\n1,2\n1,3\n"),
        ("zeros.csv", b"x,a\n0.0,1\n1.5,2\n-0.0,3\n"),
        ("rows.dat", b"x,a\n1,2\n"),
    ];
    for (name, contents) in files {
        fs::write(folder.path().join(name), contents).unwrap();
    }
    for line in ["create @/a --schema @/schema.toml", "group create @/g", "import @/a @/good.csv"] {
        run(folder.path(), line).exits(0);
    }
    folder
}

/// Command lines, with expected exit code and part of the message.
const CASES: &[(&str, i32, &str)] = &[
    // Wrong use.
    ("frobnicate", 2, "no command and no path"),
    ("sql", 2, "cargo install --path integrations/crates/tdb-full"),
    ("create @/a --schema @/schema.toml", 2, "an array already exists"),
    ("create @/b --schema @/unknown.toml", 2, "unknown.toml:2:1: unknown field `colour`"),
    ("create @/b --schema @/broken.toml", 2, "broken.toml:1:"),
    ("create @/b --schema @/binary.toml", 2, "binary.toml: invalid TOML: not UTF-8"),
    ("create @/b --schema @/schema.toml --format-version 99", 2, "99"),
    ("import @/a @/rows.dat", 2, "--format csv"),
    ("import @/a @/twice.csv", 2, "two columns are named \"x\""),
    ("import @/a @/header.csv", 2, "the header is not UTF-8"),
    ("import @/a @/rows.dat --format csv", 2, "no column for field \"s\""),
    ("import @/b @/rows.dat --format csv", 2, "--dimensions"),
    ("import @/a @/good.csv --dimensions x", 2, "the array already exists"),
    ("evolve @/a", 2, "--add"),
    ("evolve @/a --add @/nothing.toml", 2, "expected an attribute or an enumeration"),
    ("evolve @/a --drop b", 2, "no such attribute"),
    ("evolve @/a --expand x=1..10", 2, "already the current domain"),
    ("evolve @/a --expand x=1..5", 2, "can only be expanded"),
    ("evolve @/a --expand x=5..", 2, "--expand x=5..: expected both ends: write DIMENSION=FIRST..LAST"),
    ("evolve @/a --expand x=1..soon", 2, "--expand x=1..soon: \"soon\" is not a valid value of int32"),
    ("evolve @/a --expand x=1..20 --expand x=1..30", 2, "--expand x=1..30: dimension \"x\" already has a range"),
    ("read @/a --format jsonl --null NA", 2, "leave out the option null, or choose CSV"),
    ("agg @/a --count --null NA --format json", 2, "leave out the option null, or choose CSV"),
    ("delete @/a", 2, "--where"),
    ("delete @/a --where 'b == 1'", 2, "unknown field \"b\""),
    ("delete @/a --where 'a == one'", 2, "not a value of int32"),
    ("delete @/a --where 'a == null'", 2, "write IS NULL"),
    ("delete @/a --where 's is not null'", 2, "cannot store"),
    ("delete @/a --where 'p == 1'", 2, "cannot be compared"),
    ("delete @/a --where 'a == 1 and'", 2, "character 11: expected the name of a field, found the end"),
    ("read @/a --where 'b == 1'", 2, "character 1: unknown field \"b\"; expected one of x"),
    ("read @/a --where 'a > 3 or a in (1, two)'", 2, "character 19: \"two\" is not a value of int32"),
    ("read @/a --where 'a > 3 or'", 2, "docs/reference/conditions.md"),
    ("read @/a --where 'a is null'", 0, ""),
    ("read @/a --fill", 2, "--where"),
    ("meta @/a", 0, ""),
    ("meta @/a --put title", 2, "KEY=TYPE:VALUE"),
    ("meta @/a --put n=int8:300", 2, "not a valid value of int8"),
    ("group add @/g", 2, "<MEMBER>"),
    ("group create @/g", 2, "already exists"),
    // Findings.
    ("import @/a @/binary.csv", 1, "binary.csv:2: not UTF-8"),
    ("import @/b @/same.csv --dimensions x", 1, "same.csv:3: repeats the coordinates of line 2"),
    ("import @/b @/zeros.csv --dimensions x", 1, "zeros.csv:4: repeats the coordinates of line 2"),
    // Missing objects, and objects of another kind.
    ("tree @", 5, "not a group, but a folder"),
    ("group add @/a b", 5, "not a group"),
    ("group add @/g nothing", 5, "no array or group"),
    ("group add @/g @/nothing --absolute", 5, "not found"),
    ("group remove @/g nothing", 5, "no such member"),
    ("meta @/a --delete title", 5, "no metadata key is named \"title\""),
    ("create @/b --schema @/nothing", 5, "not found"),
    ("import @/a @/nothing.csv", 5, "not found"),
    ("inspect @/nothing", 5, "not found"),
    // Unsupported by this build.
    ("read gs://bucket/array", 4, "cargo install --path integrations/crates/tdb-full"),
    ("read az://bucket/array", 4, "az"),
    ("read https://host/array", 4, "https"),
    ("read s4://bucket/array", 4, "./s4://bucket/array"),
    ("import @/b @/cells.parquet", 4, "cargo install --path integrations/crates/tdb-full"),
    ("import @/b @/cells.arrow", 4, "imports .csv, .jsonl only"),
];

#[test]
fn errors_have_the_codes_that_the_manual_promises() {
    let folder = bench();
    for (line, code, says) in CASES {
        let run = run(folder.path(), line).exits(*code).says(says);
        assert!(!folder.path().join("b").exists(), "{run}");
    }
    run(folder.path(), "read @/a --format csv").prints("x,a,s,p\n1,2,t,\"[1,2]\"\n");
}

#[test]
fn errors_of_schemas_show_the_line() {
    let folder = bench();
    fs::write(folder.path().join("reversed.toml"), SCHEMA.replace("[1, 100]\n", "[100, 1]\n")).unwrap();
    let run = run(folder.path(), "create @/b --schema @/reversed.toml").exits(2);
    let shown = run.stderr.replace(&*folder.path().to_string_lossy(), "@");
    assert_eq!(
        shown,
        "tdb: error: @/reversed.toml:5:10: dimension \"x\": lower bound 100 is above upper bound 1\n  \
           5 | domain = [100, 1]\n    |          ^^^^^^^^\n\
         tdb: hint: see docs/reference/schema-text.md for the syntax of a schema\n"
    );
}
