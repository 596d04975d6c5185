//! Runs the statements in `docs/guides/jobs.md` on the arrays in `tests/jobs`, and compares the
//! output with the page.
//!
//! Set `UPDATE_DOCS=1` to update the page instead.
#![cfg(feature = "sql")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Names of the archives in `tests/jobs`, and of the folders within.
const ARRAYS: [&str; 3] = ["variants", "pbmc", "heights"];

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/guides/jobs.md")
}

fn unpack(folder: &Path) {
    for name in ARRAYS {
        let archive = format!("{}/tests/jobs/{name}.tar.gz", env!("CARGO_MANIFEST_DIR"));
        let bytes = fs::read(&archive).unwrap_or_else(|error| panic!("{archive}: {error}"));
        tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..])).unpack(folder).unwrap();
        assert!(folder.join(name).is_dir());
    }
}

/// Returns the code blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut block: Option<(bool, Vec<&str>)> = None;
    for line in text.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(info)) => block = Some((info == language, Vec::new())),
            (None, None) => {}
            (Some((_, lines)), None) => lines.push(line),
            (Some(_), Some(_)) => {
                found.extend(block.take().filter(|(is_wanted, _)| *is_wanted).map(|(_, lines)| lines));
            }
        }
    }
    found
}

/// Writes the SQL blocks of the page to files. The first line of each is `-- NAME`.
fn write_statements(text: &str, folder: &Path) {
    for lines in blocks(text, "sql") {
        let name = lines[0].strip_prefix("-- ").expect("the name of a file");
        fs::write(folder.join(name), lines.join("\n")).unwrap();
    }
}

/// Runs a command in the folder, and returns its output.
fn output(line: &str, folder: &Path) -> String {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("tdb"), "{line}");
    let run = Command::new(env!("CARGO_BIN_EXE_tdb")).args(words).current_dir(folder).output().unwrap();
    assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    let printed = String::from_utf8(run.stdout).unwrap();
    assert!(printed.lines().count() > 3, "{line}: {printed}");
    // Removes trailing spaces, which tables pad with.
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// Returns the page with the current output of its commands.
fn up_to_date(text: &str, folder: &Path) -> String {
    let mut page = String::new();
    let mut in_console = false;
    for line in text.lines() {
        if in_console && !line.starts_with("$ ") && line != "```" {
            continue;
        }
        page.push_str(line);
        page.push('\n');
        in_console = if in_console { line != "```" } else { line == "```console" };
        if let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) {
            page.push_str(&output(command, folder));
        }
    }
    page
}

#[test]
fn page_shows_current_output() {
    let folder = tempfile::tempdir().unwrap();
    unpack(folder.path());
    let text = fs::read_to_string(page()).unwrap();
    write_statements(&text, folder.path());
    let now = up_to_date(&text, folder.path());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(page(), now).unwrap();
        return;
    }
    assert_eq!(blocks(&text, "console").len(), blocks(&text, "sql").len());
    for (number, (is, should)) in text.lines().zip(now.lines()).enumerate() {
        assert_eq!(is, should, "docs/guides/jobs.md, line {}; run with UPDATE_DOCS=1 to update the page", number + 1);
    }
    assert_eq!(text, now);
}
