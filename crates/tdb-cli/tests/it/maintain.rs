//! Tests of `tdb consolidate` and `tdb vacuum`.

use crate::support::{Copy, run};
use insta::assert_snapshot;

const ARRAY: &str = "array";

#[test]
fn plans() {
    let of = |line: &str| run(line).to_string();
    assert_snapshot!(of("consolidate v22-by-2.30.0-sparse-2d/array --what footers --plan --format csv"), @r#"
    $ tdb consolidate v22-by-2.30.0-sparse-2d/array --what footers --plan --format csv
    action,path,what,size,for
    write,__fragment_meta/__1700000000000_1700000001000_…_22.meta,consolidated fragment metadata,607,2
    --- stderr
    opening all fragments reads 1 file fewer
    "#);
    assert_snapshot!(of("consolidate v22-by-2.30.0-dense-metadata/array --what metadata --plan"), @r#"
    $ tdb consolidate v22-by-2.30.0-dense-metadata/array --what metadata --plan
    {"action":"write","path":"__meta/__1700000000000_1700000002000_…","what":"consolidated metadata","size":207,"for":3}
    {"action":"write","path":"__meta/__1700000000000_1700000002000_…","what":"the vacuum file of the consolidated metadata","size":213,"for":3}
    --- stderr
    after a vacuum, reading the metadata lists 2 names fewer and reads 2 files fewer
    "#);
    assert_snapshot!(of("vacuum v22-by-2.30.0-dense-consolidated/array --plan --format csv"), @r#"
    $ tdb vacuum v22-by-2.30.0-dense-consolidated/array --plan --format csv
    action,path,what,size,for
    remove,__commits/__1700000000000_1700000000000_15659e20a40d4c4530a71b11141a930a_22.wrt,the commit of a superseded fragment,0,
    remove,__commits/__1700000001000_1700000001000_465c42ea47a15a016aa541e0f520a07d_22.wrt,the commit of a superseded fragment,0,
    remove,__commits/__1700000002000_1700000002000_686319b064c589b3871b2324604a2f3e_22.wrt,the commit of a superseded fragment,0,
    remove,__fragments/__1700000000000_1700000000000_15659e20a40d4c4530a71b11141a930a_22,a superseded fragment,5939,
    remove,__fragments/__1700000001000_1700000001000_465c42ea47a15a016aa541e0f520a07d_22,a superseded fragment,5391,
    remove,__fragments/__1700000002000_1700000002000_686319b064c589b3871b2324604a2f3e_22,a superseded fragment,5368,
    remove,__commits/__1700000000000_1700000002000_1bd746e869f24ae42d9a2234b5684fad_22.vac,the vacuum file of a consolidated fragment,237,
    --- stderr
    tdb: warning: the history from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:21.999Z will be lost: only the consolidated state is kept
    "#);
    assert_snapshot!(of("vacuum v22-by-2.30.0-sparse-2d/array --plan"), @r#"
    $ tdb vacuum v22-by-2.30.0-sparse-2d/array --plan
    "#);
}

#[test]
fn refusals() {
    let of = |line: &str| run(line).to_string();
    assert_snapshot!(of("consolidate v9-by-2.3.3-sparse-joined-footers/array --what commits"), @r#"
    $ tdb consolidate v9-by-2.3.3-sparse-joined-footers/array --what commits
    --- stderr
    tdb: error: v9-by-2.3.3-sparse-joined-footers/array: format version 9 has no consolidated commits: expected version 12 or later
    --- exit code 4
    "#);
    assert_snapshot!(of("consolidate v22-by-2.30.0-group/group --what commits"), @r#"
    $ tdb consolidate v22-by-2.30.0-group/group --what commits
    --- stderr
    tdb: error: a group has only metadata to consolidate
    --- exit code 2
    "#);
    assert_snapshot!(of("vacuum v22-by-2.30.0-group/group --what fragments"), @r#"
    $ tdb vacuum v22-by-2.30.0-group/group --what fragments
    --- stderr
    tdb: error: a group has only metadata to vacuum
    --- exit code 2
    "#);
    assert_snapshot!(of("consolidate v22-by-2.30.0-sparse-2d/array --what footers --at 5"), @r#"
    $ tdb consolidate v22-by-2.30.0-sparse-2d/array --what footers --at 5
    --- stderr
    tdb: error: --at and --between apply to fragments and metadata; commits and footers are consolidated completely
    tdb: hint: leave out the option; consolidated commits and footers keep all times
    --- exit code 2
    "#);
    assert_snapshot!(of("consolidate v22-by-2.30.0-sparse-2d/array --what all"), @r#"
    $ tdb consolidate v22-by-2.30.0-sparse-2d/array --what all
    --- stderr
    tdb: error: invalid value 'all' for '--what <WHAT>' [possible values: fragments, commits, footers, metadata]
    tdb: hint: run `tdb consolidate --help`
    --- exit code 2
    "#);
}

/// Fragments that are consolidated, vacuumed, verified and read.
#[test]
fn fragments_become_one() {
    for fixture in ["v22-by-2.30.0-sparse-2d", "v22-by-2.30.0-dense-2d-row-row"] {
        let copy = Copy::of(fixture);
        let read = "--order row-major --format csv";
        let cells = copy.run("read", ARRAY, read).stdout;
        let plan = copy.run("consolidate", ARRAY, "--plan");
        assert!(plan.code == Some(0) && !plan.stdout.is_empty(), "{plan}");
        copy.run("consolidate", ARRAY, "").exits(0);
        copy.run("vacuum", ARRAY, "--format csv").exits(0).shows("remove,");
        assert_eq!(copy.run("fragments", ARRAY, "--format jsonl").stdout.lines().count(), 1);
        assert_eq!(copy.run("read", ARRAY, read).stdout, cells);
        copy.run("verify", ARRAY, "").exits(0);
    }
}

/// Consolidated and vacuumed files: the same cells in fewer files.
#[test]
fn what_is_done() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let cells = copy.run("read", ARRAY, "--order row-major --format csv").stdout;
    for (what, left) in [("commits", ".con"), ("footers", ".meta")] {
        let run = copy.run("consolidate", ARRAY, &format!("--what {what}"));
        assert_eq!((run.code, run.stdout.lines().count()), (Some(0), 1), "{run}");
        assert!(run.stdout.contains(&format!("{left}\"")) && run.stderr.contains("opening"), "{run}");
        copy.run("consolidate", ARRAY, &format!("--what {what}")).exits(0).prints("");
    }
    let run = copy.run("vacuum", ARRAY, "--format csv");
    assert_eq!((run.code, run.stdout.matches("remove,").count()), (Some(0), 2), "{run}");
    assert_eq!(copy.run("read", ARRAY, "--order row-major --format csv").stdout, cells);
    assert_eq!(copy.run("doctor", ARRAY, "").code, Some(0));

    let copy = Copy::of("v22-by-2.30.0-group");
    let group = "group";
    for season in ["spring", "summer"] {
        copy.run("meta", group, &format!("--put season=string_utf8:{season}")).exits(0);
    }
    let run = copy.run("consolidate", group, "--what metadata");
    assert_eq!((run.code, run.stdout.lines().count()), (Some(0), 2), "{run}");
    copy.run("vacuum", group, "").exits(0).says("is lost");
    assert!(copy.run("meta", group, "--key season").stdout.contains("summer"));
}

/// A possible only copy is not deleted, and is a finding.
#[test]
fn a_vacuum_keeps_possible_only_copies() {
    let copy = Copy::of("v22-by-2.30.0-sparse-consolidated");
    let list = copy.find("array/__commits", ".vac");
    std::fs::remove_file(list.with_extension("wrt")).expect("the commit of the consolidated fragment");
    let run = copy.run("vacuum", ARRAY, "--format csv").exits(1);
    assert!(run.stdout.contains("leave,__commits/") && !run.stdout.contains("remove,"), "{run}");
}

/// The hints of refusals name the relevant options.
#[test]
fn refusals_name_the_options() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let lock = copy.path().join("array/.tdb-maintain.tmp");
    std::fs::write(&lock, "process 1\non elsewhere\n").expect("a lock");
    let run = copy.run("vacuum", ARRAY, "");
    assert_eq!(run.code, Some(0), "nothing is to be done: {run}");
    copy.run("consolidate", ARRAY, "")
        .exits(5)
        .says("locked by process 1, on elsewhere;")
        .says("--take-over")
        .says("--only .tdb-maintain.tmp");
    std::fs::write(&lock, "x".repeat(5000)).expect("no lock");
    for words in ["consolidate", "consolidate --take-over"] {
        copy.run(words, ARRAY, "").exits(5).says("move it elsewhere");
    }
    copy.run("doctor", ARRAY, "").exits(1).shows("move it elsewhere");
    std::fs::remove_file(&lock).expect("the file exists");
    copy.run("consolidate --fragments __1_1_nothing,__2_2_nothing", ARRAY, "").exits(2).says("run `tdb fragments`");
    let dense = Copy::of("v22-by-2.30.0-dense-2d-row-row");
    dense
        .run("consolidate --amplification 0.01", ARRAY, "")
        .exits(0)
        .shows("not consolidated: no two of these fragments fit together");
    dense
        .run("consolidate --amplification 0.01 --min-fragments 2", ARRAY, "")
        .exits(2)
        .says("pass a larger --amplification FACTOR");
}

/// The next consolidation reports a killed consolidation, and completes normally.
#[test]
fn fragments_of_killed_consolidations_are_reported() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    let folder =
        copy.path().join("array/__fragments/__1700000000000_1700000001000_0123456789abcdef0123456789abcdef_22");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("a0.tdb"), "cells").expect("a file");
    let run = copy.run("consolidate", ARRAY, "").exits(0).shows("no commit names it");
    assert!(run.stderr.contains("tdb doctor --fix") && folder.exists(), "{run}");
    let run = copy.run("doctor --fix --older-than 0s", ARRAY, "");
    assert!(run.code == Some(0) && !folder.exists(), "{run}");
}

/// Files that the reference library leaves in normal operation take space, but are no finding.
#[test]
fn superseded_commits_are_harmless() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    assert_eq!(copy.run("consolidate", ARRAY, "--what commits").code, Some(0));
    let list = copy.find("array/__commits", ".con");
    let other = list.with_file_name("__1700000000000_1700000001000_0123456789abcdef0123456789abcdef_22.con");
    std::fs::copy(&list, other).expect("a file");
    copy.run("doctor", ARRAY, "").exits(0).shows("other files contain all of its commits");
    copy.run("doctor --fix --older-than 0s", ARRAY, "").exits(0).shows("\"done\":\"yes\"");
    assert_eq!(copy.run("doctor", ARRAY, "").stdout, "");
}

/// A reader may miss a file that a vacuum has just deleted.
#[test]
fn a_missing_file_may_be_vacuumed() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    std::fs::remove_file(copy.find("array/__fragments", "a0.tdb")).expect("the file exists");
    copy.run("read", ARRAY, "").exits(5).says("run the command again, if the array was vacuumed");
}
