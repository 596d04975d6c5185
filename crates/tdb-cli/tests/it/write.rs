//! Tests of commands that create and change arrays and groups.

use std::fs;
use std::path::Path;

use crate::support::{Run, good_on, places, run_in, run_on};

const SCHEMA: &str = r#"
array_type = "sparse"

[[dimension]]
name = "row"
datatype = "int32"
domain = [1, 100]
current_domain = [1, 10]

[[attribute]]
name = "colour"
datatype = "uint8"
enumeration = "colours"

[[enumeration]]
name = "colours"
datatype = "string_utf8"
values_per_value = "var"
values = ["red"]
"#;

/// A working folder with a schema.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("schema.toml"), SCHEMA).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the words of a line. Replaces `@` by the folder.
    fn run(&self, line: &str) -> Run {
        run_in(self.path(), line)
    }

    fn good(&self, line: &str) -> String {
        let run = self.run(line).quiet();
        run.stdout
    }

    fn bad(&self, line: &str, code: i32, says: &str) {
        self.run(line).exits(code).says(says);
    }
}

#[test]
fn an_array_is_made_and_evolves() {
    let bench = Bench::new();
    bench.good("create @/a --schema @/schema.toml");
    let text = bench.good("schema @/a --format toml");
    fs::write(bench.path().join("again.toml"), &text).unwrap();
    bench.good("create @/b --schema @/again.toml");
    assert_eq!(bench.good("schema @/b --format toml"), text);
    bench.bad("create @/c --schema @/schema.toml --format-version 12", 2, "format version 12 is too old");
    assert!(!bench.path().join("c").exists());

    fs::write(bench.path().join("more.toml"), "[[attribute]]\nname = \"size\"\ndatatype = \"float32\"\n").unwrap();
    bench.good("evolve @/a --add @/more.toml --extend colours=green --expand row=1..50");
    let text = bench.good("schema @/a --format toml");
    for line in ["name = \"size\"", "values = [\"red\", \"green\"]", "current_domain = [1, 50]"] {
        assert!(text.contains(line), "{text}");
    }
    bench.good("evolve @/a --drop size");
    assert!(!bench.good("schema @/a --format toml").contains("size"));
    bench.bad("evolve @/a --extend colours=red", 2, "is a duplicate");
    bench.good("delete @/a --where colour==red");
    bench.bad("delete @/a --where colour==blue", 2, "not among the values");
    bench.run("delete @/a --fragments 2024-01-01..2024-12-31").exits(0).says("nothing was deleted");
    assert_eq!(bench.good("read @/a"), "");
}

#[test]
fn commands_without_sync_store_the_same_cells() {
    let bench = Bench::new();
    fs::write(bench.path().join("cells.csv"), "row,colour\n5,red\n7,red\n").unwrap();
    let read_after = |array: &str, option: &str| {
        for line in ["create A --schema @/schema.toml", "import A @/cells.csv", "import A @/cells.csv"] {
            bench.run(&format!("{} {option}", line.replace('A', array))).exits(0);
        }
        for command in ["consolidate", "vacuum"] {
            bench.run(&format!("{option} {command} {array}")).exits(0);
        }
        bench.good(&format!("read {array} --format csv"))
    };
    assert_eq!(read_after("@/a", "--no-sync"), read_after("@/b", "--skip-damaged"));
}

#[test]
fn an_array_without_a_current_domain_gets_one() {
    let bench = Bench::new();
    let schema = SCHEMA.replace("current_domain = [1, 10]\n", "")
        + "\n[[dimension]]\nname = \"name\"\ndatatype = \"string_ascii\"\n";
    fs::write(bench.path().join("whole.toml"), schema).unwrap();
    bench.good("create @/a --schema @/whole.toml --format-version 20");
    fs::write(bench.path().join("cells.csv"), "row,name,colour\n5,a,red\n50,a,red\n").unwrap();
    assert_eq!(bench.run("import @/a @/cells.csv").code, Some(0));
    bench.bad("evolve @/a --expand row=1..10", 2, "add --expand name=FIRST..LAST");
    bench.bad("evolve @/a --expand row=0..10 --expand name=a..z", 2, "within the domain");
    bench.bad("evolve @/a --expand row=10..1 --expand name=a..z", 2, "within the domain");
    bench.good("evolve @/a --expand row=1..10 --expand name=a..z");
    let text = bench.good("schema @/a --format toml");
    for line in ["format_version = 22", "current_domain = [1, 10]", "current_domain = [\"a\", \"z\"]"] {
        assert!(text.contains(line), "{text}");
    }
    // The result agrees with the reference library.
    assert_eq!(bench.good("read @/a --format csv"), "row,name,colour\n5,a,red\n");
    bench.good("evolve @/a --expand row=1..100");
    assert_eq!(bench.good("read @/a --format csv").lines().count(), 3);
}

#[test]
fn values_of_an_enumeration_that_end_within_an_integer_are_shown_as_bytes() {
    let bench = Bench::new();
    let schema = SCHEMA
        .replace("\"string_utf8\"", "\"int32\"")
        .replace("[\"red\"]", "[{ hex = \"6161\" }, { hex = \"01000000\" }, { hex = \"626263\" }]");
    fs::write(bench.path().join("uneven.toml"), schema).unwrap();
    bench.good("create @/a --schema @/uneven.toml");
    let values = "{\"index\":0,\"value\":{\"hex\":\"6161\"}}\n{\"index\":1,\"value\":[1]}\n\
                  {\"index\":2,\"value\":{\"hex\":\"626263\"}}\n";
    assert_eq!(bench.good("enumerations @/a colours"), values);
    assert!(bench.good("enumerations @/a colours --format csv").contains("0,\"{\"\"hex\"\":\"\"6161\"\"}\"\n"));
    assert!(bench.good("schema @/a --format text").contains("{\"hex\":\"626263\"}"));
    let json: String = bench.good("schema @/a --format json").split_whitespace().collect();
    assert!(json.contains("\"values\":[{\"hex\":\"6161\"},[1],{\"hex\":\"626263\"}]"), "{json}");
    bench.bad("read @/a --where colour==aa", 2, "\"aa\" is not a value of int32");
    bench.run("verify @/a").exits(1).shows("has 2 bytes, expected a multiple of 4 bytes of int32");
    for value in ["bb", "7"] {
        let refused =
            "value 0 of 2 bytes is not a whole number of values of int32; add an enumeration of another datatype";
        bench.bad(&format!("evolve @/a --extend colours={value}"), 2, refused);
    }
    let cells = "row,colour\n5,\"{\"\"hex\"\":\"\"6161\"\"}\"\n6,[1]\n7,\"{\"\"hex\"\":\"\"626263\"\"}\"\n";
    fs::write(bench.path().join("cells.csv"), cells).unwrap();
    assert_eq!(bench.run("import @/a @/cells.csv").code, Some(0));
    assert_eq!(bench.good("read @/a --format csv"), cells);
    fs::write(bench.path().join("cells.jsonl"), bench.good("read @/a --format jsonl")).unwrap();
    assert_eq!(bench.run("import @/b @/cells.jsonl --schema @/uneven.toml").code, Some(0));
    assert_eq!(bench.good("read @/b --format csv"), cells);
    fs::write(bench.path().join("other.csv"), cells.replace("6161", "6162")).unwrap();
    bench.bad("import @/a @/other.csv", 1, "is not a value of enumeration \"colours\"");
}

#[test]
fn verify_reports_values_of_an_enumeration_of_booleans_that_are_neither() {
    let bench = Bench::new();
    let schema = SCHEMA.replace("\"string_utf8\"", "\"bool\"").replace("[\"red\"]", "[true, { hex = \"02\" }]");
    let schema = schema.replace("values_per_value = \"var\"\n", "");
    fs::write(bench.path().join("odd.toml"), schema).unwrap();
    bench.good("create @/a --schema @/odd.toml");
    bench.run("verify @/a").exits(1).shows("expected 0 or 1, found bytes [2]");
}

#[test]
fn integers_beyond_63_bits_need_no_quotation_marks() {
    let bench = Bench::new();
    let schema = SCHEMA.replace("\"int32\"", "\"uint64\"").replace("[1, 10]", "[1, 18446744073709551000]");
    let plain = schema.replace("[1, 100]", "[0, 18446744073709551000]\ntile_extent = 9223372036854775808");
    for (name, text) in [("plain", &plain), ("large", &plain.replace("9551000]", "9551616]"))] {
        fs::write(bench.path().join(name), text).unwrap();
    }
    bench.good("create @/a --schema @/plain");
    assert!(bench.good("schema @/a --format toml").contains("domain = [0, \"18446744073709551000\"]"));
    bench.bad(
        "create @/b --schema @/large",
        2,
        "18446744073709551616 is out of range: expected an integer from -2^63 to 2^64 - 1",
    );
}

#[test]
fn metadata_is_put_and_deleted() {
    let bench = Bench::new();
    bench.good("create @/a --schema @/schema.toml --timestamp 10");
    bench.good("meta @/a --put title=string_utf8:Rain --put limits=float64:0.5,2 --timestamp 20");
    bench.good("meta @/a --put title=string_utf8:Snow --delete limits --timestamp 30");
    assert!(bench.good("meta @/a --at 20").contains("[0.5,2"));
    let now = bench.good("meta @/a");
    assert!(now.contains("Snow") && !now.contains("limits"), "{now}");
}

#[test]
fn groups_are_made_and_changed() {
    let bench = Bench::new();
    bench.good("group create @/g");
    bench.good("create @/g/inner --schema @/schema.toml");
    bench.good("create @/outer --schema @/schema.toml");
    bench.good("group add @/g inner --name first");
    bench.good("group add @/g @/outer --absolute");
    let tree = bench.good("tree @/g --format jsonl");
    assert!(tree.contains("first") && tree.contains("outer"), "{tree}");
    bench.bad("group add @/g inner --name first", 2, "already exists");
    bench.good("group remove @/g first");
    bench.good("meta @/g --put title=string_utf8:Rain");
    assert!(bench.good("meta @/g").contains("Rain"));
}

#[test]
fn what_was_left_behind_is_found_and_removed() {
    let bench = Bench::new();
    bench.good("create @/a --schema @/schema.toml");
    assert_eq!(bench.good("doctor @/a"), "");
    fs::create_dir(bench.path().join("a/__fragments/__1_1_0123456789abcdef0123456789abcdef_22")).unwrap();
    fs::write(bench.path().join("a/.tdb-1-2.tmp"), "half").unwrap();
    let run = bench.run("doctor @/a");
    assert_eq!((run.code, run.stdout.lines().count()), (Some(1), 2), "{run}");
    bench.bad("doctor @/a --fix", 1, "if no write is in progress");
    bench.good("doctor @/a --fix --older-than 0s");
    assert_eq!(bench.good("doctor @/a"), "");
}

/// A delete on a field that was added later would delete all older cells. It must be requested
/// explicitly.
#[test]
fn deletes_by_a_later_field_need_an_option() {
    let (_folder, [array, rows, more]) = places(["array", "rows.csv", "more.toml"]);
    fs::write(&rows, "x,name\n1,a b\n2,\"c\"\n").unwrap();
    let words = |words: &[&str]| run_on(words, &[&array]);
    good_on(&["import", "@", "@", "--dimensions", "x"], &[&array, &rows]);
    fs::write(&more, "[[attribute]]\nname = \"score\"\ndatatype = \"int32\"\nfill = 7\n").unwrap();
    good_on(&["evolve", "@", "--add", "@"], &[&array, &more]);
    words(&["delete", "@", "--where", "score == 3"]).exits(2);
    words(&["delete", "@", "--where", "'name' == c"]).exits(2);
    let cells = || words(&["read", "@", "--format", "csv", "--select", "x"]).stdout;
    assert_eq!(cells(), "x\n1\n2\n");
    let quoted = words(&["delete", "@", "--where", "name == \"c\""]);
    assert_eq!((quoted.code, cells().as_str()), (Some(0), "x\n1\n"), "{quoted}");
    let all = words(&["delete", "@", "--where", "score == 3", "--without-field-too"]);
    assert_eq!((all.code, cells().as_str()), (Some(0), "x\n"), "{all}");
}
