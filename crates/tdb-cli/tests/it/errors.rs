//! Tests of exit codes, messages and hints of errors.

use std::fs;
use std::process::Stdio;

use crate::support::{Copy, Key, Run, Transcript, command, run, tdb};
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";
const DATES: &str = "v22-by-2.30.0-dense-datetime/array";

#[test]
fn paths() {
    let mut seen = Transcript::default();
    seen.run("read v22-by-2.30.0-sparse-2d/aray");
    seen.run("info no/such/path");
    seen.run("read filters");
    seen.run("v22-by-2.30.0-sparse-2d");
    seen.run("read v22-by-2.30.0-sparse-2d");
    seen.run("schema v22-by-2.30.0-group/group");
    seen.run("MANIFEST.json");
    seen.run("read MANIFEST.json");
    seen.run("read s3://bucket/array");
    seen.run("inof");
    seen.run(&format!("inspect {SPARSE}"));
    assert_snapshot!("paths", seen);
}

#[test]
fn fields_and_ranges() {
    let mut seen = Transcript::default();
    seen.run("read v22-by-2.30.0-dense-enumerations/array --select colur");
    seen.run(&format!("read {SPARSE} --select a,x,a"));
    seen.run(&format!("read {SPARSE} --range z=1..2"));
    seen.run(&format!("read {SPARSE} --range 1..2"));
    seen.run(&format!("read {SPARSE} --range x=0..300"));
    seen.run(&format!("read {SPARSE} --range x=5..2"));
    seen.run(&format!("read {SPARSE} --range x=five"));
    seen.run(&format!("read {DATES} --range day=1800-01-01..1900-01-01"));
    assert_snapshot!("fields_and_ranges", seen);
}

#[test]
fn command_line() {
    for line in ["", "read", "read --frobnicate x", "read x --order sideways", "read x --budget 5parsecs"] {
        let run = run(line).exits(2).prints("");
        assert!(!run.stderr.is_empty());
    }
    for line in ["--help", "--version", "help read", "read --help", "completions bash", "completions fish"] {
        let run = run(line).quiet();
        assert!(!run.stdout.is_empty());
    }
    for command in ["info", "schema", "fragments", "read", "ls", "inspect", "completions", "man"] {
        let help = tdb([command, "--help"]).stdout;
        assert!(help.contains("Examples:"), "{help}");
    }
}

#[test]
fn manual_pages() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    for _ in 0..2 {
        tdb(["man", pages.to_str().unwrap()]).quiet();
    }
    let page = |name: &str| fs::read_to_string(pages.join(name)).unwrap();
    assert!(page("tdb.1").contains("tdb\\-read(1)") && page("tdb-read.1").contains("\\-\\-where"));
    let help = tdb(["--help"]).stdout;
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    // The other lines continue a description.
    let names =
        listed.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !["", "help"].contains(name)).collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        assert!(pages.join(format!("tdb-{name}.1")).is_file(), "{name}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    tdb(["man", file.to_str().unwrap()]).exits(5);
}

#[test]
fn truncated_and_altered() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let metadata = copy.find("array", "__fragment_metadata.tdb");
    let bytes = fs::read(&metadata).unwrap();
    fs::write(&metadata, &bytes[..bytes.len() / 2]).unwrap();
    assert_snapshot!("truncated_metadata", copy.run("fragments", "array", ""));
    fs::write(&metadata, &bytes).unwrap();

    let schema = fs::read_dir(copy.path().join("array/__schema")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&schema).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0xff;
    fs::write(&schema, &bytes).unwrap();
    copy.run("info", "array", "").exits(3).says("__schema/");
}

#[test]
fn newer_format_version() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let schema = fs::read_dir(copy.path().join("array/__schema")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&schema).unwrap();
    bytes[0] = 99;
    fs::write(&schema, &bytes).unwrap();
    copy.run("info", "array", "").exits(4).says("format version 99").says("newer release");
    let name = schema.strip_prefix(copy.path()).unwrap().to_str().unwrap().to_owned();
    assert_eq!(copy.run("inspect", &name, "").code, Some(4));
}

/// The head of a schema of a release like 1.3: 200 filtered bytes of 99, `char`, 1 byte per cell,
/// gzip, level 1.
const BEFORE_VERSIONS: [u8; 30] =
    [200, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0];

/// Obsolete arrays are identified by kind, and never reported as newer than supported.
#[test]
fn obsolete_arrays_are_identified() {
    let folder = tempfile::tempdir().unwrap();
    let schema = [&BEFORE_VERSIONS[..], &[0; 200]].concat();
    for (name, file) in
        [("old", "__array_schema.tdb"), ("oldest", "__array_metadata.tdb"), ("store", "__kv_schema.tdb")]
    {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join(file), &schema).unwrap();
        let path = folder.path().join(name).to_string_lossy().into_owned();
        for words in [vec![path.as_str()], vec!["read", &path], vec!["fragments", &path]] {
            let told = if name == "store" { "a key-value store" } else { "older than format version 1" };
            let run = tdb(words).exits(4).says(file).says(told);
            assert!(!run.stderr.contains("newer"), "{run}");
        }
    }
    let listed = tdb(["ls", &folder.path().to_string_lossy(), "--format", "csv"]);
    assert_eq!(listed.stdout.lines().skip(1).collect::<Vec<_>>(), ["array,,old", "array,,oldest", "key-value,,store"]);
}

/// The key of all encrypted fixtures, in hexadecimal.
const KEY: &str = "3031323334353637383961626364656630313233343536373839414243444546";

#[test]
fn keys() {
    let array = "v22-by-2.30.0-sparse-encrypted/array";
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, contents: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        path.to_string_lossy().into_owned()
    };
    let raw = file("raw", b"0123456789abcdef0123456789ABCDEF");
    let digits = file("hex", format!("{KEY}\n").as_bytes());
    let wrong = file("wrong", &[7; 32]);
    let short = file("short", b"0123456789abcdef");

    // Every command that opens arrays accepts the option, before and after the command name. The
    // bare path accepts it too.
    for line in [
        format!("info {array} --key-file {raw}"),
        format!("--key-file {digits} {array}"),
        format!("{array} --key-file {digits}"),
        format!("--key-file {digits} schema {array}"),
        format!("fragments {array} --key-file {raw}"),
        format!("read {array} --key-file {raw}"),
        format!("read {array} --key-file {raw} --explain"),
    ] {
        let run = run(&line).quiet();
        assert!(!run.stdout.is_empty());
    }
    for (line, hint) in [
        (format!("read {array}"), "no key was given"),
        (format!("read {array}"), "--key-file FILE"),
        (format!("info {array} --key-file {wrong}"), "cannot decrypt with the given key"),
        (format!("info {SPARSE} --key-file {raw}"), "not encrypted, but a key was given"),
        (format!("info {SPARSE} --key-file {raw}"), "leave out `--key-file`"),
    ] {
        run(&line).exits(6).says(hint);
    }
    let bad = run(&format!("info {array} --key-file {short}")).exits(6);
    assert!(bad.stderr.contains("does not contain a key") && !bad.stderr.contains("0123456789abcdef"), "{bad}");
}

#[test]
fn keys_of_groups() {
    let group = "v22-by-2.30.0-group-encrypted/group";
    let [key, wrong] = [&b"0123456789abcdef0123456789ABCDEF"[..], &[7; 32]].map(Key::new);
    for command in ["info", "meta", "tree"] {
        let with = |key: &Key| {
            let words = [command.to_owned(), group.to_owned()].into_iter().chain(key.words());
            tdb(words)
        };
        let run = with(&key).quiet();
        assert!(!run.stdout.is_empty(), "{run}");
        with(&wrong).exits(6).says("cannot decrypt with the given key");
        tdb([command, group]).exits(6).says("no key was given");
    }
}

#[test]
fn keys_in_the_environment() {
    let array = "v22-by-2.30.0-sparse-encrypted/array";
    let run = |line: &str, variables: &[(&str, &str)]| {
        Run::of(line, command().args(line.split_whitespace()).envs(variables.iter().copied()).output().unwrap())
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, KEY).unwrap();
    let path = path.to_str().unwrap();
    let read = format!("read {array}");
    run(&read, &[("TDB_KEY", KEY)]).quiet();
    run(&read, &[("TDB_KEY_FILE", path)]).quiet();
    run(&read, &[("TDB_KEY", ""), ("TDB_KEY_FILE", path)]).quiet();
    // The command line takes precedence.
    run(&format!("{read} --key-file {path}"), &[("TDB_KEY", "junk")]).quiet();
    run(&read, &[("TDB_KEY", KEY), ("TDB_KEY_FILE", path)]).exits(2).says("both set");
    let short = run(&read, &[("TDB_KEY", &KEY[..62])]).exits(6).says("TDB_KEY does not contain a key");
    assert!(!short.stderr.contains("3031"), "{short}");
    run(&format!("read {SPARSE}"), &[("TDB_KEY", KEY)]).exits(6).says("unset TDB_KEY");
    // Commands that open no array ignore the key.
    run("ls", &[("TDB_KEY", "junk")]).exits(0);
}

#[test]
fn inspecting_with_keys() {
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-encrypted");
    let schema = fixture.array_files().find(|path| path.starts_with("__schema/__1")).unwrap();
    let schema = fixture.array_dir().join(schema);
    let inspect = |variables: &[(&str, &str)]| {
        Run::of("inspect", command().arg("inspect").arg(&schema).envs(variables.iter().copied()).output().unwrap())
    };
    // The header is unencrypted and is shown.
    inspect(&[]).exits(6).shows("aes_256_gcm").says("no key was given");
    let wrong = "07".repeat(32);
    inspect(&[("TDB_KEY", &wrong)]).exits(6).shows("aes_256_gcm").says("cannot decrypt with the given key");
    inspect(&[("TDB_KEY", KEY)]).quiet().shows("tile extent");
}

/// A reader that closes its end at once, like `head -0`.
#[test]
fn closed_pipe() {
    for line in [
        &format!("inspect {SPARSE}/../expected.json"),
        &format!("schema {SPARSE}"),
        &format!("fragments {SPARSE}"),
        "ls --recursive .",
        "completions zsh",
        "--help",
    ] {
        let mut child =
            command().args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        Run::of(line, child.wait_with_output().unwrap()).quiet();
    }
}

#[test]
fn colour() {
    let has_colour = |run: &Run| run.stdout.contains('\u{1b}') || run.stderr.contains('\u{1b}');
    assert!(!has_colour(&run(SPARSE)));
    assert!(has_colour(&run(&format!("--color always {SPARSE}"))));
    assert!(has_colour(&run(&format!("{SPARSE} --color always"))));
    assert!(has_colour(&run("--color always info no/such/path")));
    assert!(!has_colour(&run(&format!("--color never {SPARSE}"))));
}

/// Reading an array leaves all files unchanged.
#[test]
fn nothing_is_written() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let before = copy.run("ls -r", "", "").stdout;
    for command in ["info", "schema", "fragments", "read", "ls", "read --explain"] {
        copy.run(command, "array", "");
    }
    assert_eq!(copy.run("ls -r", "", "").stdout, before);
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-2d");
    for path in fixture.array_files() {
        assert_eq!(fs::read(copy.path().join("array").join(path)).unwrap(), fixture.read(path), "{path}");
    }
}

#[test]
fn damaged_parts_are_errors_or_left_out() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let metadata = copy.find("array", "__fragment_metadata.tdb");
    let bytes = fs::read(&metadata).unwrap();
    fs::write(&metadata, &bytes[..bytes.len() / 2]).unwrap();
    copy.run("read", "array", "").exits(3).prints("").says("__fragment_metadata.tdb");
    // The command does not read fragments.
    copy.run("schema", "array", "--skip-damaged").quiet();
    for command in ["read", "info", "fragments"] {
        let lenient = copy.run(command, "array", "--skip-damaged --stats").exits(1).says(" folders listed, ");
        assert!(!lenient.stdout.is_empty());
        assert!(lenient.stderr.starts_with("tdb: warning: skipped COPY/array/__fragments/__1700000"), "{lenient}");
    }
    // Options are accepted before the path too. An undamaged array causes no warning.
    fs::write(&metadata, &bytes).unwrap();
    copy.run("--skip-damaged", "array", "").quiet();
}
