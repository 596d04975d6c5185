//! Tests of `tdb export`: files contain the output of `tdb read`, and partial files do not remain.

use std::fs;

use crate::support::tdb;

const ARRAY: &str = "v22-by-2.30.0-sparse-2d/array";

#[test]
fn files_hold_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let which: [&[&str]; 3] =
        [&[], &["--select", "x,s", "--where", "x > 20"], &["--range", "y=-10..-7", "--order", "col-major"]];
    for (number, which) in which.into_iter().enumerate() {
        for format in ["csv", "jsonl", "json"] {
            let file = folder.path().join(format!("{number}.{format}"));
            let name = file.to_str().unwrap();
            let run = tdb([&["export", ARRAY, name], which].concat()).exits(0);
            let printed = tdb([&["read", ARRAY, "--format", format], which].concat());
            assert_eq!(fs::read_to_string(&file).unwrap(), printed.stdout);
            assert!(run.stdout.is_empty() && run.stderr.ends_with("cells written\n"), "{run}");
        }
    }
}

#[test]
fn the_kind_of_file_may_be_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tdb(["export", ARRAY, &path("cells"), "--format", "CSV", "--option", "null=none"]).exits(0);
    assert_eq!(fs::read(path("cells")).unwrap().first_chunk(), Some(b"y,x,"));
    for (name, more, code, says) in [
        ("other", "", 2, "hint: use the file name extension .csv"),
        ("a.parquet", "", 4, "hint: export CSV; or try the full tdb"),
        ("a", "--format arrow", 4, "the full tdb"),
        ("a.csv", "--option compression=zstd", 2, "the options are null"),
        ("a.json", "--option null=NA", 2, "leave out the option null, or choose CSV"),
        ("a.csv", "--option null=NA --option null=-", 2, "--option null: given twice"),
        ("a.csv", "--option raw=maybe", 2, "true or false"),
        ("a.csv", "--option raw", 2, "NAME=VALUE"),
        ("cells", "--format csv", 5, "hint: choose another name"),
        ("no/such/folder.csv", "", 5, "not found"),
    ] {
        let path = path(name);
        tdb(["export", ARRAY, &path].into_iter().chain(more.split_whitespace())).exits(code).says(says);
    }
    tdb(["export", ARRAY, "s3://bucket/a.csv"]).exits(4).says("s3://");
    let names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["cells"]);
}

#[test]
fn an_array_that_ends_early_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(&array);
    let array = if array.join("array").is_dir() { array.join("array") } else { array };
    let fragment = array.join("__fragments").read_dir().unwrap().next().unwrap().unwrap().path();
    let data = fragment.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let data = data.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("a0"));
    for path in data {
        fs::write(&path, vec![0xa5; usize::try_from(path.metadata().unwrap().len()).unwrap()]).unwrap();
    }
    let file = folder.path().join("cells.csv");
    let run = tdb(["export", array.to_str().unwrap(), file.to_str().unwrap()]).exits(3);
    assert!(!file.exists(), "{run}");
}

/// Tests of cancelled exports, and of other targets than regular files.
#[cfg(target_os = "linux")] // `env --default-signal`
mod ended {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};

    use super::ARRAY;
    use crate::support::{dense_array, tdb};

    fn temporary_files(folder: &Path) -> Vec<PathBuf> {
        let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".tdb-unfinished-")).collect()
    }

    /// Starts an export through a shell command such as `exec`, and waits for the temporary file.
    fn begun(folder: &Path, file: &str, runner: &str) -> Child {
        let mut export = Command::new("sh");
        export.args(["-c", &format!("{runner} \"$@\""), "sh", env!("CARGO_BIN_EXE_tdb"), "export"]);
        export.arg(folder.join("array")).arg(folder.join(file)).args(["--budget", "1MiB"]).stdout(Stdio::null());
        let mut child = export.stderr(Stdio::piped()).spawn().unwrap();
        while temporary_files(folder).is_empty() {
            assert!(child.try_wait().unwrap().is_none(), "the export ended before its temporary file was visible");
        }
        child
    }

    fn signal(child: &Child, name: &str) {
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    }

    #[test]
    fn a_killed_export_leaves_nothing_under_the_final_name() {
        let folder = tempfile::tempdir().unwrap();
        dense_array(&folder.path().join("array"), 5_000_000, 100_000);
        for file in ["cells.csv", "cells.json", "cells.jsonl"] {
            for name in ["-INT", "-TERM", "-HUP"] {
                // The tests themselves may run under nohup or in the background of a shell.
                let mut child = begun(folder.path(), file, "exec env --default-signal");
                // A second signal may arrive before the export has removed the file.
                signal(&child, name);
                let _ = Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status();
                assert_eq!(child.wait().unwrap().code(), Some(130), "{name} {file}");
                assert!(
                    !folder.path().join(file).exists() && temporary_files(folder.path()).is_empty(),
                    "{name} {file}"
                );
            }
        }
        // Under nohup the export ignores the signal and completes.
        let mut child = begun(folder.path(), "cells.csv", "exec nohup");
        signal(&child, "-HUP");
        assert_eq!(child.wait().unwrap().code(), Some(0));
        fs::remove_file(folder.path().join("cells.csv")).unwrap();
        let mut child = begun(folder.path(), "cells.csv", "exec");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!folder.path().join("cells.csv").exists());
        assert_eq!(temporary_files(folder.path()).len(), 1);
    }

    #[test]
    fn streams_are_written_to_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let printed = tdb(["read", ARRAY, "--format", "csv"]).stdout;
        let run = tdb(["export", ARRAY, "-", "--format", "csv"]);
        assert_eq!((run.code, &run.stdout), (Some(0), &printed), "{run}");
        tdb(["export", ARRAY, "-"]).exits(2).says("--format");
        let pipe = folder.path().join("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        let run = tdb(["export", ARRAY, pipe.to_str().unwrap()]);
        assert_eq!((run.code, reader.join().unwrap()), (Some(0), printed), "{run}");
        // The device is not replaced, even through a link.
        let link = folder.path().join("null.csv");
        symlink("/dev/null", &link).unwrap();
        assert_eq!(tdb(["export", ARRAY, link.to_str().unwrap()]).code, Some(0));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn existing_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("old.csv"), "mine").unwrap();
        symlink(path("nothing"), path("dangling.csv")).unwrap();
        symlink(path("old.csv"), path("link.csv")).unwrap();
        fs::create_dir(path("folder.csv")).unwrap();
        for name in ["old.csv", "dangling.csv", "link.csv", "folder.csv"] {
            tdb(["export", ARRAY, path(name).to_str().unwrap()]).exits(5).says("choose another name");
        }
        assert_eq!(fs::read_to_string(path("old.csv")).unwrap(), "mine");
        assert!(!path("nothing").exists() && temporary_files(folder.path()).is_empty());
        assert_eq!(tdb(["export", ARRAY, path("new.csv").to_str().unwrap()]).code, Some(0));
        let mode = |name: &str| path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode("new.csv"), mode("old.csv"), "a new file has the usual permissions");
    }
}
