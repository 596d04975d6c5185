//! Tests of `tdb advise` and `tdb report`.

use crate::support;

use std::path::Path;

use crate::support::{Copy, run};

const ARRAY: &str = "array";

/// The printed commands solve their problem and do not change the cells.
#[test]
fn printed_commands_solve_the_problem() {
    for (fixture, kinds) in [
        ("v3-by-1.6.3-sparse", &["statistics"][..]),
        ("v4-by-1.7.7-dense-appended", &["statistics"]),
        ("v10-by-2.4.3-sparse-evolved", &["footers", "format"]),
        ("v12-by-2.8.3-sparse-appended", &["format", "fragments"]),
        ("v22-by-2.30.0-sparse-2d", &["fragments"]),
    ] {
        let copy = Copy::of(fixture);
        let cells = |copy: &Copy| copy.run("read", ARRAY, "--order row-major --format csv").stdout;
        let before = cells(&copy);
        assert!(before.lines().count() > 1, "{before}");
        for kind in kinds {
            let marker = format!("\"kind\":\"{kind}\"");
            let told = copy.run("advise", ARRAY, "--worth 1 --format jsonl");
            let line =
                told.stdout.lines().find(|line| line.contains(&marker)).unwrap_or_else(|| panic!("{kind}: {told}"));
            assert!(line.contains("\"now\":") && line.contains(",\"then\":"), "{line}");
            for printed in printed_commands(line) {
                let words = printed.strip_prefix("tdb ").expect("a command of ours");
                let (command, options) = words.split_once(" COPY/array").expect("a command for this array");
                copy.run(command, ARRAY, options).exits(0);
            }
            let told = copy.run("advise", ARRAY, "--worth 1 --format jsonl");
            assert!(told.code == Some(0) && !told.stdout.contains(&marker), "{fixture}: {told}");
        }
        assert_eq!(cells(&copy), before, "{fixture}");
    }
}

/// Returns the list `commands` of a piece of advice.
fn printed_commands(line: &str) -> Vec<String> {
    let (_, list) = line.split_once("\"commands\":[").expect("a list of commands");
    let (list, _) = list.split_once(']').expect("the end of the list");
    list.split(',').map(|text| text.trim_matches('"').to_owned()).collect()
}

#[test]
fn advice_as_text() {
    let run = run("advise v22-by-2.30.0-sparse-2d/array --format table --sample 100%")
        .exits(0)
        .shows("checksum (note)")
        .shows("tried on x: 10 tiles, 70 cells");
    assert!(run.stdout.ends_with(": no advice\n"), "{run}");
}

#[test]
fn all_arrays_of_a_group() {
    let copy = Copy::of("v22-by-2.30.0-group");
    let run = copy.run("advise", "group", "--format table");
    assert!(run.code == Some(0) && run.stdout.matches("no advice").count() > 1, "{run}");
    copy.run("report", "group", "").exits(0).shows("<h2 id=\"m1\">");
}

#[test]
fn wrong_use() {
    for (line, message) in [
        ("advise v22-by-2.30.0-sparse-2d/array --sample 0", "expected a number of tiles"),
        ("advise v22-by-2.30.0-sparse-2d/array --sample 200%", "or a percentage"),
        ("report v22-by-2.30.0-sparse-2d/array --dimensions z", "no dimension is named \"z\""),
        ("report v22-by-2.30.0-sparse-2d/array --attribute z", "no attribute is named \"z\""),
    ] {
        run(line).exits(2).says(message);
    }
}

#[test]
fn a_page() {
    let run = run("report v22-by-2.30.0-sparse-2d/array --dimensions x,y --attribute a");
    assert!(run.code == Some(0) && run.stdout.starts_with("<!DOCTYPE html>"), "{run}");
    assert!(run.stdout.contains("2 fragments over x and y") && run.stdout.len() < 100_000, "{run}");
}

/// Filters save most of the bytes of an unfiltered array, even if the saved time is negligible.
#[test]
fn printed_filters_save_the_estimated_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let rows: Vec<String> = (0..20_000).map(|row| format!("{row},{},{}", row / 1000, row % 7)).collect();
    std::fs::write(at("rows.csv"), format!("x,a,b\n{}\n", rows.join("\n"))).unwrap();
    let array = at("array");
    let schema = r#"
array_type = "sparse"
coords_filters = []
[[dimension]]
name = "x"
datatype = "int32"
domain = [0, 99999]
[[attribute]]
name = "a"
datatype = "int64"
[[attribute]]
name = "b"
datatype = "int32"
"#;
    std::fs::write(at("schema.toml"), schema).unwrap();
    for words in [vec!["create", &array, "--schema", &at("schema.toml")], vec!["import", &array, &at("rows.csv")]] {
        support::tdb(words).exits(0);
    }
    let advised = || support::tdb(["advise", &array, "--sample", "16", "--format", "jsonl"]);
    let stored = || {
        std::fs::read_dir(folder.path().join("array/__fragments"))
            .unwrap()
            .flatten()
            .map(|fragment| size(&fragment.path()))
            .sum::<u64>()
    };
    let (before, told) = (stored(), advised());
    assert_eq!(told.stdout.matches("\"kind\":\"filters\"").count(), 3, "{told}");
    let page = support::tdb(["report", &array]);
    assert!(page.code == Some(0) && !page.stdout.contains("No advice"), "{page}");
    let line = told.stdout.lines().find(|line| line.contains("\"kind\":\"filters\"")).unwrap();
    let printed = printed_commands(line);
    assert_eq!(printed.len(), 1, "{line}");
    // Runs the command in a shell, to test its quoting.
    let binary = Path::new(env!("CARGO_BIN_EXE_tdb"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = std::process::Command::new("sh").args(["-c", &printed[0]]).env("PATH", path).output().unwrap();
    assert!(run.status.success(), "{}: {}", printed[0], String::from_utf8_lossy(&run.stderr));
    assert!(stored() * 10 < before, "{before}, then {}", stored());
    let told = advised();
    assert!(!told.stdout.contains("\"kind\":\"filters\""), "{told}");
    support::tdb(["report", &array]).shows("No advice");
}

fn size(path: &Path) -> u64 {
    match path.is_dir() {
        true => std::fs::read_dir(path).unwrap().flatten().map(|entry| size(&entry.path())).sum(),
        false => path.metadata().unwrap().len(),
    }
}
