//! Tests of `tdb read`: its output in each format, compared with the reference library.

use crate::support;

use std::io::Read;
use std::process::Stdio;

use crate::support::{Transcript, command, run, tdb};
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";
const DENSE: &str = "v22-by-2.30.0-dense-2d-row-row/array";
const DATES: &str = "v22-by-2.30.0-dense-datetime/array";
const ENUMERATIONS: &str = "v22-by-2.30.0-dense-enumerations/array";
const NULLABLE: &str = "v22-by-2.30.0-dense-every-datatype-nullable/array";
const VAR: &str = "v22-by-2.30.0-dense-every-datatype-var/array";
const BIG: &str = "v22-by-2.30.0-sparse-big-tiles/array";

#[test]
fn formats() {
    let mut seen = Transcript::default();
    for format in ["table", "json", "jsonl", "csv"] {
        let line = format!("read {SPARSE} --range y=-10..-7 --order row-major --format {format}");
        seen.run(&line);
    }
    // JSON lines are the default for a pipe.
    let line = format!("read {SPARSE} --order row-major");
    assert_eq!(run(&line).stdout, run(&format!("{line} --format jsonl")).stdout);
    assert_snapshot!("formats", seen);
}

#[test]
fn dense_cells_come_with_their_coordinates() {
    let mut seen = Transcript::default();
    seen.run(&format!("read {DENSE} --limit 6 --format table"));
    seen.run(&format!("read {DENSE} --limit 3 --select a --format table"));
    assert_snapshot!("dense_cells_come_with_their_coordinates", seen);
}

#[test]
fn every_datatype() {
    let mut seen = Transcript::default();
    for array in [NULLABLE, VAR] {
        for format in ["json", "csv"] {
            seen.run(&format!("read {array} --limit 4 --format {format}"));
        }
    }
    seen.run(&format!("read {NULLABLE} --limit 2 --format json --raw"));
    assert_snapshot!("every_datatype", seen);
}

#[test]
fn nulls() {
    let mut seen = Transcript::default();
    let line = "read v22-by-2.30.0-sparse-all-null/array --order row-major";
    seen.run(&format!("{line} --format table"));
    seen.run(&format!("{line} --format csv --null NA"));
    assert_snapshot!("nulls", seen);
}

#[test]
fn enumerations() {
    let mut seen = Transcript::default();
    seen.run(&format!("read {ENUMERATIONS} --format table"));
    seen.run(&format!("read {ENUMERATIONS} --format jsonl"));
    seen.run(&format!("read {ENUMERATIONS} --format jsonl --raw"));
    assert_snapshot!("enumerations", seen);
}

#[test]
fn dates() {
    assert_snapshot!("dates", run(&format!("read {DATES} --range day=1969-12-30..1970-01-02 --format table")));
    run(&format!("read {DATES} --range day=1969-12-30..1970-01-02"))
        .prints(&run(&format!("read {DATES} --range day=-2..1")).stdout);
    run(&format!("read {DATES} --range day=1970-01-01..1970-01-20"))
        .prints(&run(&format!("read {DATES} --range day=0..")).stdout);
}

#[test]
fn ranges() {
    let line = format!("read {SPARSE} --order row-major");
    let open = run(&format!("{line} --range x=20.. --range y=..0")).stdout;
    assert_eq!(open, run(&format!("{line} --range x=20..29 --range y=-10..0")).stdout);
    assert_eq!(run(&format!("{line} --range x=28")).stdout, run(&format!("{line} --range x=28..=28")).stdout);
    let names = "read v22-by-2.30.0-sparse-strings/array --order row-major";
    let quoted = tdb(names.split(' ').chain(["--range", r#"name="a".."m""#]))
        .prints(&run(&format!("{names} --range name=a..m")).stdout);
    assert!(!quoted.stdout.is_empty());
}

#[test]
fn labels_are_selected() {
    const LABELS: &str = "v22-by-2.30.0-dense-labels/array";
    assert_snapshot!("label_selected", run(&format!("read {LABELS} --range y=2 --select name,a,height,day")));
}

#[test]
fn ranges_without_their_end_and_prefixes() {
    let line = format!("read {SPARSE} --order row-major");
    assert_eq!(run(&format!("{line} --range x=20..<28")).stdout, run(&format!("{line} --range x=20..27")).stdout);
    let names = "read v22-by-2.30.0-sparse-strings/array --order row-major --format csv --select name";
    let all = run(names).stdout;
    let begin = |prefix: &str| -> String {
        all.lines()
            .enumerate()
            .filter(|(line, name)| *line == 0 || name.starts_with(prefix))
            .map(|(_, name)| format!("{name}\n"))
            .collect()
    };
    let prefixes =
        all.lines().skip(1).filter_map(|name| name.get(..1)).filter(|first| first.chars().all(char::is_alphanumeric));
    let prefix = prefixes.max().unwrap();
    let found = tdb(names.split(' ').chain(["--range", &format!("name={prefix}*")])).prints(&begin(prefix));
    assert!(found.stdout.lines().count() > 1 && found.stdout != all);
}

#[test]
fn points() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points.csv");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let line = format!("read {SPARSE} --order row-major --format csv --points");
        tdb(line.split(' ').chain([file.to_str().unwrap()]))
    };
    // A product of ranges would select more cells.
    let found = read("x,y\n14,-9\n24,-10\n14,-9\n1,1\n22,-8\n");
    assert_eq!(found.stdout, "y,x,a,s\n-10,24,24,w\n-9,14,44,djf\n-8,22,82,\n");
    assert_eq!(read("y,x\n").stdout.lines().count(), 1);
    let failed = |text: &str| read(text).stderr.replace(file.to_str().unwrap(), "points.csv");
    assert_snapshot!(
        "points_wrong",
        [
            failed("y\n1\n"),
            failed("y,x,z\n1,1,1\n"),
            failed("y,x,y\n1,1,1\n"),
            failed("y,x\n1,1\n1\n"),
            failed("y,x\n1,1\n1,one\n"),
            failed("y,x\n1,1\n1,2\n1,1000000\n"),
            failed("y,x\n1,1\n\n1,\"2\n1,1\n"),
            failed("y,\"x\n1,1\n"),
        ]
        .concat()
    );
}

#[test]
fn ranges_of_labels() {
    const LABELS: &str = "v22-by-2.30.0-dense-labels/array";
    let mut seen = Transcript::default();
    run(&format!("read {LABELS} --range height=0.. --range day=1969-12-27..1970-01-11"))
        .prints(&run(&format!("read {LABELS} --range y=2.. --range x=2..4")).stdout);
    seen.run(&format!("read {LABELS} --range height=8 --range name=\"b\"..c"));
    seen.run(&format!("read {LABELS} --range height=9..10"));
    seen.run(&format!("read {LABELS} --range height=tall"));
    seen.run(&format!("read {LABELS} --range hight=9"));
    assert_snapshot!("ranges_of_labels", seen);
}

#[test]
fn nothing_to_read() {
    let line = "read v22-by-2.30.0-sparse-empty/array --format";
    assert_eq!(run(&format!("{line} table")).stdout, "no cells\n");
    assert_eq!(run(&format!("{line} json")).stdout, "[]\n");
    assert_eq!(run(&format!("{line} jsonl")).stdout, "");
    assert_eq!(run(&format!("{line} csv")).stdout, "x,a\n");
    assert_eq!(run(&format!("read {SPARSE} --limit 0")).stdout, "");
}

#[test]
fn limits_and_budgets_change_no_cell() {
    let all = run(&format!("read {BIG} --order row-major")).stdout;
    let lines = all.lines().count();
    assert!(lines > 1000, "{lines}");
    for limit in [1, 999, lines + 5] {
        let some = run(&format!("read {BIG} --order row-major --limit {limit}")).stdout;
        assert_eq!(some.lines().count(), limit.min(lines));
        assert!(all.starts_with(&some));
    }
    assert_eq!(run(&format!("read {BIG} --order row-major --budget 64KiB --threads 1")).stdout, all);
}

/// All pages of a table are aligned with the header.
#[test]
fn long_tables_line_up() {
    let run = run(&format!("read {BIG} --order row-major --limit 1200 --format table"));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 1202, "{}", run.stderr);
    assert!(lines[1].starts_with('─'));
    assert_eq!(lines.iter().filter(|line| line.contains('─')).count(), 1);
}

#[test]
fn explain() {
    let mut seen = Transcript::default();
    seen.run(&format!("read {SPARSE} --range y=-10..-7 --select a --explain"));
    seen.run(&format!("read {DENSE} --explain --format json --limit 3"));
    assert_snapshot!("explain", seen);
}

#[test]
fn explain_what_is_left_out_and_why() {
    let mut seen = Transcript::default();
    let line = |more: &str| run(&format!("read {more} --explain"));
    seen.add(line(&format!("{SPARSE} --where a<40 --where y<0 --order global")));
    seen.add(line(&format!("{DENSE} --where a>90")));
    let layers = "v22-by-2.30.0-dense-overlapping/array";
    seen.add(line(layers));
    seen.add(line(&format!("{SPARSE} --at 1700000000000 --select a")));
    assert_snapshot!("explain_what_is_left_out_and_why", seen);
}

/// The cost of a run, without figures that vary.
#[test]
fn explain_run() {
    let mut seen = Transcript::default();
    let run = |more: &str| {
        let run = run(&format!("read {SPARSE} --where a<40 --select s --threads 1 --explain --run {more}"));
        let blank = |line: &str| {
            let ends = ["took      ", "memory    ", "    \"seconds\": ", "    \"peak_memory\": "];
            let end = ends.into_iter().find(|end| line.starts_with(end));
            end.map_or(line.to_owned(), |end| format!("{end}…"))
        };
        let lines: Vec<String> = run.stdout.lines().filter(|line| !line.starts_with("memory")).map(blank).collect();
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        lines.join("\n")
    };
    seen.add(run(""));
    seen.add(run("--format json --limit 1"));
    if cfg!(target_os = "linux") {
        tdb(["read", SPARSE, "--explain", "--run"]).shows("\nmemory    ");
    }
    tdb(["read", SPARSE, "--run"]).exits(2);
    assert_snapshot!("explain_run", seen);
}

#[test]
fn stats() {
    let run = run(&format!("read {SPARSE} --stats"));
    assert!(run.stderr.starts_with("tdb: 68 cells in "), "{}", run.stderr);
    assert!(run.stderr.contains(" files opened, "), "{}", run.stderr);
}

#[test]
fn a_limit_reads_less() {
    let bytes = |line: &str| {
        let stderr = run(line).stderr;
        let words: Vec<String> = stderr.split(' ').map(str::to_owned).collect();
        // "…, 5 reads, 1.5 MiB read"
        let reads = words.iter().position(|word| word == "reads,").unwrap();
        words[reads - 1].parse::<u64>().unwrap()
    };
    let array = "v22-by-2.30.0-sparse-many-tiles/array";
    let some = bytes(&format!("read {array} --stats --limit 1 --threads 1 --order unordered"));
    let all = bytes(&format!("read {array} --stats --threads 1 --order unordered"));
    assert!(some <= all, "{some} reads for one cell, {all} for all");
}

/// Like `tdb read … | head -1`.
#[test]
fn a_closed_pipe_ends_a_read_silently() {
    let fixture = tdb_testkit::fixtures::named(BIG.split('/').next().unwrap());
    let array = fixture.array_dir().to_string_lossy().into_owned();
    for format in ["table", "json", "jsonl", "csv"] {
        let mut child = command()
            .args(["read", &array, "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 20];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        support::Run::of(format, child.wait_with_output().unwrap()).quiet();
    }
}

/// The cells before damage in a data file are printed, and the exit code reports the damage.
#[test]
fn damaged_cells() {
    let mut seen = Transcript::default();
    let copy = support::Copy::of("v22-by-2.30.0-dense-1d");
    let data = copy.find("array", "a0.tdb");
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..bytes.len() - 1]).unwrap();
    seen.add(copy.run("read", "array", ""));
    let mut altered = bytes.clone();
    altered[8] = 0xff; // the length of the first chunk
    std::fs::write(&data, &altered).unwrap();
    seen.add(copy.run("read", "array", ""));
    assert_snapshot!("damaged_cells", seen);
}
