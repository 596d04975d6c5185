//! Compiles the Rust examples of the README and the pages in `docs/`.
//!
//! The examples of crate READMEs are doc tests. Pages show no hidden lines, so their examples need
//! a function and a return type around them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::Result;
use crate::cargo::{cargo, workspace};

const PAGES: [&str; 5] = [
    "README.md",
    "docs/guides/aggregates.md",
    "docs/guides/selections.md",
    "docs/guides/splits.md",
    "docs/internals/fixtures.md",
];

/// Names that the pages leave to the reader.
const READER: &str = "#![allow(dead_code, unused_variables)]\nuse std::error::Error;\nfn send(_: Vec<u8>) {}\n";

/// Checks a package with a function for each example.
pub(super) fn compile() -> Result {
    let root = workspace();
    let folder = root.join("target/snippets");
    let mut source = READER.to_owned();
    for page in PAGES {
        println!("examples of {page}");
        let before = source.len();
        let text = fs::read_to_string(root.join(page))?;
        for (number, example) in examples(&text).enumerate() {
            let page: String =
                page.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
            writeln!(
                source,
                "fn {page}_{number}(received: &[u8]) -> Result<(), Box<dyn Error>> {{\n{example}Ok(())\n}}"
            )?;
        }
        if source.len() == before {
            return Err(format!("{page} has no Rust example").into());
        }
    }
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), source)?;
    fs::write(folder.join("Cargo.toml"), manifest(&root))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let target = root.join("target/examples");
    let target = target.to_str().ok_or("the workspace's path is not UTF-8")?;
    cargo(&folder, &["check", "--quiet", "--target-dir", target]).map(drop)
}

/// Returns the Rust code blocks of a page.
fn examples(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n```rust\n").skip(1).filter_map(|rest| rest.split_once("```\n")).map(|(example, _)| example)
}

fn manifest(root: &Path) -> String {
    let path = |name: &str| root.join("crates").join(name).display().to_string();
    format!(
        "[workspace]\n[package]\nname = \"snippets\"\nedition = \"2024\"\n[dependencies]\n\
         tdb-library = {{ path = {:?} }}\ntdb-testkit = {{ path = {:?} }}\n",
        path("tdb"),
        path("tdb-testkit")
    )
}
