//! Tests of the `tdb sql` prompt on a pseudo-terminal.
#![cfg(all(feature = "sql", unix))]

use std::path::Path;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

/// The prompt for a statement, and for its next line.
const READY: &str = "tdb> ";
const MORE: &str = r"\.\.\.> ";

/// Timeout in milliseconds, for unoptimized builds on busy machines.
const PATIENCE: u64 = 30_000;

fn prompt(arguments: &[&str], folder: &Path) -> PtySession {
    let tdb = env!("CARGO_BIN_EXE_tdb");
    // Resets signals, because tests may run in the background of a shell, where Ctrl-C is ignored.
    // Only GNU `env` has this option.
    let mut command = Command::new(if cfg!(target_os = "linux") { "env" } else { tdb });
    if cfg!(target_os = "linux") {
        command.args(["--default-signal", tdb]);
    }
    // `tdb sql` needs the program in the same folder.
    assert!(Path::new(env!("CARGO_BIN_EXE_tdb-sql")).is_file());
    command.arg("sql").args(arguments).current_dir(folder);
    command.env("TERM", "xterm").env("TDB_SQL_HISTORY", "").env("NO_COLOR", "1");
    let mut session = spawn_command(command, Some(PATIENCE)).unwrap();
    shows(&mut session, &[READY]);
    session
}

/// Sends text without Enter.
fn send(session: &mut PtySession, text: &str) {
    session.send(text).unwrap();
    session.flush().unwrap();
}

/// Sends a line, and waits for these patterns in the output.
fn line(session: &mut PtySession, line: &str, patterns: &[&str]) {
    session.send_line(line).unwrap();
    shows(session, patterns);
}

/// Waits for these patterns in the output, one after the other.
fn shows(session: &mut PtySession, patterns: &[&str]) {
    for pattern in patterns {
        session.exp_regex(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    }
}

/// Interrupts, and waits for these patterns and the next prompt.
fn interrupt(session: &mut PtySession, patterns: &[&str]) {
    session.send_control('c').unwrap();
    shows(session, patterns);
    shows(session, &[READY]);
}

/// Checks that the prompt responds.
fn goes_on(session: &mut PtySession) {
    line(session, "SELECT 40 + 2 AS n;", &["\n *42", "1 row, ", READY]);
}

fn ends(mut session: PtySession) {
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn statements_and_lines_are_independent() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = prompt(&[], folder.path());
    line(&mut session, "SELECT", &[MORE]);
    // Complete statements run at once.
    line(&mut session, "  11 AS a; SELECT 12 AS b; SELECT", &["\n *11", "\n *12", MORE]);
    line(&mut session, "13 AS c;", &["\n *13", READY]);
    goes_on(&mut session);
    ends(session);
}

#[test]
fn pasted_text_may_have_many_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = prompt(&[], folder.path());
    let pasted = "\x1b[200~CREATE VIEW v AS SELECT 31 AS a;\n\\d v\nSELECT a + 1 AS b\nFROM v;\n\nSELECT\x1b[201~";
    session.send(pasted).unwrap();
    line(&mut session, "", &["data_type", "\n *32", MORE]);
    line(&mut session, "33 AS c;", &["\n *33", READY]);
    // The first failure skips the rest of the pasted text, but does not end the prompt.
    send(&mut session, "\x1b[200~SELECT nowhere;\nSELECT 34 AS d;\x1b[201~\r");
    shows(&mut session, &["nowhere", "error: "]);
    let before_the_prompt = session.exp_string(READY).unwrap();
    assert!(!before_the_prompt.contains("\n34") && !before_the_prompt.contains(" 34\r"), "{before_the_prompt}");
    goes_on(&mut session);
    ends(session);
}

#[test]
fn ctrl_c_drops_input_and_cancels_statements() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = prompt(&[], folder.path());
    interrupt(&mut session, &[]);
    send(&mut session, "SELEC 'half");
    shows(&mut session, &["half"]);
    interrupt(&mut session, &[]);
    line(&mut session, "SELECT 'and the second line", &[MORE]);
    interrupt(&mut session, &[]);
    goes_on(&mut session);
    let endless = "SELECT count(*) AS n FROM generate_series(1, 1000000000000) AS a(v) WHERE v % 7 = 3;";
    for _ in 0..2 {
        line(&mut session, endless, &["3;"]);
        std::thread::sleep(std::time::Duration::from_millis(500));
        interrupt(&mut session, &["interrupted"]);
        goes_on(&mut session);
    }
    ends(session);
}

#[test]
fn names_and_paths_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Numbers.csv"), "Some Column,b\n51,52\n").unwrap();
    let mut session = prompt(&[], folder.path());
    let create = "CREATE VIEW \"Odd Name\" AS SELECT \"Some Column\" AS \"Some Column\" FROM 'Numbers.csv';";
    line(&mut session, create, &[" s\r\n", READY]);
    send(&mut session, "SELECT \"Some C\t + 1 AS n FROM Odd\t;\r");
    shows(&mut session, &["\n *52", READY]);
    send(&mut session, "SELECT b + 1 AS n FROM 'Num\t';\r");
    shows(&mut session, &["\n *53", READY]);
    ends(session);
}
