//! The files of the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::Result;

/// Source files by path below `src`.
pub(super) type Sources = BTreeMap<String, String>;

/// Returns the paths of the tracked and new files, in sorted order.
pub(super) fn paths(repository: &Path) -> Result<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(arguments).current_dir(repository).output()?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let listed = String::from_utf8(output.stdout)?;
    // The index also contains deleted files.
    let exists = |path: &&str| repository.join(path).is_file();
    let mut paths: Vec<String> = listed.split_terminator('\0').filter(exists).map(str::to_owned).collect();
    paths.sort();
    Ok(paths)
}

/// Returns the contents of the Rust and Markdown files by path, without fixtures, snapshots and the
/// changelog.
pub(super) fn texts(repository: &Path) -> Result<Vec<(String, String)>> {
    let is_text = |path: &String| {
        let is_skipped = |name| ["fixtures", "snapshots", "CHANGELOG.md"].contains(&name);
        (path.ends_with(".rs") || path.ends_with(".md")) && !path.split('/').any(is_skipped)
    };
    let read = |path: String| Ok((path.clone(), fs::read_to_string(repository.join(path))?));
    paths(repository)?.into_iter().filter(is_text).map(read).collect()
}

/// Returns the source files of all crates. The keys are the folders of the crates.
pub(super) fn sources(repository: &Path) -> Result<BTreeMap<String, Sources>> {
    let mut crates = BTreeMap::<String, Sources>::new();
    for path in paths(repository)?.into_iter().filter(|path| path.ends_with(".rs")) {
        let Some((folder, file)) = path.split_once("/src/") else { continue };
        let group = folder.rsplit_once('/').map(|(group, _)| group);
        if folder == "xtask" || matches!(group, Some("crates" | "xtask" | "integrations/crates")) {
            let text = fs::read_to_string(repository.join(&path))?;
            crates.entry(folder.to_owned()).or_default().insert(file.to_owned(), text);
        }
    }
    Ok(crates)
}
