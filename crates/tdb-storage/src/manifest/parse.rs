//! The parser of manifests.

use super::encode::{decode, is_text};
use super::list::{Manifest, ManifestEntry};
use crate::manifest_error::ManifestError;
use crate::path::check_path;
use crate::storage::DEPTH;

impl Manifest {
    /// Parses the text of a manifest. Allocates memory in proportion to the text.
    ///
    /// # Errors
    /// [`ManifestError`] with the number of the line.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestError> {
        parsed(text)
    }
}

/// Parses the text of a manifest.
fn parsed(text: &[u8]) -> Result<Manifest, ManifestError> {
    let lines = text.strip_prefix(b"tdb manifest ").ok_or(ManifestError::NotAManifest)?;
    let end = lines.iter().take(20).position(|byte| *byte == b'\n').ok_or(ManifestError::NotAManifest)?;
    let (version, lines) = (&lines[..end], &lines[end + 1..]);
    if version != b"1" {
        let found = String::from_utf8_lossy(&text[..text.len() - lines.len() - 1]).into_owned();
        return Err(ManifestError::UnknownVersion { found });
    }
    let mut entries: Vec<ManifestEntry> = Vec::new();
    for (line, number) in lines.split_inclusive(|byte| *byte == b'\n').zip(2..) {
        let wrong = |why| ManifestError::Line { line: number, why };
        let entry = entry(line).map_err(wrong)?;
        if let Some(last) = entries.last() {
            check_order(&last.path, &entry.path).map_err(wrong)?;
        }
        entries.try_reserve(1).map_err(|_| ManifestError::OutOfMemory)?;
        entries.push(entry);
    }
    let manifest = Manifest { entries };
    for (entry, number) in manifest.entries.iter().zip(2..) {
        // All components but the last name folders.
        let path = entry.path.trim_end_matches('/');
        if path.match_indices('/').any(|(end, _)| manifest.size(&path[..end]).is_some())
            || (entry.is_folder() && manifest.size(path).is_some())
        {
            return Err(ManifestError::Line { line: number, why: "a folder of the path is listed as a file" });
        }
    }
    Ok(manifest)
}

fn entry(line: &[u8]) -> Result<ManifestEntry, &'static str> {
    let line = line.strip_suffix(b"\n").ok_or("the line has no end; the manifest is truncated")?;
    let line = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    let (size, path) = line.split_once(' ').ok_or("expected a size, a space and a path")?;
    if size.is_empty() || !size.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected a size in bytes, as a decimal number");
    }
    let size = size.parse().map_err(|_| "the size has more than 64 bits")?;
    if !path.chars().all(is_text) {
        return Err("control characters and line ends must be percent-encoded");
    }
    let path = decode(path).ok_or("a percent-encoded character is invalid")?;
    let folder = path.strip_suffix('/');
    let checked = folder.unwrap_or(&path);
    if checked.is_empty() || check_path(checked).is_err() {
        return Err("expected a relative path without empty components, '.', '..', backslashes and NUL");
    }
    // Bounds the time of checks for each folder of a path.
    if checked.matches('/').count() > DEPTH {
        return Err("the folders of the path are nested too deeply");
    }
    if folder.is_some() && size != 0 {
        return Err("expected size 0 for an empty folder, whose path ends with '/'");
    }
    Ok(ManifestEntry { path, size })
}

fn check_order(last: &str, path: &str) -> Result<(), &'static str> {
    if path <= last {
        return Err("paths must be distinct and sorted bytewise");
    }
    if last.ends_with('/') && path.starts_with(last) {
        return Err("the folder of the path is listed as an empty folder");
    }
    Ok(())
}
