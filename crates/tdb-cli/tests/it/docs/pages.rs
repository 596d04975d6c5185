//! Runs the commands of a page in a temporary folder, as a reader would.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use tdb_testkit::fixtures;

use super::repository;

/// The pages whose examples use the array `variants` of `docs/guides/write.md`.
const ON_VARIANTS: [&str; 3] =
    ["docs/guides/import-export.md", "docs/guides/selections.md", "docs/guides/aggregates.md"];

/// The pages whose examples use any array, as `ARRAY`.
const ON_ARRAY: [&str; 4] = ["README.md", "docs/guides/advice.md", "docs/guides/migrate.md", "docs/guides/relocate.md"];

/// A fenced block of a page.
struct Block<'a> {
    /// The last line of text before the block.
    before: &'a str,
    language: &'a str,
    lines: Vec<&'a str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut lines = page.lines();
    let mut before = "";
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let lines = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block { before: std::mem::take(&mut before), language, lines });
        } else if !line.is_empty() {
            before = line;
        }
    }
    blocks
}

impl<'a> Block<'a> {
    /// The name of the file that the page tells the reader to save.
    fn file(&self) -> Option<&'a str> {
        let (_, name) = self.before.split_once(" as `")?;
        name.strip_suffix("`:").filter(|_| self.before.starts_with("Save this"))
    }

    /// The commands, each with the printed output. A block `sh` shows no output.
    fn commands(&self) -> Vec<(&'a str, Option<Vec<&'a str>>)> {
        let mut commands: Vec<(&str, Option<Vec<&str>>)> = Vec::new();
        for line in &self.lines {
            match (self.language, line.strip_prefix("$ ")) {
                ("sh", _) if line.starts_with("tdb ") && !line.starts_with("tdb sql ") => commands.push((line, None)),
                ("text", Some(command)) => commands.push((command, Some(Vec::new()))),
                ("text", None) => {
                    if let Some((_, Some(output))) = commands.last_mut() {
                        output.push(line);
                    }
                }
                _ => {}
            }
        }
        commands
    }
}

/// Runs a line of a shell, which must succeed if its output is not shown.
fn shell(folder: &Path, line: &str, output: Option<&[&str]>) {
    let programs = Path::new(env!("CARGO_BIN_EXE_tdb")).parent().expect("the folder of the programs");
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap_or_default());
    let script = format!("exec 2>&1\n{line}");
    let run = Command::new("sh").args(["-c", &script]).current_dir(folder).env("PATH", path).output().expect("sh runs");
    let printed = String::from_utf8_lossy(&run.stdout);
    match output {
        None => assert!(run.status.success(), "{line}\n{printed}"),
        Some(output) => {
            let shown = output.iter().rposition(|line| !line.is_empty()).map_or(&[][..], |last| &output[..=last]);
            let end = shown.iter().position(|line| *line == "…");
            let mut printed: Vec<String> = printed.lines().map(without_ids).collect();
            printed.truncate(end.unwrap_or(printed.len()));
            let shown: Vec<String> = shown[..end.unwrap_or(shown.len())].iter().copied().map(without_ids).collect();
            assert_eq!(printed, shown, "{line}");
        }
    }
}

/// A line with `…` in place of each fragment id.
fn without_ids(line: &str) -> String {
    let parts = line.split('_').map(|part| {
        let is_id = part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { "…" } else { part }
    });
    parts.collect::<Vec<_>>().join("_")
}

/// Saves the files of a page, runs its commands, and returns their number.
fn follow(folder: &Path, page: &str) -> usize {
    let text = fs::read_to_string(repository(page)).expect(page);
    let mut run = 0;
    for block in blocks(&text) {
        if save(folder, &block) {
            continue;
        }
        for (line, output) in block.commands() {
            shell(folder, line, output.as_deref());
            run += 1;
        }
    }
    assert!(run > 0, "{page} has no commands");
    run
}

/// Saves the block if it is a file.
fn save(folder: &Path, block: &Block<'_>) -> bool {
    let Some(name) = block.file() else { return false };
    fs::write(folder.join(name), block.lines.join("\n") + "\n").expect("a temporary folder");
    true
}

/// A folder with the files of these pages.
fn files_of(pages: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for page in pages {
        let text = fs::read_to_string(repository(page)).expect(page);
        assert!(blocks(&text).iter().any(|block| save(folder.path(), block)), "{page} has no files");
    }
    folder
}

const FIRST_ARRAY: &str = "docs/start/first-array.md";
const WRITE: &str = "docs/guides/write.md";

/// A folder with the files and the array that `docs/guides/write.md` begins with.
fn variants() -> tempfile::TempDir {
    let folder = files_of(&[FIRST_ARRAY, WRITE]);
    shell(folder.path(), "tdb create variants --schema schema.toml && tdb import variants calls.csv", None);
    folder
}

#[test]
fn first_array_and_write() {
    assert!(follow(tempfile::tempdir().expect("a temporary folder").path(), FIRST_ARRAY) > 8);
    assert!(follow(files_of(&[FIRST_ARRAY]).path(), WRITE) > 8);
}

#[test]
fn guides_on_the_array_of_the_write_page() {
    for page in ON_VARIANTS {
        follow(variants().path(), page);
    }
}

#[test]
fn commands_on_any_array() {
    for page in ON_ARRAY {
        let folder = variants();
        shell(folder.path(), "cp -r variants ARRAY && mv calls.csv rows.csv", None);
        if page == "README.md" {
            shell(folder.path(), "cp -r variants COPY", None);
        }
        follow(folder.path(), page);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    fixture.unpack_into(folder.path());
    fs::rename(folder.path().join("array"), folder.path().join("ARRAY")).expect("the array of the fixture");
    follow(folder.path(), "docs/guides/maintenance.md");
}
