//! Tests of names with control characters, cyclic links, and foreign or missing files.
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;

use tdb_array::{Array, MetadataValue};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype, FormatVersion};

use crate::support::{Copy, Key, Run, tdb};

const HOSTILE: &str = "na\u{1b}[31mme\n2";

/// A group of a release before 2.8, with a member named [`HOSTILE`].
fn hostile_group() -> Copy {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    fs::write(copy.path().join("__tiledb_group.tdb"), b"").unwrap();
    fs::rename(copy.path().join("array"), copy.path().join(HOSTILE)).unwrap();
    copy
}

fn is_tame(run: &Run) -> bool {
    let tame = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n');
    tame(&run.stdout) && tame(&run.stderr)
}

#[test]
fn names_cannot_steer_the_terminal() {
    let copy = hostile_group();
    for command in ["tree --format table", "ls --format table", "info", ""] {
        let run = copy.run(command, "", "");
        assert_eq!(run.code, Some(0), "{run}");
        assert!(is_tame(&run) && run.stdout.contains(r"na\u{1b}[31mme\n2"), "{run}");
    }
    for command in ["info", "schema", "fragments --format table", "read --explain", "read --format table"] {
        let run = copy.run(command, HOSTILE, "");
        assert!(run.code == Some(0) && is_tame(&run), "{run}");
    }
    // An error, a hint, and a warning.
    for (path, code) in [(format!("{HOSTILE}/__schema"), 5), (HOSTILE.replace("me", "mee"), 5)] {
        let run = copy.run("read", &path, "");
        assert_eq!(run.code, Some(code), "{run}");
        assert!(is_tame(&run) && run.stderr.contains(r"na\u{1b}[31mme"), "{run}");
        assert_eq!(run.stderr.lines().count(), 2, "{run}");
    }
    fs::remove_file(copy.find(HOSTILE, "__fragment_metadata.tdb")).unwrap();
    let run = copy.run("info", HOSTILE, "--skip-damaged");
    assert!(run.code == Some(1) && is_tame(&run) && run.stderr.lines().count() == 1, "{run}");
    let inspected = copy.run("inspect", &format!("{HOSTILE}/__schema"), "");
    assert!(is_tame(&inspected), "{inspected}");
    // Machine-readable formats keep the names.
    let run = copy.run("tree --format jsonl", "", "");
    assert!(run.stdout.contains(r#""name":"na\u001b[31mme\n2""#), "{run}");
}

#[test]
fn wrong_use_with_hostile_words() {
    let run = tdb(["read", "x", "--bad\u{1b}[31m\nx"]);
    assert!(run.code == Some(2) && is_tame(&run), "{run}");
}

#[test]
fn members_that_are_links_in_circles() {
    let copy = Copy::of("v22-by-2.30.0-group");
    let inner = copy.path().join("group/inner");
    fs::remove_dir_all(&inner).unwrap();
    symlink("inner", &inner).unwrap();
    let run = copy.run("tree --format table", "group", "");
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.contains("three") && run.stdout.contains("oo many"), "{run}");
    // A group of a release before 2.8 has no list of members, so no member is missing.
    let copy = hostile_group();
    symlink("circle", copy.path().join("circle")).unwrap();
    let run = copy.run("tree", "", "");
    assert!(run.code == Some(0) && run.stdout.contains("array"), "{run}");
}

#[test]
fn trees_name_what_members_lack() {
    let copy = hostile_group();
    for _ in 0..2 {
        fs::remove_file(copy.find(HOSTILE, "__fragment_metadata.tdb")).unwrap();
    }
    let run = copy.run("tree --skip-damaged", "", "");
    assert_eq!(run.code, Some(1), "{run}");
    let note = run.stdout.split("\"note\":\"without ").nth(1).unwrap();
    assert!(note.contains("__fragments/__1700000000000") && note.contains("__fragments/__1700000001000"), "{run}");
    let run = copy.run("tree", "", "");
    assert!(run.code == Some(1) && run.stdout.contains("__fragment_metadata.tdb: not found"), "{run}");
}

#[test]
fn depths() {
    let lines = |depth: &str| tdb(["tree", "v22-by-2.30.0-group/group", "--depth", depth]).stdout.lines().count();
    assert_eq!((lines("0"), lines("1")), (1, 4));
}

#[test]
fn statistics_of_groups() {
    for command in ["tree", "info", "meta"] {
        let run = tdb([command, "v22-by-2.30.0-group/group", "--stats"]);
        assert_eq!(run.code, Some(0), "{run}");
        let folders = run.stderr.split("; ").nth(1).unwrap_or_default();
        let numbers: Vec<u64> = folders.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.len() >= 3 && numbers.iter().all(|number| *number > 0), "{run}");
    }
    for line in [["ls", "."], ["inspect", "MANIFEST.json"], ["completions", "bash"]] {
        let run = tdb([line[0], line[1], "--stats"]);
        assert!(run.code == Some(2) && run.stderr.contains("opens none"), "{run}");
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
    let with = copy.run("info", "array", &format!("{at} {}", key.words().join(" ")));
    assert!(with.code == Some(3) && with.stderr.contains(&format!("{foreign} is not encrypted, but ")), "{with}");
    let without = copy.run("info", "array", at);
    let said = "the array's schema is not encrypted, but ";
    assert!(without.code == Some(3) && without.stderr.contains(said), "{without}");
    // Neither a key nor its omission would help.
    for run in [with, without] {
        assert!(!run.stderr.contains("leave out") && !run.stderr.contains("--key-file FILE"), "{run}");
    }
}

#[test]
fn what_is_not_there() {
    let array = "v22-by-2.30.0-dense-metadata/array";
    let run = tdb(["meta", array, "--key", "numbr"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(5), ""), "{run}");
    assert!(run.stderr.contains(r#"no metadata key is named "numbr""#) && run.stderr.contains(r#""number"?"#), "{run}");
    let run = tdb(["enumerations", array, "foo"]);
    assert!(run.code == Some(2) && run.stderr.contains(r#"unknown enumeration "foo"; the array has none"#), "{run}");
    let run = tdb(["read", array, "--key-file", "no-such-key"]);
    assert!(run.code == Some(5) && run.stderr.contains("the key file no-such-key: not found"), "{run}");
    assert!(run.stderr.contains("hint: "), "{run}");
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
    let run = copy.run("read", "array", "");
    assert!(run.code == Some(5) && run.stderr.contains("--skip-damaged reads the rest"), "{run}");

    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let commit = "array/__commits/__1700000009000_1700000009000_00000000000000000000000000000001_99.wrt";
    fs::write(copy.path().join(commit), b"").unwrap();
    let run = copy.run("read", "array", "");
    assert_eq!(run.code, Some(4), "{run}");
    assert!(run.stderr.starts_with("tdb: error: COPY/array/__fragments/__1700000009000"), "{run}");
    let run = copy.run("info", "array", "--skip-damaged");
    assert!(run.code == Some(1) && run.stderr.matches("_99").count() == 1, "{run}");
    fs::remove_file(copy.path().join(commit)).unwrap();
    let list = "array/__commits/__1700000009000_1700000009000_00000000000000000000000000000001_22.con";
    fs::write(copy.path().join(list), b"__commits/__1_1_00000000000000000000000000000001_22.del\n\xff").unwrap();
    let run = copy.run("read", "array", "");
    assert_eq!(run.code, Some(3), "{run}");
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
    let run = tdb(["read", "v22-by-2.30.0-dense-enumerations/array", "--select", r#"x,"also colour""#]);
    assert!(run.code == Some(0) && run.stdout.contains("\"also colour\":"), "{run}");
    let run = tdb(["read", "v22-by-2.30.0-dense-enumerations/array", "--select", r#""x,colour""#]);
    assert!(run.code == Some(2) && run.stderr.contains(r#"unknown field "x,colour""#), "{run}");
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
    let run = |command: &str, after: &str| {
        let path = folder.path().as_os_str().to_owned();
        tdb(command
            .split_whitespace()
            .map(OsString::from)
            .chain([path])
            .chain(after.split_whitespace().map(OsString::from)))
    };
    let text = run("schema", "");
    assert!(text.code == Some(0) && text.stdout.contains("4294967294 times"), "{text}");
    let json = run("schema --format json", "");
    assert!(json.code == Some(0) && json.stdout.contains("\"fill_repeated\": 4294967294"), "{json}");
    let toml = run("schema --format toml", "");
    assert!(toml.code == Some(0) && toml.stdout.contains("values_per_cell = 4294967294"), "{toml}");
    fs::write(folder.path().join("schema.toml"), toml.stdout.replace("format_version = 5", "")).unwrap();
    let made = tdb(["create".into(), folder.path().join("new"), "--schema".into(), folder.path().join("schema.toml")]);
    assert!(made.code == Some(2) && made.stderr.contains("fill value"), "{made}");
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
    let run = tdb(["inspect".into(), folder.join("a0.tdb")]);
    assert!(run.stdout.contains("not a regular file"), "{run}");
    let run = tdb(["inspect".into(), metadata]);
    assert!(run.code == Some(5) && run.stderr.contains("neither a file nor a folder"), "{run}");
    let run =
        tdb([OsString::from("ls"), folder.into(), "--kind".into(), "other".into(), "--format".into(), "csv".into()]);
    assert!(run.stdout.contains("other,,__fragment_metadata.tdb"), "{run}");
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
    let folder = tempfile::tempdir().unwrap();
    let (file, array) = (folder.path().join("s.toml"), folder.path().join("array"));
    fs::write(&file, schema).unwrap();
    let made = tdb(["create".into(), array.clone(), "--schema".into(), file]);
    assert_eq!(made.code, Some(0), "{made}");
    let toml = tdb([OsString::from("schema"), array.clone().into(), "--format".into(), "toml".into()]);
    assert!(is_tame(&toml) && toml.stdout.contains(r#"name = "a\u009b\u202e'b""#), "{toml}");
    let again = folder.path().join("again.toml");
    fs::write(&again, &toml.stdout).unwrap();
    let made = tdb(["create".into(), folder.path().join("again"), "--schema".into(), again]);
    assert_eq!(made.code, Some(0), "{made}");
    let table =
        tdb([OsString::from("read"), array.into(), "--format".into(), "table".into(), "--limit".into(), "1".into()]);
    assert!(is_tame(&table) && !table.stdout.contains('\u{202e}'), "{table}");
}

#[test]
fn long_words_are_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.toml");
    fs::write(&file, format!("capacity = {}", "9".repeat(1_000_000))).unwrap();
    let run = tdb(["create".into(), folder.path().join("array"), "--schema".into(), file]);
    assert!(run.code == Some(2) && run.stderr.len() < 3000, "{} bytes", run.stderr.len());
}
