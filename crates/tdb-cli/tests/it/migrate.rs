//! Tests of `tdb migrate`.

use crate::support::{Copy, Key, Transcript, run, tdb};
use insta::assert_snapshot;

#[test]
fn invalid_migrations_are_rejected_at_once() {
    let mut seen = Transcript::default();
    seen.run("migrate v22-by-2.30.0-dense-enumerations/array --to 9 --plan");
    seen.run("migrate v22-by-2.30.0-sparse-2d/array --at 2024-01-01 --plan");
    seen.run("migrate v22-by-2.30.0-sparse-2d/array --to 24");
    seen.run("migrate v22-by-2.30.0-sparse-2d/array --filters a=nothing");
    seen.run("migrate v22-by-2.30.0-sparse-2d/array --to 5 --plan --format csv");
    assert_snapshot!("invalid_migrations_are_rejected_at_once", seen);
}

#[test]
fn in_place_and_to_another_folder() {
    let mut seen = Transcript::default();
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    seen.add(copy.run("migrate", "array", "--to 4 --format csv"));
    let other = copy.path().join("other");
    seen.add(copy.run(&format!("migrate --out {}", other.display()), "array", "--flatten --format csv"));
    for name in ["array.before-migration", "other"] {
        let word = copy.path().join(name);
        seen.add(copy.run(&format!("diff {}", word.display()), "array", "--format csv"));
    }
    seen.add(copy.run("migrate", "array", "--to 5"));
    assert_snapshot!("in_place_and_to_another_folder", seen);
}

/// From no key to a key, to another key, and back to no key. Each array reads like the previous
/// one.
#[test]
fn keys() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let key = |digit: &str| {
        let path = copy.at(&format!("key-{digit}"));
        std::fs::write(&path, digit.repeat(64)).unwrap();
        path
    };
    let (one, other) = (key("1"), key("2"));
    let cells = |name: &str, key: Option<&str>| {
        let line = format!("read {} --format csv", copy.at(name));
        let run = run(&format!("{line} {}", key.map_or(String::new(), |key| format!("--key-file {key}"))));
        (run.code, run.stdout)
    };
    let plain = cells("array", None);
    assert!(plain.0 == Some(0) && plain.1.lines().count() > 5, "{plain:?}");
    let array = copy.at("array");
    let migrate = |words: &str| run(&format!("migrate {array} {words} --format csv")).exits(0).stderr;
    assert!(migrate(&format!("--new-key-file {one}")).ends_with("array.before-migration; it is not encrypted\n"));
    assert_eq!(cells("array", None).0, Some(6));
    assert_eq!(cells("array", Some(&one)), plain);
    migrate(&format!("--key-file {one} --new-key-file {other} --out {}", copy.at("other")));
    assert_eq!((cells("other", Some(&one)).0, cells("other", Some(&other))), (Some(6), plain.clone()));
    migrate(&format!("--key-file {one} --no-key --out {}", copy.at("again")));
    assert_eq!(cells("again", None), plain);
    // Without an option for the new key, the old key is used.
    migrate(&format!("--key-file {one} --to 12 --out {}", copy.at("same")));
    assert_eq!((cells("same", None).0, cells("same", Some(&one))), (Some(6), plain.clone()));
    std::fs::remove_dir_all(copy.at("array.before-migration")).unwrap();
    let told = migrate(&format!("--key-file {one} --no-key"));
    assert!(told.ends_with("; it is still encrypted\n"), "{told}");
    assert_eq!(cells("array", None), plain);
}

/// An invalid new key fails before anything is written.
#[test]
fn wrong_keys() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let array = copy.at("array");
    let (short, key) = (Key::new(b"0123456789abcdef"), Key::new(&[7; 32]));
    let of = |key: &Key| key.words()[1].clone();
    let none = format!("{}.not-there", of(&key));
    for (words, code, told) in [
        (vec!["--new-key-file", &of(&short)], 6, "does not contain a key"),
        (vec!["--new-key-file", &none], 5, "pass the path of a file with the key to `--new-key-file`"),
        (vec!["--new-key-file", &of(&key), "--no-key"], 2, "cannot be used with"),
        (vec!["--key-file", &of(&key), "--no-key"], 6, "not encrypted, but a key was given"),
    ] {
        tdb(["migrate", &array].into_iter().chain(words)).exits(code).says(told);
    }
    let left: Vec<_> = std::fs::read_dir(copy.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("migrat")), "{left:?}");
    assert_eq!(run(&format!("read {array}")).code, Some(0));
}

/// All arrays of a group: to another place, in place, with a key, or refused.
#[test]
fn groups() {
    let mut seen = Transcript::default();
    let copy = Copy::of("v22-by-2.30.0-group");
    seen.add(copy.run("migrate", "group", "--to 20 --plan --format csv"));
    seen.add(copy.run("migrate", "group", "--to 20 --format csv"));
    let version = |place: &str| {
        let run = copy.run("schema", &format!("{place}/two"), "");
        run.stdout.lines().find(|line| line.contains("format version")).unwrap().trim().to_owned()
    };
    assert_eq!((version("group"), version("group.before-migration")).0, "format version       20");
    assert_eq!(version("group.before-migration"), "format version       22");
    let members = |place: &str, after: &str| {
        let run = copy.run("tree", place, after);
        (
            run.code,
            run.stdout
                .lines()
                .skip(1)
                .filter_map(|line| Some(line.split_once("\"path\"")?.0.to_owned()))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(members("group", ""), members("group.before-migration", ""));
    let (key, out) = (copy.path().join("key"), copy.path().join("out"));
    std::fs::write(&key, "7".repeat(64)).unwrap();
    copy.run(&format!("migrate --new-key-file {} --out {}", key.display(), out.display()), "group", "").exits(0);
    assert_eq!(members("out", "").0, Some(6));
    assert_eq!(members("out", &format!("--key-file {}", key.display())).1, members("group", "").1);
    copy.run("migrate", "group", "--at 2024-01-01 --flatten").exits(2).says("need an array");
    copy.run(&format!("migrate --out {}", out.display()), "group", "").exits(2).says("already exists");
    assert_snapshot!("groups", seen);
}

/// A migration, killed between the two renames. Commands on the missing array print how to restore
/// it.
#[test]
fn interrupted_between_the_renames() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    assert_eq!(copy.run("migrate", "array", "--to 21").code, Some(0));
    let at = |name: &str| copy.path().join(name);
    std::fs::rename(at("array"), at(".array.tdb-migrating")).unwrap();
    std::fs::write(at(".array.tdb-migration"), "tdb journal of a migration 1\n").unwrap();
    let hint = "a migration was interrupted here: run `tdb migrate COPY/array` to complete it or roll it back";
    for words in [
        "info",
        "schema",
        "read",
        "ls",
        "verify",
        "doctor",
        "consolidate",
        "vacuum",
        "fragments",
        "advise",
        "remove --yes",
        "migrate --plan --to 20",
    ] {
        let run = copy.run(words, "array", "");
        assert!(run.code == Some(5) && run.stderr.contains(hint), "{words}: {run}");
    }
    for words in ["copy", "move"] {
        let run = copy.run(words, "array", &at("other").display().to_string());
        assert!(run.code == Some(5) && run.stderr.contains(hint), "{words}: {run}");
    }
    // A similar name gives no such hint.
    let run = copy.run("info", "arrays", "");
    assert!(run.code == Some(5) && !run.stderr.contains("interrupted"), "{run}");
    copy.run("migrate", "array", "").exits(0).says("completed an interrupted migration");
    assert_eq!(copy.run("info", "array", "").code, Some(0));
}
