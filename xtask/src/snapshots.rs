//! Shows and updates pending test snapshots, like `cargo insta`, as far as this workspace needs it.
//!
//! A test whose snapshot differs writes `NAME.snap.new` next to `NAME.snap`. For inline snapshots
//! it writes `.FILE.rs.pending-snap`. Pending inline snapshots are shown, and must be copied to the
//! source by hand.

mod pending;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::Result;
use crate::cargo::{show, workspace};
use pending::{InSource, Pending};

/// Arguments of `cargo xtask snapshots`. The default subcommand is `review`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Show the pending snapshots as differences to the stored ones
    Review(Which),
    /// Store the pending snapshots
    Accept(Which),
    /// Delete the pending snapshots
    Reject(Which),
    /// Run tests and store all of their snapshots
    Update {
        /// Crate to test; may be repeated; all crates with snapshots by default
        #[arg(short, long, value_name = "CRATE")]
        package: Vec<String>,
    },
}

#[derive(clap::Args)]
struct Which {
    /// Only snapshots whose path contains this text
    path: Option<String>,
}

/// Runs `cargo xtask snapshots`.
pub fn run(arguments: &Arguments) -> Result {
    let root = workspace();
    match &arguments.action {
        None => review(&root, None),
        Some(Action::Review(which)) => review(&root, which.path.as_deref()),
        Some(Action::Accept(which)) => accept(&root, which.path.as_deref()),
        Some(Action::Reject(which)) => reject(&root, which.path.as_deref()),
        Some(Action::Update { package }) => update(&root, package),
    }
}

fn review(root: &Path, path: Option<&str>) -> Result {
    let (pending, in_source) = find(root, path)?;
    for snapshot in &pending {
        println!("{}\n{}", named(root, &snapshot.stored()), snapshot.difference()?);
    }
    for file in &in_source {
        for (line, text) in &file.snapshots {
            println!("{}:{line}, in the source:\n{text}\n", named(root, &file.source()));
        }
    }
    match pending.len() + in_source.len() {
        0 => println!("no snapshot is pending"),
        _ => println!("`cargo xtask snapshots accept [PATH]` stores them, `reject [PATH]` removes them"),
    }
    Ok(())
}

fn accept(root: &Path, path: Option<&str>) -> Result {
    let (pending, in_source) = find(root, path)?;
    for snapshot in &pending {
        snapshot.accept()?;
        println!("stored {}", named(root, &snapshot.stored()));
    }
    for file in &in_source {
        println!("not stored: snapshots in the source of {}; copy them by hand", named(root, &file.source()));
    }
    if in_source.is_empty() { Ok(()) } else { Err("snapshots in sources are left".into()) }
}

fn reject(root: &Path, path: Option<&str>) -> Result {
    let (pending, in_source) = find(root, path)?;
    let files = pending.iter().map(|snapshot| &snapshot.0).chain(in_source.iter().map(|file| &file.path));
    for file in files {
        fs::remove_file(file)?;
        println!("removed {}", named(root, file));
    }
    Ok(())
}

/// Runs the tests of crates and stores their snapshots. Inline snapshots stay pending.
fn update(root: &Path, packages: &[String]) -> Result {
    let packages = if packages.is_empty() { with_snapshots(root)? } else { packages.to_vec() };
    let mut arguments = vec!["test", "--no-fail-fast"];
    packages.iter().for_each(|package| arguments.extend(["--package", package]));
    println!("cargo {}", arguments.join(" "));
    show(&arguments, &[("INSTA_UPDATE", "always")])
}

fn with_snapshots(root: &Path) -> Result<Vec<String>> {
    let crates = root.join("crates");
    let mut names = BTreeSet::new();
    for file in files(&crates)? {
        if file.extension().is_some_and(|extension| extension == "snap") {
            let name = file.strip_prefix(&crates)?.components().next();
            names.extend(name.map(|name| name.as_os_str().to_string_lossy().into_owned()));
        }
    }
    Ok(names.into_iter().collect())
}

/// Returns the pending file snapshots, and the pending inline snapshots.
fn find(root: &Path, path: Option<&str>) -> Result<(Vec<Pending>, Vec<InSource>)> {
    let (mut pending, mut in_source) = (Vec::new(), Vec::new());
    for file in files(root)? {
        let name = named(root, &file);
        if path.is_some_and(|path| !name.contains(path)) {
            continue;
        }
        if name.ends_with(pending::SUFFIX) {
            pending.push(Pending(file));
        } else if name.ends_with(pending::IN_SOURCE) {
            in_source.push(InSource::read(file)?);
        }
    }
    Ok((pending, in_source))
}

/// Returns all files below a folder in sorted order, without build output, fixtures and corpora.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let skipped = ["target", ".git", ".reference", "fixtures", "corpus"].iter().any(|skipped| name == *skipped);
            match entry.file_type()? {
                kind if kind.is_dir() && !skipped => folders.push(entry.path()),
                kind if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Formats a path relative to the workspace.
fn named(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
