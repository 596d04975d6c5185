//! Tests of names with control characters, cyclic links, and foreign or missing files.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use tdb_array::{Array, MetadataValue};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype, FormatVersion};

use crate::support::{Copy, Key, Run, good_on, places, run_in, run_on, tdb};

const HOSTILE: &str = "na\u{1b}[31mme\n2";

/// Returns a group of a release before 2.8, with a member named [`HOSTILE`].
fn hostile_group() -> Copy {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    fs::write(copy.path().join("__tiledb_group.tdb"), b"").unwrap();
    fs::rename(copy.path().join("array"), copy.path().join(HOSTILE)).unwrap();
    copy
}

impl Run {
    /// Asserts that the output cannot steer the terminal.
    fn tame(self) -> Self {
        let is_tame = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n');
        assert!(is_tame(&self.stdout) && is_tame(&self.stderr), "{self}");
        self
    }
}

#[test]
fn names_cannot_steer_the_terminal() {
    let copy = hostile_group();
    for command in ["tree --format table", "ls --format table", "info", ""] {
        copy.run(command, "", "").exits(0).tame().shows(r"na\u{1b}[31mme\n2");
    }
    for command in ["info", "schema", "fragments --format table", "read --explain", "read --format table"] {
        copy.run(command, HOSTILE, "").exits(0).tame();
    }
    // An error, a hint, and a warning.
    for (path, code) in [(format!("{HOSTILE}/__schema"), 5), (HOSTILE.replace("me", "mee"), 5)] {
        let run = copy.run("read", &path, "").exits(code).tame().says(r"na\u{1b}[31mme");
        assert_eq!(run.stderr.lines().count(), 2, "{run}");
    }
    fs::remove_file(copy.find(HOSTILE, "__fragment_metadata.tdb")).unwrap();
    let run = copy.run("info", HOSTILE, "--skip-damaged").exits(1).tame();
    assert_eq!(run.stderr.lines().count(), 1, "{run}");
    copy.run("inspect", &format!("{HOSTILE}/__schema"), "").tame();
    // Machine-readable formats keep the names.
    copy.run("tree --format jsonl", "", "").shows(r#""name":"na\u001b[31mme\n2""#);
}

#[test]
fn wrong_use_with_hostile_words() {
    tdb(["read", "x", "--bad\u{1b}[31m\nx"]).exits(2).tame();
}

#[test]
fn members_that_are_links_in_circles() {
    let copy = Copy::of("v22-by-2.30.0-group");
    let inner = copy.path().join("group/inner");
    fs::remove_dir_all(&inner).unwrap();
    symlink("inner", &inner).unwrap();
    copy.run("tree --format table", "group", "").exits(1).shows("three").shows("oo many");
    // A group of a release before 2.8 has no list of members, so no member is missing.
    let copy = hostile_group();
    symlink("circle", copy.path().join("circle")).unwrap();
    copy.run("tree", "", "").exits(0).shows("array");
}

#[test]
fn trees_name_what_members_lack() {
    let copy = hostile_group();
    for _ in 0..2 {
        fs::remove_file(copy.find(HOSTILE, "__fragment_metadata.tdb")).unwrap();
    }
    let run = copy.run("tree --skip-damaged", "", "").exits(1);
    let note = run.stdout.split("\"note\":\"without ").nth(1).unwrap();
    assert!(note.contains("__fragments/__1700000000000") && note.contains("__fragments/__1700000001000"), "{run}");
    copy.run("tree", "", "").exits(1).shows("__fragment_metadata.tdb: not found");
}

#[test]
fn depths() {
    let lines = |depth: &str| tdb(["tree", "v22-by-2.30.0-group/group", "--depth", depth]).stdout.lines().count();
    assert_eq!((lines("0"), lines("1")), (1, 4));
}

#[test]
fn statistics_of_groups() {
    for command in ["tree", "info", "meta"] {
        let run = tdb([command, "v22-by-2.30.0-group/group", "--stats"]).exits(0);
        let folders = run.stderr.split("; ").nth(1).unwrap_or_default();
        let numbers: Vec<u64> = folders.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.len() >= 3 && numbers.iter().all(|number| *number > 0), "{run}");
    }
    for line in [["ls", "."], ["inspect", "MANIFEST.json"], ["completions", "bash"], ["man", "."]] {
        tdb([line[0], line[1], "--stats"]).exits(2).says("opens none");
    }
}

#[test]
fn clear_files_in_encrypted_arrays() {
    let copy = Copy::of("v22-by-2.30.0-sparse-encrypted");
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-2d");
    let clear = fixture.array_files().find(|path| path.starts_with("__schema/")).unwrap();
    let foreign = "__9999999999999_9999999999999_00000000000000000000000000000001";
    fs::write(copy.path().join("array/__schema").join(foreign), fixture.read(clear)).unwrap();
    let at = "--at 9999999999999";
    let key = Key::new(b"0123456789abcdef0123456789ABCDEF");
    let with = copy
        .run("info", "array", &format!("{at} {}", key.words().join(" ")))
        .exits(3)
        .says(&format!("{foreign} is not encrypted, but "));
    let without = copy.run("info", "array", at);
    let said = "the array's schema is not encrypted, but ";
    assert!(without.code == Some(3) && without.stderr.contains(said), "{without}");
    // Neither a key nor its omission would help.
    for run in [with, without] {
        assert!(!run.stderr.contains("leave out") && !run.stderr.contains("--key-file FILE"), "{run}");
    }
}

#[test]
fn missing_keys_enumerations_and_key_files_are_reported() {
    let array = "v22-by-2.30.0-dense-metadata/array";
    tdb(["meta", array, "--key", "numbr"])
        .exits(5)
        .prints("")
        .says(r#"no metadata key is named "numbr""#)
        .says(r#""number"?"#);
    tdb(["enumerations", array, "foo"]).exits(2).says(r#"unknown enumeration "foo"; the array has none"#);
    tdb(["read", array, "--key-file", "no-such-key"])
        .exits(5)
        .says("the key file no-such-key: not found")
        .says("hint: ");
}

#[test]
fn missing_files_and_unknown_versions() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let data = copy.find("array", "a0.tdb");
    fs::rename(&data, data.with_extension("gone")).unwrap();
    let run = copy.run("read", "array", "");
    assert!(run.code == Some(5) && run.stderr.contains("incomplete") && !run.stderr.contains("--skip"), "{run}");
    let metadata = copy.find("array", "__fragment_metadata.tdb");
    fs::remove_file(metadata).unwrap();
    copy.run("read", "array", "").exits(5).says("--skip-damaged reads the rest");

    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let commit = "array/__commits/__1700000009000_1700000009000_00000000000000000000000000000001_99.wrt";
    fs::write(copy.path().join(commit), b"").unwrap();
    let run = copy.run("read", "array", "").exits(4);
    assert!(run.stderr.starts_with("tdb: error: COPY/array/__fragments/__1700000009000"), "{run}");
    let run = copy.run("info", "array", "--skip-damaged");
    assert!(run.code == Some(1) && run.stderr.matches("_99").count() == 1, "{run}");
    fs::remove_file(copy.path().join(commit)).unwrap();
    let list = "array/__commits/__1700000009000_1700000009000_00000000000000000000000000000001_22.con";
    fs::write(copy.path().join(list), b"__commits/__1_1_00000000000000000000000000000001_22.del\n\xff").unwrap();
    let run = copy.run("read", "array", "").exits(3);
    assert!(run.stderr.starts_with(&format!("tdb: error: COPY/{list}: ")), "{run}");
}

#[test]
fn wrong_use_is_one_line_and_a_hint() {
    for (line, message, hint) in [
        ("read", "the following required arguments were not provided: <ARRAY>", "`tdb read --help`"),
        ("read x --frobnicate", "unexpected argument '--frobnicate' found", ""),
        ("read x --order sideways", "invalid value 'sideways' for '--order <ORDER>' [possible values: row-major", ""),
        ("read x --formt csv", "unexpected argument '--formt' found", "similar argument exists: '--format'"),
        ("v22-by-2.30.0-sparse-2d/array --bad", "unexpected argument '--bad' found", "`tdb info --help`"),
        ("--bad", "unexpected argument '--bad' found", "`tdb --help`"),
    ] {
        let run = tdb(line.split_whitespace());
        assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 2), "{run}");
        assert!(run.stderr.starts_with(&format!("tdb: error: {message}")), "{run}");
        let second = run.stderr.lines().nth(1).unwrap();
        assert!(second.starts_with("tdb: hint: ") && second.contains(hint), "{run}");
    }
}

#[test]
fn selecting_names_in_quotes() {
    tdb(["read", "v22-by-2.30.0-dense-enumerations/array", "--select", r#"x,"also colour""#])
        .exits(0)
        .shows("\"also colour\":");
    tdb(["read", "v22-by-2.30.0-dense-enumerations/array", "--select", r#""x,colour""#])
        .exits(2)
        .says(r#"unknown field "x,colour""#);
}

/// A few bytes of a schema of format 5 can declare cells of 32 GiB.
#[test]
fn cells_of_gigabytes() {
    let dimension = Dimension::new("d", 1i32..=100);
    let huge = Attribute::new("a", Datatype::Float64).with_cell_val_num(CellValNum::from_code(0xffff_fffe).unwrap());
    let builder = SchemaBuilder::dense().version(FormatVersion::new(5).unwrap());
    let schema = builder.dimension(dimension.with_tile(10)).attribute(huge).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("__meta")).unwrap();
    fs::write(folder.path().join("__array_schema.tdb"), schema.to_file().unwrap()).unwrap();
    let run = |command: &str, after: &str| run_in(folder.path(), &format!("{command} @ {after}"));
    run("schema", "").exits(0).shows("4294967294 times");
    run("schema --format json", "").exits(0).shows("\"fill_repeated\": 4294967294");
    let toml = run("schema --format toml", "").exits(0).shows("values_per_cell = 4294967294");
    fs::write(folder.path().join("schema.toml"), toml.stdout.replace("format_version = 5", "")).unwrap();
    run_in(folder.path(), "create @/new --schema @/schema.toml").exits(2).says("fill value");
    for (command, after) in [("read", "--limit 1"), ("evolve", "--drop a")] {
        let refused = run(command, after);
        assert!(matches!(refused.code, Some(2..=4)) && refused.stderr.contains("attribute \"a\""), "{refused}");
    }
}

#[test]
fn pipes_are_no_files() {
    let pipe = |path: &std::path::Path| {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let metadata = copy.find("array/__fragments", "__fragment_metadata.tdb");
    let folder = metadata.parent().unwrap().to_owned();
    pipe(&metadata);
    // The pipe has no writer, so opening it would block forever.
    tdb(["inspect".into(), folder.join("a0.tdb")]).shows("not a regular file");
    tdb(["inspect".into(), metadata]).exits(5).says("neither a file nor a folder");
    run_on(&["ls", "@", "--kind", "other", "--format", "csv"], &[&folder]).shows("other,,__fragment_metadata.tdb");
}

#[test]
fn long_metadata_is_cut_for_people_and_whole_for_machines() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let array = Array::open(copy.path().join("array")).unwrap();
    let put = [
        ("numbers", MetadataValue::new(Datatype::UInt16, vec![1; 200_000]).unwrap()),
        ("text", MetadataValue::text(&"é".repeat(100_000)).unwrap()),
    ];
    let writer = array.write_metadata();
    put.into_iter().fold(writer, |writer, (key, value)| writer.put(key, value)).commit().unwrap();
    let table = copy.run("meta --format table", "array", "");
    assert!(
        table.stdout.len() < 50_000 && table.stdout.contains("257,257]…") && table.stdout.contains("éé…"),
        "{table}"
    );
    for format in ["json", "jsonl", "csv"] {
        let run = copy.run(&format!("meta --format {format}"), "array", "");
        assert_eq!(run.stdout.matches("257").count(), 100_000);
        assert_eq!(run.stdout.matches('é').count(), 100_000);
    }
}

#[test]
fn text_that_turns_others_round_is_escaped() {
    let schema = "array_type=\"dense\"\n[[dimension]]\nname=\"d\"\ndatatype=\"int32\"\ndomain=[0,9]\ntile_extent=10\n\
                  [[attribute]]\nname=\"a\\u009b\\u202e'b\"\ndatatype=\"int32\"\n";
    let (folder, [file, array]) = places(["s.toml", "array"]);
    fs::write(&file, schema).unwrap();
    good_on(&["create", "@", "--schema", "@"], &[&array, &file]);
    let toml = run_on(&["schema", "@", "--format", "toml"], &[&array]).tame().shows(r#"name = "a\u009b\u202e'b""#);
    let again = folder.path().join("again.toml");
    fs::write(&again, &toml.stdout).unwrap();
    good_on(&["create", "@", "--schema", "@"], &[&folder.path().join("again"), &again]);
    let table = run_on(&["read", "@", "--format", "table", "--limit", "1"], &[&array]).tame();
    assert!(!table.stdout.contains('\u{202e}'), "{table}");
}

#[test]
fn long_words_are_not_repeated() {
    let (_folder, [file, array]) = places(["s.toml", "array"]);
    fs::write(&file, format!("capacity = {}", "9".repeat(1_000_000))).unwrap();
    let run = run_on(&["create", "@", "--schema", "@"], &[&array, &file]);
    assert!(run.code == Some(2) && run.stderr.len() < 3000, "{} bytes", run.stderr.len());
}
