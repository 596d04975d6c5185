//! Tests of Ctrl-C while cells are printed.
#![cfg(target_os = "linux")] // `env --default-signal`

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::dense_array;

fn array() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    dense_array(&folder.path().join("array"), 200_000, 1000);
    folder
}

/// Prints cells to a reader, which reads a few of them and then pauses.
fn begun(folder: &tempfile::TempDir, format: &str, more: &[&str]) -> (Child, Vec<u8>) {
    // The tests themselves may run in the background of a shell, where Ctrl-C is ignored.
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_tdb"), "read"]).stdin(Stdio::null());
    command.arg(folder.path().join("array")).args(["--format", format, "--budget", "64KiB"]).args(more);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut seen = vec![0; 1000];
    child.stdout.as_mut().unwrap().read_exact(&mut seen).unwrap();
    (child, seen)
}

fn press_ctrl_c(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_read_is_cancelled_and_says_so() {
    let folder = array();
    for (format, more) in [("json", &[][..]), ("csv", &[]), ("jsonl", &["--limit", "190000"])] {
        let (child, mut stdout) = begun(&folder, format, more);
        press_ctrl_c(&child);
        let output = child.wait_with_output().unwrap();
        stdout.extend(output.stdout);
        let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(130), "{format}: {stderr}");
        let (head, rest) = ("tdb: error: interrupted; ", " cells were printed\n");
        let printed = stderr.strip_prefix(head).and_then(|stderr| stderr.strip_suffix(rest));
        let printed: usize = printed.unwrap_or_else(|| panic!("{stderr}")).parse().unwrap();
        assert!((1..180_000).contains(&printed), "{format}: {printed} cells");
        // Each line is complete. An incomplete output is recognizable where the format permits it.
        let header = if format == "jsonl" { 0 } else { 1 };
        assert_eq!(stdout.lines().count(), printed + header, "{format}");
        assert!(!stdout.trim_end().ends_with(']'), "{format}");
    }
}

#[test]
fn a_second_interrupt_ends_the_process_at_once() {
    let folder = array();
    let (mut child, _) = begun(&folder, "json", &[]);
    // The process is blocked on a reader that never continues.
    press_ctrl_c(&child);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the process ignores further interrupts");
        press_ctrl_c(&child);
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
