//! The served folders.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tdb_cli::tdb_array::Listing;
use tdb_storage::{EntryKind, MANIFEST_NAME, Manifest, Storage};

use crate::folder::{Folder, SEARCHED};
use crate::found::{Found, FoundFile, Text};
use crate::page::{Viewer, page};

/// Maximum depth of the search. Links may form cycles.
const DEEPEST: usize = 16;
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

    /// Returns the arrays and groups as JSON, and the roots with an incomplete list.
    fn list(&self) -> Value {
        let object = |Object { name, kind }: Object| {
            let url = format!("/data/{}/", encoded(&name));
            json!({ "name": name, "kind": kind, "url": url })
        };
        let (objects, incomplete) = self.objects();
        let incomplete = incomplete.into_iter().map(|name| json!({ "incomplete": name }));
        objects.into_iter().map(object).chain(incomplete).collect()
    }

    fn list_page(&self) -> String {
        let (objects, incomplete) = self.objects();
        let objects = objects.into_iter().map(|Object { name, kind }| {
            let url = format!("data/{}/{MANIFEST_NAME}", encoded(&name));
            (url, name, kind)
        });
        page(objects, &incomplete)
    }

    /// Returns the arrays and groups in the folders, sorted by path, and the names of roots with
    /// more than [`SEARCHED`] folders.
    fn objects(&self) -> (Vec<Object>, Vec<&str>) {
        let mut objects = Vec::new();
        let mut incomplete = Vec::new();
        for (root_name, root) in &self.roots {
            let mut searched = 0;
            let mut folders = vec![(root_name.clone(), root.clone(), 0)];
            while let Some((name, folder, depth)) = folders.pop() {
                if searched == SEARCHED {
                    incomplete.push(root_name.as_str());
                    break;
                }
                searched += 1;
                // The list omits unreadable folders.
                let Ok(entries) = folder.list("") else { continue };
                let mut listing = Listing::default();
                listing.root = entries;
                let kind = kind(&listing);
                if let Some(kind) = kind {
                    objects.push(Object { name: name.clone(), kind });
                }
                if kind == Some("array") || depth == DEEPEST {
                    continue;
                }
                for entry in listing.root.iter().rev().filter(|entry| entry.kind == EntryKind::Folder) {
                    folders.push((format!("{name}/{}", entry.name), folder.below(&entry.name), depth + 1));
                }
            }
        }
        (objects, incomplete)
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
    let mut listing = Listing::default();
    listing.root = match folder.list("") {
        Ok(root) => root,
        Err(_) => return Ok(None),
    };
    if kind(&listing).is_none() {
        return Ok(None);
    }
    match Manifest::settled(folder) {
        Ok(manifest) => {
            let text = manifest.to_string();
            let media_type = "text/plain; charset=utf-8";
            Ok(Some(Found::Text(Text { bytes: text.into(), media_type, is_page: false })))
        }
        // The folder was removed meanwhile.
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // helpers of tests are tests
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;
    use std::{fs, thread};

    use super::*;

    /// Creates the folder of an array without fragments.
    fn array(folder: &Path) {
        fs::create_dir_all(folder.join("__schema")).unwrap();
        fs::write(folder.join("__schema/__1_1_f00d"), "").unwrap();
    }

    fn manifest(site: &Site, path: &str) -> io::Result<Manifest> {
        match site.find(path)?.unwrap() {
            Found::Text(text) => Ok(Manifest::parse(&text.bytes).unwrap()),
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn manifests_list_the_fragment_of_each_commit() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("array");
        array(&folder);
        fs::create_dir(folder.join("__commits")).unwrap();
        fs::create_dir(folder.join("__fragments")).unwrap();
        // A listing reads many folders between the commits and the fragments.
        (0..200).for_each(|number| fs::create_dir(folder.join(format!("__d{number}"))).unwrap());
        let site = Site::open(&[&folder], Viewer::Embedded).unwrap();
        let path = "data/array/tdb-manifest.txt";
        let began = Instant::now();
        manifest(&site, path).unwrap();
        let pause = began.elapsed() * 3;
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0.. {
                    for kind in ["__fragments", "__commits"] {
                        fs::write(folder.join(kind).join(number.to_string()), "").unwrap();
                    }
                    thread::sleep(pause);
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    // Always leaves a commit.
                    for kind in ["__commits", "__fragments"].iter().filter(|_| number > 0) {
                        fs::remove_file(folder.join(kind).join((number - 1).to_string())).unwrap();
                    }
                    thread::sleep(pause);
                }
            });
            let manifests: Vec<_> = (0..40).map(|_| manifest(&site, path)).collect();
            stop.store(true, Ordering::Relaxed);
            for manifest in manifests {
                let manifest = manifest.unwrap();
                let paths: HashSet<_> = manifest.entries().iter().map(|entry| entry.path.as_str()).collect();
                let commits = paths.iter().filter_map(|path| path.strip_prefix("__commits/"));
                let commits: Vec<_> = commits.filter(|name| !name.is_empty()).collect();
                assert!(!commits.is_empty() || paths.contains("__commits/"), "{manifest}");
                for commit in commits {
                    assert!(paths.contains(format!("__fragments/{commit}").as_str()), "{commit}: {manifest}");
                }
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_large_folder_does_not_hide_the_next_folder() {
        let place = tempfile::tempdir().unwrap();
        let (large, small) = (place.path().join("large"), place.path().join("small"));
        // 100 links to a folder with 100 folders.
        (0..100).for_each(|number| fs::create_dir_all(large.join(format!("l/{number}"))).unwrap());
        (0..100).for_each(|number| std::os::unix::fs::symlink("l", large.join(format!("l{number}"))).unwrap());
        array(&large.join("a"));
        array(&large.join("z"));
        array(&small.join("b"));
        let site = Site::open(&[&large, &small], Viewer::Embedded).unwrap();
        let list = site.list();
        let of = |name: &str| json!({ "name": name, "kind": "array", "url": format!("/data/{name}/") });
        assert_eq!(list, json!([of("large/a"), of("small/b"), { "incomplete": "large" }]));
        let page = site.list_page();
        assert!(page.contains("large has more than 10000 folders") && !page.contains("small has"), "{page}");
    }

    #[cfg(unix)]
    #[test]
    fn links_to_hidden_names_do_not_exist() {
        use std::os::unix::fs::symlink;

        let place = tempfile::tempdir().unwrap();
        array(&place.path().join("a"));
        array(&place.path().join(".git"));
        fs::write(place.path().join(".git/config"), "SECRET").unwrap();
        symlink("../.git", place.path().join("a/folder")).unwrap();
        symlink("../.git/config", place.path().join("a/file")).unwrap();
        symlink("__schema", place.path().join("a/shown")).unwrap();
        let site = Site::open(&[place.path()], Viewer::Embedded).unwrap();
        let root = site.names().next().unwrap().to_owned();
        for path in ["folder/config", "file", "folder/tdb-manifest.txt"] {
            assert!(site.find(&format!("data/{root}/a/{path}")).unwrap().is_none(), "{path}");
        }
        assert!(matches!(site.find(&format!("data/{root}/a/shown/__1_1_f00d")).unwrap(), Some(Found::File(_))));
        let manifest = manifest(&site, &format!("data/{root}/a/tdb-manifest.txt")).unwrap().to_string();
        assert_eq!(manifest, "tdb manifest 1\n0 __schema/__1_1_f00d\n0 shown/__1_1_f00d\n");
    }

    #[test]
    fn names_in_the_plain_page_are_escaped() {
        let place = tempfile::tempdir().unwrap();
        array(&place.path().join("data/<b>&\""));
        let page = Site::open(&[place.path().join("data")], Viewer::Embedded).unwrap().list_page();
        assert!(page.contains(">data/&lt;b&gt;&amp;&quot;</a>"), "{page}");
        assert!(!page.contains("<b>"), "{page}");
    }
}
