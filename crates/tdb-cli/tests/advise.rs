//! `tdb advise` and `tdb report`.

mod support;

use support::{Copy, run};

const ARRAY: &str = "array";

/// What is told, and what is told once it was mended.
#[test]
fn advice_is_followed() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let run = copy.run("advise", ARRAY, "--worth 1 --format jsonl");
    assert_eq!(run.code, Some(0), "{run}");
    let line = run.stdout.lines().find(|line| line.contains("\"kind\":\"fragments\"")).expect("advice on fragments");
    assert!(line.contains("\"now\":2,\"then\":1") && line.contains("\"tdb consolidate COPY/array\""), "{line}");
    assert_eq!(copy.run("consolidate", ARRAY, "").code, Some(0));
    assert_eq!(copy.run("vacuum", ARRAY, "").code, Some(0));
    let run = copy.run("advise", ARRAY, "--worth 1 --format jsonl");
    assert!(run.code == Some(0) && !run.stdout.contains("\"kind\":\"fragments\""), "{run}");
}

#[test]
fn advice_as_text() {
    let run = run("advise v22-by-2.30.0-sparse-2d/array --format table --sample 100%");
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("checksum (note)") && run.stdout.contains("tried on x: 10 tiles, 70 cells"), "{run}");
    assert!(run.stdout.ends_with(": nothing to mend\n"), "{run}");
}

#[test]
fn all_arrays_of_a_group() {
    let copy = Copy::of("v22-by-2.30.0-group");
    let run = copy.run("advise", "group", "--format table");
    assert!(run.code == Some(0) && run.stdout.matches("nothing to mend").count() > 1, "{run}");
    let run = copy.run("report", "group", "");
    assert!(run.code == Some(0) && run.stdout.contains("<h2 id=\"m1\">"), "{run}");
}

#[test]
fn wrong_use() {
    for (line, message) in [
        ("advise v22-by-2.30.0-sparse-2d/array --sample 0", "neither a number of tiles"),
        ("advise v22-by-2.30.0-sparse-2d/array --sample 200%", "nor a share of them"),
        ("report v22-by-2.30.0-sparse-2d/array --dimensions z", "no dimension is called \"z\""),
        ("report v22-by-2.30.0-sparse-2d/array --attribute z", "no attribute is called \"z\""),
    ] {
        let run = run(line);
        assert!(run.code == Some(2) && run.stderr.contains(message), "{run}");
    }
}

#[test]
fn a_page() {
    let run = run("report v22-by-2.30.0-sparse-2d/array --dimensions x,y --attribute a");
    assert!(run.code == Some(0) && run.stdout.starts_with("<!DOCTYPE html>"), "{run}");
    assert!(run.stdout.contains("2 fragments over x and y") && run.stdout.len() < 100_000, "{run}");
}
