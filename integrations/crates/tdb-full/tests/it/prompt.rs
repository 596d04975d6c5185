//! Tests of the `tdb sql` prompt on a pseudo-terminal.
#![cfg(all(feature = "sql", unix))]

use std::path::Path;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

/// Timeout in milliseconds, for unoptimized builds on busy machines.
const PATIENCE: u64 = 30_000;

fn prompt(arguments: &[&str], folder: &Path) -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tdb"));
    // `tdb sql` needs the program in the same folder.
    assert!(Path::new(env!("CARGO_BIN_EXE_tdb-sql")).is_file());
    command.arg("sql").args(arguments).current_dir(folder);
    command.env("TERM", "xterm").env("TDB_SQL_HISTORY", "").env("NO_COLOR", "1");
    let mut session = spawn_command(command, Some(PATIENCE)).unwrap();
    session.exp_string("tdb> ").unwrap();
    session
}

/// Sends text without Enter.
fn send(session: &mut PtySession, text: &str) {
    session.send(text).unwrap();
    session.flush().unwrap();
}

/// Checks that the prompt responds.
fn goes_on(session: &mut PtySession) {
    session.send_line("SELECT 40 + 2 AS n;").unwrap();
    session.exp_regex("\n *42").unwrap();
    session.exp_string("1 row, ").unwrap();
    session.exp_string("tdb> ").unwrap();
}

fn ends(mut session: PtySession) {
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn statements_take_lines_and_lines_take_statements() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = prompt(&[], folder.path());
    session.send_line("SELECT").unwrap();
    session.exp_string("...> ").unwrap();
    session.send_line("  11 AS a; SELECT 12 AS b; SELECT").unwrap();
    // Complete statements run at once.
    session.exp_regex("\n *11").unwrap();
    session.exp_regex("\n *12").unwrap();
    session.exp_string("...> ").unwrap();
    session.send_line("13 AS c;").unwrap();
    session.exp_regex("\n *13").unwrap();
    session.exp_string("tdb> ").unwrap();
    goes_on(&mut session);
    ends(session);
}

#[test]
fn what_is_pasted_may_be_many_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = prompt(&[], folder.path());
    session
        .send("\x1b[200~CREATE VIEW v AS SELECT 31 AS a;\n\\d v\nSELECT a + 1 AS b\nFROM v;\n\nSELECT\x1b[201~")
        .unwrap();
    session.send_line("").unwrap();
    session.exp_string("data_type").unwrap();
    session.exp_regex("\n *32").unwrap();
    session.exp_string("...> ").unwrap();
    session.send_line("33 AS c;").unwrap();
    session.exp_regex("\n *33").unwrap();
    session.exp_string("tdb> ").unwrap();
    // The first failure skips the rest of the pasted text, but does not end the prompt.
    send(&mut session, "\x1b[200~SELECT nowhere;\nSELECT 34 AS d;\x1b[201~\r");
    session.exp_string("nowhere").unwrap();
    session.exp_string("error: ").unwrap();
    let before_the_prompt = session.exp_string("tdb> ").unwrap();
    assert!(!before_the_prompt.contains("\n34") && !before_the_prompt.contains(" 34\r"), "{before_the_prompt}");
    goes_on(&mut session);
    ends(session);
}

#[test]
fn ctrl_c_drops_what_was_typed_and_ends_what_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = prompt(&[], folder.path());
    session.send_control('c').unwrap();
    session.exp_string("tdb> ").unwrap();
    send(&mut session, "SELEC 'half");
    session.exp_string("half").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("tdb> ").unwrap();
    session.send_line("SELECT 'and the second line").unwrap();
    session.exp_string("...> ").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("tdb> ").unwrap();
    goes_on(&mut session);
    let endless = "SELECT count(*) AS n FROM generate_series(1, 1000000000000) AS a(v) WHERE v % 7 = 3;";
    for _ in 0..2 {
        session.send_line(endless).unwrap();
        session.exp_string("3;").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        session.send_control('c').unwrap();
        session.exp_string("interrupted").unwrap();
        session.exp_string("tdb> ").unwrap();
        goes_on(&mut session);
    }
    ends(session);
}

#[test]
fn names_are_completed_in_quotes_and_paths_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Numbers.csv"), "Some Column,b\n51,52\n").unwrap();
    let mut session = prompt(&[], folder.path());
    session
        .send_line("CREATE VIEW \"Odd Name\" AS SELECT \"Some Column\" AS \"Some Column\" FROM 'Numbers.csv';")
        .unwrap();
    session.exp_string(" s\r\n").unwrap();
    session.exp_string("tdb> ").unwrap();
    send(&mut session, "SELECT \"Some C\t + 1 AS n FROM Odd\t;\r");
    session.exp_regex("\n *52").unwrap();
    session.exp_string("tdb> ").unwrap();
    send(&mut session, "SELECT b + 1 AS n FROM 'Num\t';\r");
    session.exp_regex("\n *53").unwrap();
    session.exp_string("tdb> ").unwrap();
    ends(session);
}
