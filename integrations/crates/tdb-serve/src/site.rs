//! The served folders.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tdb_cli::tdb_array::Listing;
use tdb_storage::{EntryKind, MANIFEST_NAME, Manifest, Storage, StorageError};

use crate::folder::Folder;
use crate::found::{Found, FoundFile, Text};
use crate::page::{Viewer, page};

/// Maximum number of listed folders in the search for arrays.
const SEARCHED: usize = 10_000;
/// Maximum depth of the search. Links may form cycles.
const DEEPEST: usize = 16;
/// Maximum number of listings of a folder during concurrent removals.
const ROUNDS: usize = 5;
/// Characters of a URL without encoding.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The folders and pages of a server.
#[derive(Debug)]
pub(crate) struct Site {
    roots: Vec<(String, Folder)>,
    pub(crate) viewer: Viewer,
}

/// An array, a group or a folder below a root.
struct Object {
    name: String,
    kind: &'static str,
}

impl Site {
    /// Opens the folders. Chooses a distinct name for each.
    pub(crate) fn open(folders: &[impl AsRef<Path>], viewer: Viewer) -> io::Result<Self> {
        let mut taken = HashSet::new();
        let mut roots = Vec::new();
        for folder in folders {
            let folder = std::fs::canonicalize(folder)?;
            let name = folder.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
            let name: String = name.trim_start_matches('.').replace(['\\', '/', ':'], "_");
            let name = if crate::path::is_served(&name) && !name.is_empty() { name } else { "data".to_owned() };
            let mut unique = name.clone();
            let mut number = 1;
            while !taken.insert(unique.clone()) {
                number += 1;
                unique = format!("{name}-{number}");
            }
            roots.push((unique, Folder::open(&folder)?));
        }
        Ok(Self { roots, viewer })
    }

    /// Returns the content at a [decoded](crate::decoded_path) path, or `None` for an unknown path.
    pub(crate) fn find(&self, path: &str) -> io::Result<Option<Found>> {
        let Some(inside) = path.strip_prefix("data/") else {
            return match path {
                "data" => Ok(Some(Found::Redirect("/data/".to_owned()))),
                _ => self.viewer.find(path, || self.list_page()),
            };
        };
        if inside.is_empty() {
            let list = serde_json::to_vec(&self.list()).map_err(io::Error::other)?;
            return Ok(Some(Found::Text(Text { bytes: list.into(), media_type: "application/json", is_page: false })));
        }
        let (name, path) = inside.split_once('/').unwrap_or((inside, ""));
        let Some((_, root)) = self.roots.iter().find(|(root, _)| root == name) else { return Ok(None) };
        match path.rsplit_once('/').unwrap_or(("", path)) {
            (folder, MANIFEST_NAME) => manifest_of(&root.below(folder)),
            (_, "") => Ok(None),
            _ => {
                let Some((file, metadata)) = existing(root.file(path))?.flatten() else { return Ok(None) };
                Ok(Some(Found::File(FoundFile {
                    file,
                    size: metadata.len(),
                    modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
                    media_type: "application/octet-stream",
                    is_page: false,
                })))
            }
        }
    }

    /// Returns the names of the folders.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the arrays and groups as JSON.
    fn list(&self) -> Value {
        let object = |Object { name, kind }: Object| {
            let url = format!("/data/{}/", encoded(&name));
            json!({ "name": name, "kind": kind, "url": url })
        };
        self.objects().into_iter().map(object).collect()
    }

    fn list_page(&self) -> String {
        page(self.objects().into_iter().map(|Object { name, kind }| {
            let url = format!("data/{}/{MANIFEST_NAME}", encoded(&name));
            (url, name, kind)
        }))
    }

    /// Returns the arrays and groups in the folders, sorted by path.
    fn objects(&self) -> Vec<Object> {
        let mut objects = Vec::new();
        let mut searched = 0;
        for (name, root) in &self.roots {
            let mut folders = vec![(name.clone(), root.clone(), 0)];
            while let Some((name, folder, depth)) = folders.pop() {
                searched += 1;
                // The list omits unreadable folders.
                let Ok(entries) = folder.list("") else { continue };
                let mut listing = Listing::default();
                listing.root = entries;
                let kind = kind(&listing);
                if let Some(kind) = kind {
                    objects.push(Object { name: name.clone(), kind });
                }
                if kind == Some("array") || depth == DEEPEST || searched > SEARCHED {
                    continue;
                }
                for entry in listing.root.iter().rev().filter(|entry| entry.kind == EntryKind::Folder) {
                    folders.push((format!("{name}/{}", entry.name), folder.below(&entry.name), depth + 1));
                }
            }
        }
        objects
    }
}

/// Encodes a path for a URL.
pub(crate) fn encoded(path: &str) -> String {
    utf8_percent_encode(path, PLAIN).to_string()
}

fn kind(listing: &Listing) -> Option<&'static str> {
    match () {
        () if listing.is_array() => Some("array"),
        () if listing.is_group() => Some("group"),
        () => None,
    }
}

/// Returns `None` for a missing file.
fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        // A link to the outside.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lists the files of an array or group. Ignores the manifest in the folder, which may be old.
fn manifest_of(folder: &Folder) -> io::Result<Option<Found>> {
    let mut last = None;
    for _ in 0..ROUNDS {
        let root = match folder.list("") {
            Ok(root) => root,
            Err(_) => return Ok(None),
        };
        let mut listing = Listing::default();
        listing.root = root;
        if kind(&listing).is_none() {
            return Ok(None);
        }
        match Manifest::of(folder) {
            Ok(manifest) => {
                let text = manifest.to_string();
                let media_type = "text/plain; charset=utf-8";
                return Ok(Some(Found::Text(Text { bytes: text.into(), media_type, is_page: false })));
            }
            // A folder was removed meanwhile.
            Err(error) if error.is_not_found() => last = Some(error),
            Err(error) => return Err(other(error)),
        }
    }
    last.map_or(Ok(None), |error| Err(other(error)))
}

fn other(error: StorageError) -> io::Error {
    io::Error::other(error)
}
