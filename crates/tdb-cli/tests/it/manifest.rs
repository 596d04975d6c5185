//! Tests of `tdb manifest`, and of other commands on arrays with a manifest.

use std::fs;
use std::path::Path;

use crate::support::{Transcript, dense_array, good_on, places, run_in};
use insta::assert_snapshot;
use tdb_storage::{LocalStorage, MANIFEST_NAME, Manifest};

fn text(array: &Path) -> String {
    fs::read_to_string(array.join(MANIFEST_NAME)).unwrap()
}

/// Creates a group `group` with the array `a`, a folder `others` with the array `b`, and a hidden
/// folder with an array.
fn objects(folder: &Path) {
    run_in(folder, "group create @/group").quiet();
    dense_array(&folder.join("group/a"), 4, 2);
    run_in(folder, "group add @/group a --name a").quiet();
    fs::create_dir_all(folder.join("others/.hidden")).unwrap();
    dense_array(&folder.join("others/b"), 4, 2);
    dense_array(&folder.join("others/.hidden/c"), 4, 2);
}

#[test]
fn a_manifest_lists_the_files() {
    let (folder, [array]) = places(["array"]);
    dense_array(&array, 4, 2);
    run_in(folder.path(), "manifest @/array").quiet().shows("\"what\":\"written\"");
    let listed = Manifest::parse(text(&array).as_bytes()).unwrap();
    assert_eq!(listed, Manifest::of(&LocalStorage::new(&array)).unwrap());
    assert!(listed.files() >= 4, "{listed}");
    assert!(!text(&array).contains(MANIFEST_NAME));
    run_in(folder.path(), "manifest @/array").quiet().shows("\"what\":\"unchanged\"");
    run_in(folder.path(), "manifest @/array --check").quiet().shows("\"what\":\"current\"");
    fs::write(array.join("__schema/extra"), "x").unwrap();
    let old = run_in(folder.path(), "manifest @/array --check --format csv").exits(1);
    assert!(old.stdout.contains("old,") && old.stdout.contains("__schema/extra: not listed"), "{old}");
    run_in(folder.path(), "manifest @/array").quiet().shows("\"what\":\"written\"");
    fs::write(array.join(MANIFEST_NAME), "<html>").unwrap();
    run_in(folder.path(), "manifest @/array --check").exits(1).shows("\"what\":\"malformed\"");
    run_in(folder.path(), "manifest @/array --remove").quiet().shows("\"what\":\"removed\"");
    run_in(folder.path(), "manifest @/array --check").exits(1).shows("\"what\":\"missing\"");
    run_in(folder.path(), "manifest @/array --remove").quiet().shows("\"what\":\"missing\"");
    // No temporary file is left.
    assert!(fs::read_dir(&array).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().starts_with('.')));
}

#[test]
fn recursion_covers_groups_and_folders() {
    let (folder, []) = places([]);
    objects(folder.path());
    let written = run_in(folder.path(), "manifest @ -r --format csv").quiet().stdout;
    let paths: Vec<&str> = written.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    let expected = ["group", "group/a", "others/b"].map(|name| folder.path().join(name).join(MANIFEST_NAME));
    assert_eq!(paths, expected.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
    // The manifest of a group lists the files of its arrays, but not their manifests.
    let group = text(&folder.path().join("group"));
    assert!(group.contains(" a/__schema/") && !group.contains(MANIFEST_NAME), "{group}");
    run_in(folder.path(), "manifest @ -r --check").quiet();
    run_in(folder.path(), "manifest @/group @/others/b --remove").quiet();
    let checked = run_in(folder.path(), "manifest @ -r --check --format csv").exits(1).stdout;
    assert_eq!(checked.lines().filter(|line| line.starts_with("missing,")).count(), 2, "{checked}");
    assert_eq!(checked.lines().filter(|line| line.starts_with("current,")).count(), 1, "{checked}");
}

#[test]
fn refusals() {
    let (folder, []) = places([]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    run_in(folder.path(), "manifest @/empty").exits(5).says("neither an array nor a group").says("--recursive");
    run_in(folder.path(), "manifest @/empty -r").exits(5).says("no array or group found");
    run_in(folder.path(), "manifest @/file -r").exits(5).says("neither an array nor a group");
    run_in(folder.path(), "manifest @/none").exits(5).says("not found");
    run_in(folder.path(), "manifest @/empty --check --remove").exits(2);
    run_in(folder.path(), "manifest").exits(2);
}

#[test]
fn other_commands_know_manifests() {
    let (folder, [array, copy, moved]) = places(["array", "copy", "moved"]);
    let of = |line: &str| run_in(folder.path(), line);
    dense_array(&array, 8, 2);
    let cells = good_on(&["read", "@", "--format", "csv"], &[&array]);
    of("manifest @/array").quiet();
    of("doctor @/array").quiet().prints("");
    of("verify @/array").quiet();
    assert_eq!(good_on(&["read", "@", "--format", "csv"], &[&array]), cells);
    // A copy may have different files and starts without a manifest.
    let copied = of("copy @/array @/copy --format csv").quiet();
    assert!(copied.stdout.contains("left out,tdb-manifest.txt"), "{copied}");
    assert!(!copy.join(MANIFEST_NAME).exists());
    of("diff @/array @/copy").quiet();
    // A renamed folder keeps its files, and the manifest stays true.
    of("move @/array @/moved").quiet();
    of("manifest @/moved --check").quiet();
    // Writes make the manifest old.
    of("meta @/moved --put x=int32:1").exits(0);
    let old = of("verify @/moved --format csv").exits(1);
    assert!(old.stdout.contains(",manifest,") && old.stdout.contains("run `tdb manifest` again"), "{old}");
    of("doctor @/moved").exits(0);
    of("manifest @/moved").quiet();
    of("verify @/moved").quiet();
    of("meta @/moved --put x=int32:2").exits(0);
    of("consolidate @/moved --what metadata").exits(0);
    of("manifest @/moved --check").exits(1);
    of("manifest @/moved").quiet();
    of("vacuum @/moved").exits(0);
    of("manifest @/moved --check").exits(1).shows("listed, but does not exist");
    fs::write(moved.join(MANIFEST_NAME), "tdb manifest 1\n1 ../secret\n").unwrap();
    of("verify @/moved").exits(1).shows("line 2 of the manifest");
    of("migrate @/moved --to 21").exits(0);
    of("verify @/moved").quiet();
    of("manifest @/moved").quiet();
    of("remove @/moved --yes").exits(0);
    assert!(!moved.exists());
}

#[test]
fn groups_with_manifests_are_copied_and_moved() {
    let (folder, []) = places([]);
    objects(folder.path());
    let of = |line: &str| run_in(folder.path(), line);
    of("manifest @ -r").quiet();
    of("verify @").exits(0);
    of("doctor @/group").quiet().prints("");
    of("copy @/group @/copy").quiet();
    assert!(!folder.path().join("copy/tdb-manifest.txt").exists());
    assert!(!folder.path().join("copy/a/tdb-manifest.txt").exists());
    of("manifest @/copy -r").quiet();
    of("verify @/copy").exits(0);
    of("meta @/copy --put x=int32:1").exits(0);
    of("verify @/copy --format csv").exits(1).shows(",manifest,");
    of("remove @/copy --recursive --yes").exits(0);
    assert!(!folder.path().join("copy").exists());
}

#[test]
fn output() {
    let (folder, [array]) = places(["array"]);
    fs::create_dir_all(array.join("__schema")).unwrap();
    fs::create_dir(array.join("__labels")).unwrap();
    fs::write(array.join("__schema/__1_1_f00d"), "0123456789").unwrap();
    let mut shown = Transcript::default();
    for line in [
        "manifest @/array --format csv",
        "manifest @/array --check --format jsonl",
        "manifest @/array --remove --format csv",
        "manifest @/array --check --format csv",
    ] {
        let run = run_in(folder.path(), line).to_string();
        shown.add(run.replace(folder.path().to_str().unwrap(), "@"));
        if line.ends_with("jsonl") {
            shown.add(text(&array));
        }
    }
    assert_snapshot!(shown, @r#"
    $ tdb manifest @/array --format csv
    what,path,files,size,detail
    written,@/array/tdb-manifest.txt,1,10,

    $ tdb manifest @/array --check --format jsonl
    {"what":"current","path":"@/array/tdb-manifest.txt","files":1,"size":10,"detail":null}

    tdb manifest 1
    0 __labels/
    10 __schema/__1_1_f00d

    $ tdb manifest @/array --remove --format csv
    what,path,files,size,detail
    removed,@/array/tdb-manifest.txt,,,

    $ tdb manifest @/array --check --format csv
    what,path,files,size,detail
    missing,@/array/tdb-manifest.txt,1,10,
    --- exit code 1
    "#);
}
