//! Files that tests write for differing snapshots.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use similar::TextDiff;

use crate::Result;

/// Suffix of pending file snapshots.
pub const SUFFIX: &str = ".snap.new";
/// Suffix of files with pending inline snapshots.
pub const IN_SOURCE: &str = ".pending-snap";

/// The line between the metadata of a snapshot and its text.
const RULE: &str = "---";

/// A pending file snapshot.
#[derive(Debug)]
pub struct Pending(pub PathBuf);

impl Pending {
    /// Returns the path of the stored snapshot.
    pub fn stored(&self) -> PathBuf {
        self.0.with_extension("")
    }

    /// Returns the difference from the stored text. Without a stored snapshot, the stored text is
    /// empty.
    pub fn difference(&self) -> Result<String> {
        let stored = self.stored();
        let stored = if stored.exists() { fs::read_to_string(stored)? } else { String::new() };
        let new = fs::read_to_string(&self.0)?;
        let (stored, new) = (text(&stored), text(&new));
        Ok(TextDiff::from_lines(stored, new).unified_diff().context_radius(3).header("stored", "new").to_string())
    }

    /// Stores the snapshot.
    pub fn accept(&self) -> Result {
        let new = fs::read_to_string(&self.0)?;
        fs::write(self.stored(), for_storage(&new))?;
        fs::remove_file(&self.0)?;
        Ok(())
    }
}

/// Returns the text of a snapshot without its metadata.
fn text(file: &str) -> &str {
    let behind = file.strip_prefix(RULE).and_then(|rest| rest.split_once("\n---\n"));
    behind.map_or(file, |(_, text)| text)
}

/// Removes the line number of the assertion, which changes too often to store.
pub fn for_storage(file: &str) -> String {
    let mut rules = 0;
    let is_kept = |line: &&str| {
        rules += usize::from(line.trim_end() == RULE);
        rules != 1 || !line.starts_with("assertion_line:")
    };
    file.split_inclusive('\n').filter(is_kept).collect()
}

/// The pending inline snapshots of a source file.
#[derive(Debug)]
pub struct InSource {
    pub path: PathBuf,
    /// The line and the text of each snapshot.
    pub snapshots: Vec<(u32, String)>,
}

#[derive(Deserialize)]
struct Line {
    line: u32,
    new: Option<New>,
}

#[derive(Deserialize)]
struct New {
    snapshot: String,
}

impl InSource {
    pub fn read(path: PathBuf) -> Result<Self> {
        let mut snapshots = Vec::new();
        for line in fs::read_to_string(&path)?.lines() {
            let line: Line = serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display()))?;
            snapshots.extend(line.new.map(|new| (line.line, new.snapshot)));
        }
        Ok(Self { path, snapshots })
    }

    /// Returns the path of the source file.
    pub fn source(&self) -> PathBuf {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.trim_start_matches('.').trim_end_matches(IN_SOURCE);
        self.path.with_file_name(name)
    }
}
