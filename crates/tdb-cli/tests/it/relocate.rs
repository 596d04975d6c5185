//! Tests of `tdb copy`, `tdb move` and `tdb remove`.

use crate::support::Copy;
use insta::assert_snapshot;

const ARRAY: &str = "array";

#[test]
fn a_copy_without_history_has_the_cells_of_a_time() {
    let copy = Copy::of("v22-by-2.30.0-sparse-deletes");
    let read = "--order row-major --format csv";
    let names = copy.run("fragments", ARRAY, "--format csv").stdout;
    let first =
        names.lines().nth(1).and_then(|line| line.split(',').find(|word| word.starts_with("__"))).expect("a name");
    let time = first.split('_').nth(3).expect("a time").to_owned();
    for (name, at) in [("now", String::new()), ("then", format!("--at {time}"))] {
        copy.run(&format!("copy --flatten {at}"), ARRAY, &copy.at(name)).exits(0).shows("\"fragments\":1");
        assert_eq!(copy.run("read", name, read).stdout, copy.run(&format!("read {at}"), ARRAY, read).stdout);
    }
    assert_ne!(copy.run("read", "now", read).stdout, copy.run("read", "then", read).stdout);
    copy.run(&format!("copy --at {time}"), ARRAY, &copy.at("bytes")).exits(2).says("--flatten");
    // Compares single fragments.
    let all: Vec<&str> =
        names.lines().skip(1).filter_map(|line| line.split(',').find(|word| word.starts_with("__"))).collect();
    copy.run(&format!("diff --fragment {first} --other-fragment {first}"), ARRAY, "").exits(0);
    copy.run(&format!("diff --fragment {first} --other-fragment {}", all[1]), ARRAY, "--format csv").exits(1);
    copy.run("diff --fragment __1_1_nothing", ARRAY, &copy.at("now"))
        .exits(2)
        .says("no fragment is named __1_1_nothing");
}

#[test]
fn arrays_go_where_they_are_told() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let read = "--order row-major --format csv";
    let cells = copy.run("read", ARRAY, read).stdout;
    assert_snapshot!(copy.run("copy", ARRAY, &copy.at("other")).to_string().replace(&copy.at(""), "COPY/"), @r#"
    $ tdb copy COPY/array COPY/other
    {"what":"copied","path":null,"files":15,"size":13358}
    "#);
    assert_eq!(copy.run("read", "other", read).stdout, cells);
    let again = copy.run("copy", ARRAY, &copy.at("other"));
    assert_snapshot!(again.to_string().replace(&copy.at(""), "COPY/"), @r#"
    $ tdb copy COPY/array COPY/other
    --- stderr
    tdb: error: COPY/other: already exists, and nothing is overwritten
    --- exit code 2
    "#);
    assert_snapshot!(copy.run("move", "other", &copy.at("third")).to_string().replace(&copy.at(""), "COPY/"), @r#"
    $ tdb move COPY/other COPY/third
    {"what":"renamed","path":null,"files":null,"size":null}
    "#);
    copy.run("move --by-copying", "third", &copy.at("fourth")).exits(0).shows("copied");
    assert_eq!(copy.run("read", "fourth", read).stdout, cells);
    assert!(!copy.path().join("third").exists() && !copy.path().join("other").exists());
    assert_snapshot!(copy.run("remove --plan", "fourth", ""), @r#"
    $ tdb remove --plan COPY/fourth
    {"action":"remove","path":".","what":"array"}
    "#);
    assert_snapshot!(copy.run("remove", "fourth", ""), @r#"
    $ tdb remove COPY/fourth
    --- stderr
    tdb: error: COPY/fourth: `remove` needs confirmation
    tdb: hint: pass --yes
    --- exit code 2
    "#);
    assert!(copy.path().join("fourth").exists());
    std::fs::write(copy.path().join("fourth/notes.txt"), "mine").expect("a file");
    assert_snapshot!(copy.run("remove --yes", "fourth", ""), @r#"
    $ tdb remove --yes COPY/fourth
    {"action":"removed","path":".","what":"array"}
    {"action":"leave","path":"notes.txt","what":"neither part of the format nor a member"}
    "#);
    assert!(copy.path().join("fourth/notes.txt").exists());
    assert_snapshot!(copy.run("remove --yes", "fourth", ""), @r#"
    $ tdb remove --yes COPY/fourth
    --- stderr
    tdb: error: COPY/fourth: neither an array nor a group; other files are not copied, moved or removed
    --- exit code 5
    "#);
    copy.run("copy", ARRAY, &copy.at("array/inside")).exits(2).says("the destination is inside the source");
}

/// The commands report groups with the moved array as a member.
#[test]
fn moves_report_groups_with_the_array() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    assert_eq!(copy.run("group create", "g", "").code, Some(0));
    assert_eq!(copy.run("move", ARRAY, &copy.at("g/a")).code, Some(0));
    assert_eq!(copy.run("group add", "g", "a").code, Some(0));
    copy.run("move", "g/a", &copy.at("g/b")).exits(0).says("the group COPY/g still has it as a member");
    copy.run("doctor", "g", "").exits(1).shows("a missing member");
    copy.run("remove --recursive --yes", "g", "").exits(0).shows("\"leave\"");
    assert!(copy.path().join("g/b").exists(), "an array without membership was removed");
}

/// Quarantined files are not removed by default, and the error names the option.
#[test]
fn quarantined_files_are_kept() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let quarantine = copy.path().join("array/.tdb-quarantine/1");
    std::fs::write(copy.path().join("array/.tdb-4711-0.tmp"), "half").expect("a file");
    let run = copy.run("doctor --fix --older-than 0s", ARRAY, "");
    assert!(run.code == Some(0) && quarantine.exists(), "{run}");
    let run = copy.run("move --by-copying", ARRAY, &copy.at("other"));
    assert!(run.code == Some(0) && copy.path().join("other/.tdb-quarantine/1/1-.tdb-4711-0.tmp").exists(), "{run}");
    for words in ["remove --plan", "remove --yes"] {
        copy.run(words, "other", "").exits(2).says("--with-quarantine").says("--undo");
    }
    assert!(copy.path().join("other/__schema").exists());
    let run = copy.run("remove --yes --with-quarantine", "other", "");
    assert!(run.code == Some(0) && !copy.path().join("other").exists(), "{run}");
}

/// A missing destination folder is reported without blaming the array.
#[test]
fn missing_destinations_are_reported() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    for words in ["copy", "copy --flatten", "move", "move --by-copying"] {
        let run = copy.run(words, ARRAY, &copy.at("no/folder")).exits(5).says("the folder does not exist");
        assert!(!run.stderr.contains("the array names it"), "{run}");
    }
    for words in ["copy", "move"] {
        let run = copy.run(words, "nothing", &copy.at("other"));
        assert!(run.code == Some(5) && !run.stderr.contains("the array names it"), "{run}");
    }
}
