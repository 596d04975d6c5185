//! Tests of killed writers, of concurrent writers and readers, and of the cleanup by `tdb doctor`.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{command, good_on, run_on};
use tdb_testkit::hostile::SplitMix64;

/// Rows per file, and per write.
const ROWS: usize = 5000;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// Creates an array with the rows of write 0.
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        good_on(&["import", "@", "@", "--dimensions", "write,x"], &[&bench.array(), &bench.rows(0)]);
        bench
    }

    fn array(&self) -> PathBuf {
        self.folder.path().join("array")
    }

    /// Creates a file with the rows of write `number`.
    fn rows(&self, number: usize) -> PathBuf {
        let path = self.folder.path().join(format!("{number}.csv"));
        let rows = (0..ROWS).map(|x| format!("{number},{x},{}\n", number * x));
        fs::write(&path, format!("write,x,a\n{}", rows.collect::<String>())).unwrap();
        path
    }

    fn start(&self, number: usize) -> Child {
        let mut command = command();
        command.arg("import").arg(self.array()).arg(self.rows(number));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Returns the visible writes. Panics if a write is only partially visible.
    fn writes(&self) -> Vec<usize> {
        let printed = good_on(&["read", "@", "--format=csv", "--order=row-major"], &[&self.array()]);
        let lines: Vec<&str> = printed.lines().skip(1).collect();
        let numbers: Vec<usize> = lines
            .chunks(ROWS)
            .map(|cells| {
                let number: usize = cells[0].split(',').next().unwrap().parse().unwrap();
                let expected = (0..ROWS).map(|x| format!("{number},{x},{}", number * x));
                assert!(expected.eq(cells.iter().map(|line| (*line).to_owned())), "write {number} shows in part");
                number
            })
            .collect();
        numbers
    }
}

/// Returns the exit code of the doctor and the number of printed findings. The exit code is 0
/// unless a fragment is among the findings.
fn leftovers(array: &Path, words: &[&str]) -> (Option<i32>, usize) {
    let run = run_on(&[&["doctor", "@"], words].concat(), &[array]);
    (run.code, run.stdout.lines().count())
}

#[test]
fn a_killed_writer_has_written_all_or_nothing() {
    let bench = Bench::new();
    let begun = Instant::now();
    assert!(bench.start(1).wait().unwrap().success());
    let whole = begun.elapsed();
    let mut rng = SplitMix64::new(7);
    let mut expected = vec![0, 1];
    let mut killed = 0;
    for number in 2..32 {
        let mut writer = bench.start(number);
        sleep(whole.mul_f64(rng.below(1200) as f64 / 1000.0));
        writer.kill().unwrap();
        let is_done = writer.wait().unwrap().success();
        killed += usize::from(!is_done);
        let writes = bench.writes();
        // The kill may have come after the commit.
        if is_done || writes.contains(&number) {
            expected.push(number);
        }
        assert_eq!(writes, expected);
    }
    assert!(killed > 3, "{killed} of 30 writers were killed in time");

    let (found, left) = leftovers(&bench.array(), &[]);
    let fragments = fs::read_dir(bench.array().join("__fragments")).unwrap().count();
    assert_eq!(found, Some(i32::from(fragments > expected.len())), "a reader may miss cells");
    let (code, young) = leftovers(&bench.array(), &["--fix"]);
    assert_eq!((code, young), (found, left), "only old files are removed");
    let (_, removed) = leftovers(&bench.array(), &["--fix", "--older-than", "0s"]);
    assert_eq!(removed, left);
    assert_eq!(leftovers(&bench.array(), &[]), (Some(0), 0));
    assert_eq!(bench.writes(), expected);
    let fragments = fs::read_dir(bench.array().join("__fragments")).unwrap().count();
    assert_eq!(fragments, expected.len());
}

#[test]
fn writers_and_readers_at_once_lose_nothing_and_see_whole_writes() {
    let bench = Bench::new();
    let mut writers: Vec<Child> = (1..9).map(|number| bench.start(number)).collect();
    let mut seen = 1;
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        let writes = bench.writes();
        assert!(writes.len() >= seen, "a visible write disappeared");
        seen = writes.len();
        sleep(Duration::from_millis(5));
    }
    assert!(writers.iter_mut().all(|writer| writer.wait().unwrap().success()));
    assert_eq!(bench.writes(), (0..9).collect::<Vec<_>>());
    assert_eq!(leftovers(&bench.array(), &[]), (Some(0), 0));
}

#[test]
fn what_is_no_leftover_is_left_alone() {
    for fixture in tdb_testkit::fixtures::all().into_iter().chain(tdb_testkit::fixtures::of_older_releases()) {
        if fixture.name().contains("encrypted") {
            continue;
        }
        let run = run_on(&["doctor", "@"], &[fixture.array_dir()]);
        assert_eq!((run.stdout.as_str(), run.code), ("", Some(0)), "{}", fixture.name());
    }
}

/// Runs `tdb doctor --fix` on a changed copy of an array. Returns the run and the number of
/// quarantined files.
fn removed_after(change: impl FnOnce(&Path)) -> (support::Run, usize) {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-overlapping");
    fixture.unpack_into(folder.path());
    change(&array);
    let is_quarantined = |path: &String| path.contains(".tdb-quarantine");
    let count = || {
        tdb_testkit::fixtures::paths_below(folder.path()).unwrap().iter().filter(|path| !is_quarantined(path)).count()
    };
    let before = count();
    let run = run_on(&["doctor", "@", "--fix", "--older-than=0s"], &[&array]);
    (run, before - count())
}

/// Returns the path of a file in `__commits`.
fn commit(array: &Path) -> PathBuf {
    fs::read_dir(array.join("__commits")).unwrap().next().unwrap().unwrap().path()
}

/// Fragments are quarantined only if no commit can exist for them.
#[test]
fn only_certain_leftovers_are_removed() {
    let (run, removed) = removed_after(|array| fs::rename(array.join("__commits"), array.join("commits")).unwrap());
    assert_eq!((run.code, removed), (Some(3), 0), "{run}");
    let (run, removed) = removed_after(|array| {
        let commit = commit(array);
        fs::remove_file(&commit).unwrap();
        fs::create_dir(commit).unwrap();
    });
    assert_eq!((run.code, removed), (Some(0), 0), "{run}");
    let (run, removed) = removed_after(|array| {
        for name in ["my notes", "__1_2_0123456789abcdef0123456789abcdef_22"] {
            fs::create_dir(array.join("__fragments").join(name)).unwrap();
            fs::write(array.join("__fragments").join(name).join("notes.txt"), "mine").unwrap();
        }
    });
    assert_eq!((run.code, removed), (Some(0), 0), "{run}");
    // With the commits folder in place, the fragment is known to be uncommitted.
    let (run, removed) = removed_after(|array| fs::remove_file(commit(array)).unwrap());
    assert!(run.code == Some(0) && removed > 1, "{run}");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_array_lead_to_nothing_that_is_removed() {
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().join("__1_2_0123456789abcdef0123456789abcdef_22");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a0.tdb"), "cells of another array").unwrap();
    let (run, removed) = removed_after(|array| {
        fs::rename(array.join("__fragments"), array.join("fragments")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), array.join("__fragments")).unwrap();
    });
    assert!(run.code != Some(0) && removed == 0, "{run}");
    assert!(other.join("a0.tdb").is_file());
}

/// Repairs quarantine files and can be undone. Repairs that change the results of readers need
/// `--only`.
#[test]
fn what_is_quarantined_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    tdb_testkit::fixtures::named("v22-by-2.30.0-dense-consolidated").unpack_into(folder.path());
    let array = folder.path().join("array");
    let find = |end: &str| support::find(&array.join("__commits"), end).unwrap();
    let list = find(".vac");
    let name = list.file_stem().unwrap().to_str().unwrap().to_owned();
    fs::remove_file(array.join(format!("__commits/{name}.wrt"))).unwrap();
    let doctor = |words: &[&str]| run_on(&[&["doctor", "@"], words].concat(), &[&array]);
    let run = doctor(&[]);
    assert_eq!((run.code, run.stdout.lines().count()), (Some(1), 2), "{run}");
    assert!(run.stdout.contains("read their cells again") && run.stderr.contains("PATH --fix`"), "{run}");
    let run = doctor(&["--fix", "--older-than=0s"]).exits(1).says("--only PATH");
    assert!(!array.join("__fragments").join(&name).exists() && list.exists(), "{run}");
    let only = format!("--only=__commits/{name}.vac");
    let run = doctor(&["--fix", "--older-than=0s", &only]);
    assert!(run.code == Some(0) && !list.exists(), "{run}");
    let run = doctor(&["--undo"]);
    assert_eq!((run.code, run.stdout.lines().count()), (Some(0), 2), "{run}");
    assert!(array.join("__fragments").join(&name).exists() && list.exists());
    assert!(!array.join(".tdb-quarantine").exists());
    doctor(&["--fix", "--only=__commits/nothing"]).exits(2);
}

/// The doctor finds a fragment without metadata and rebuilds it.
#[test]
fn lost_metadata_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    tdb_testkit::fixtures::named("v22-by-2.30.0-dense-2d-row-row").unpack_into(folder.path());
    let array = folder.path().join("array");
    let run = |words: &[&str]| run_on(&[&words[..1], &["@"], &words[1..]].concat(), &[&array]);
    let read = || run(&["read", "--format=csv", "--order=row-major"]);
    let cells = read().stdout;
    let metadata = support::find(&array, "__fragment_metadata.tdb").unwrap();
    let name = metadata.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    fs::remove_file(&metadata).unwrap();
    assert_ne!(read().code, Some(0));
    run(&["doctor"]).exits(1).shows("--rebuild");
    run(&["doctor", "--rebuild", &name]).exits(2).says("give the domain");
    run(&["doctor", "--rebuild", &name, "--domain=y=a..b", "--domain=x=1..2"]).exits(2);
    let schema = tdb_array::Array::open(&array).unwrap().schema().clone();
    let words: Vec<String> = schema
        .dimensions()
        .iter()
        .map(|dimension| {
            let (lo, hi) = dimension.domain().unwrap();
            format!("--domain={}={lo}..{hi}", dimension.name())
        })
        .collect();
    let words: Vec<&str> = ["doctor", "--rebuild", &name].into_iter().chain(words.iter().map(String::as_str)).collect();
    run(&words).exits(0);
    assert_eq!(read().stdout, cells);
    assert_eq!(run(&["doctor"]).code, Some(0));
}
