//! SHA-256 digests of all files below a folder. Digests reveal changed bytes even without checksums
//! in the format.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use sha2::{Digest, Sha256};
use tdb_array::Monitor;
use tdb_storage::{EntryKind, Storage, at_once, read_range};

use tdb_job::{MaintainError, Result};

/// SHA-256 digests of all files below a folder, by relative path.
///
/// The text form has one line per file, in the format of `sha256sum`.
///
/// ```
/// use std::sync::Arc;
/// use tdb_array::Monitor;
/// use tdb_array::tdb_storage::{MemoryStorage, Storage};
/// use tdb_verify::{FileChange, Manifest};
///
/// let storage = MemoryStorage::new();
/// storage.insert("a/b", *b"abc")?;
/// let manifest = Manifest::of(&storage, 1, &Monitor::new())?;
/// assert!(manifest.to_string().starts_with("ba7816bf8f01cfea") && manifest.to_string().ends_with("  a/b\n"));
///
/// storage.insert("a/b", *b"abd")?;
/// let now = Manifest::of(&storage, 1, &Monitor::new())?;
/// let changes = Manifest::parse(&manifest.to_string())?.changes(&now);
/// assert_eq!(changes, [("a/b".to_owned(), FileChange::Changed)]);
/// # Ok::<(), tdb_job::MaintainError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    files: BTreeMap<String, [u8; 32]>,
}

/// Change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileChange {
    /// The content differs. Files of arrays and groups are never rewritten, so that a change is
    /// damage.
    Changed,
    /// The file is missing, because of a vacuum, a deletion or an accident.
    Missing,
    /// The file is new.
    New,
}

impl FileChange {
    /// Returns a machine-readable name of the change.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Missing => "missing",
            Self::New => "new",
        }
    }
}

/// Number of bytes per read.
const STEP: u64 = 1 << 20;

impl Manifest {
    /// Hashes all files below the root of a storage, `threads` files at a time.
    ///
    /// # Errors
    /// A folder cannot be listed, a file cannot be read, or the monitor was canceled.
    pub fn of(storage: &dyn Storage, threads: usize, monitor: &Monitor) -> Result<Self> {
        let mut files = Vec::new();
        let mut folders = vec![String::new()];
        let mut seen = HashSet::new();
        while let Some(folder) = folders.pop() {
            // A link may lead to a parent folder. URIs contain no links, and therefore reveal such
            // a cycle.
            let place =
                if folder.is_empty() { storage.uri("") } else { storage.sub(&folder).ok().and_then(|sub| sub.uri("")) };
            if place.is_some_and(|place| !seen.insert(place)) {
                continue;
            }
            let listed = match storage.list(&folder) {
                // Some object stores list folders whose files are all deleted.
                Err(error) if error.is_not_found() && !folder.is_empty() && storage.profile().is_remote() => continue,
                listed => listed?,
            };
            for entry in listed {
                let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                match entry.kind {
                    EntryKind::File => files.push(path),
                    EntryKind::Folder => folders.push(path),
                }
            }
        }
        let hashed = at_once(threads.max(1), &files, |path| hash(storage, path, monitor));
        let files = files.iter().zip(hashed).map(|(path, hash)| Ok((path.clone(), hash?))).collect::<Result<_>>()?;
        Ok(Self { files })
    }

    /// Parses the text form, as written by [`Display`](fmt::Display).
    ///
    /// # Errors
    /// [`MaintainError::Manifest`] for an invalid line.
    pub fn parse(text: &str) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let (path, hash) = parse_line(line).ok_or(MaintainError::Manifest { line: number })?;
            files.insert(path, hash);
        }
        Ok(Self { files })
    }

    /// Returns the number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns `true` if the manifest has no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the changes from this manifest to the manifest `now`, sorted by path.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<(String, FileChange)> {
        let of_old = self.files.iter().filter_map(|(path, hash)| match now.files.get(path) {
            None => Some((path, FileChange::Missing)),
            Some(other) => (other != hash).then_some((path, FileChange::Changed)),
        });
        let new = now.files.keys().filter(|path| !self.files.contains_key(*path)).map(|path| (path, FileChange::New));
        let mut changes: Vec<_> = of_old.chain(new).map(|(path, change)| (path.clone(), change)).collect();
        changes.sort();
        changes
    }
}

fn hash(storage: &dyn Storage, path: &str, monitor: &Monitor) -> Result<[u8; 32]> {
    let file = storage.open(path)?;
    let (mut hash, size) = (Sha256::new(), file.size());
    for start in (0..size).step_by(STEP as usize) {
        if monitor.is_cancelled() {
            return Err(tdb_array::ArrayError::Cancelled.into());
        }
        let range = start..size.min(start + STEP);
        hash.update(read_range(&*file, range, STEP, || storage.describe(path))?);
    }
    Ok(hash.finalize().into())
}

/// Escapes backslashes and line breaks in a path. Returns `None` if the path contains none of them.
/// A line with an escaped path starts with a backslash.
fn escaped(path: &str) -> Option<String> {
    let special = |character| matches!(character, '\\' | '\n' | '\r');
    let spelt = || path.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    path.contains(special).then(spelt)
}

fn parse_line(line: &str) -> Option<(String, [u8; 32])> {
    let (line, is_escaped) = line.strip_prefix('\\').map_or((line, false), |line| (line, true));
    let (digits, path) = line.split_once("  ").or_else(|| line.split_once(" *"))?;
    let hash = tdb_types::hex::decode(digits)?.try_into().ok()?;
    if !is_escaped {
        return Some((path.to_owned(), hash));
    }
    let (mut plain, mut rest) = (String::new(), path.chars());
    while let Some(character) = rest.next() {
        plain.push(match character {
            '\\' => match rest.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some((plain, hash))
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, hash) in &self.files {
            let escaped = escaped(path);
            if escaped.is_some() {
                f.write_str("\\")?;
            }
            hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            writeln!(f, "  {}", escaped.as_deref().unwrap_or(path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_parsed_back() {
        let names = ["a", "a b", "two  spaces", "back\\slash", "line\nend\r", "ü", " leading", "\\n"];
        let files = (1u8..).zip(names).map(|(number, name)| (name.to_owned(), [number; 32])).collect();
        let manifest = Manifest { files };
        assert_eq!(Manifest::parse(&manifest.to_string()).ok(), Some(manifest));
        for wrong in
            ["x", "00  a", &"0".repeat(70), &format!("{}  a", "g".repeat(64)), &format!("{} a", "0".repeat(64))]
        {
            assert!(Manifest::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn changes_are_reported() {
        let of = |files: &[(&str, u8)]| Manifest {
            files: files.iter().map(|(path, byte)| ((*path).to_owned(), [*byte; 32])).collect(),
        };
        let (old, now) = (of(&[("a", 1), ("b", 2), ("c", 3)]), of(&[("a", 1), ("b", 9), ("d", 3)]));
        let changes: Vec<_> = old.changes(&now).into_iter().map(|(path, change)| (path, change.name())).collect();
        assert_eq!(
            changes,
            [("b", "changed"), ("c", "missing"), ("d", "new")].map(|(path, what)| (path.to_owned(), what))
        );
        assert!(now.changes(&now).is_empty());
    }
}
