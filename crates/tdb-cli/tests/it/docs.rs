//! Runs the examples of the README and of pages in `docs/`, and compares their output with the page.
//!
//! With `UPDATE_DOCS=1` in the environment, the test of `docs/reference/cli.md` updates the page
//! instead.

#[cfg(unix)]
mod pages;

use std::path::PathBuf;
use std::{env, fs};

use crate::support::{tdb, words};

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn page() -> PathBuf {
    repository("docs/reference/cli.md")
}

/// Returns the output of the command, truncated as in the page.
fn output(line: &str) -> String {
    const MOST: usize = 30;
    let run = tdb(words(line).iter().skip(1));
    let text = format!("{}{}", run.stdout, run.stderr);
    let lines: Vec<&str> = text.lines().collect();
    let cut = if lines.len() > MOST { "…\n" } else { "" };
    let shown: String = lines.iter().take(MOST).map(|line| format!("{line}\n")).collect();
    shown + cut
}

/// Returns the page with the current output of all commands.
fn up_to_date(text: &str) -> String {
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
            page.push_str(&output(command));
        }
    }
    page
}

#[test]
fn examples() {
    let text = fs::read_to_string(page()).expect("docs/reference/cli.md");
    let now = up_to_date(&text);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(page(), now).expect("docs/reference/cli.md can be written");
        return;
    }
    assert!(now.contains("$ tdb read"));
    for (number, (is, should)) in text.lines().zip(now.lines()).enumerate() {
        assert_eq!(is, should, "docs/reference/cli.md, line {}; UPDATE_DOCS=1 brings it up to date", number + 1);
    }
    assert_eq!(text, now);
}

/// Returns the options in a help text.
fn options(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines
        .flat_map(|line| line.split(['[', ' ', ',', '=']).take_while(|word| word.is_empty() || word.starts_with('-')));
    words.filter(|word| word.starts_with("--") && *word != "--help").map(str::to_owned).collect()
}

#[test]
fn every_option_is_described() {
    let text = fs::read_to_string(page()).expect("docs/reference/cli.md");
    let (commands, general) = text.split_once("\n## For every command").expect("a part on all commands");
    let help = tdb(["--help"]).stdout;
    let names = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = names.map_while(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let mut seen = 0;
    for name in names.filter(|name| *name != "help") {
        let (_, section) = commands.split_once(&format!("\n## tdb {name}\n")).expect(name);
        let section = section.split("\n## ").next().unwrap_or_default();
        let actions: &[&str] = if name == "group" { &["create", "add", "remove"] } else { &[""] };
        for action in actions {
            let help = tdb([name, action, "--help"].iter().filter(|word| !word.is_empty())).stdout;
            for option in options(&help) {
                seen += 1;
                let is_told = [section, general].iter().any(|part| {
                    part.match_indices(&option).any(|(at, _)| {
                        !part[at + option.len()..].starts_with(|next: char| next == '-' || next.is_ascii_alphabetic())
                    })
                });
                assert!(is_told, "docs/reference/cli.md does not describe {option} of tdb {name} {action}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
