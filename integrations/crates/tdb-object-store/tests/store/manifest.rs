//! Arrays on plain web servers, listed by manifests.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use percent_encoding::percent_decode_str;
use tdb_array::ArrayOptions;
use tdb_object_store::{StoreProblem, Stores, open};
use tdb_storage::{EntryKind, LocalStorage, MANIFEST_NAME, Manifest, Storage, StorageError};

use crate::arrays::{FRAGMENTS, create, read, write, written};

/// A static web server. Answers `HEAD` for folders as for files, like many servers.
struct Web {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Ranges,
    /// Ignores ranges, like Python's server.
    Whole,
    /// Answers unknown paths with a page, and refuses other methods as forbidden.
    Pages,
}

impl Web {
    fn start(folder: &Path, kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (folder, seen) = (folder.to_owned(), requests.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (folder, seen) = (folder.clone(), seen.clone());
                thread::spawn(move || while answer(stream.as_ref().unwrap(), &folder, kind, &seen).is_some() {});
            }
        });
        Self { url, requests }
    }

    /// Returns the requests since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

/// Answers a request. Returns `None` at the end of the connection.
fn answer(mut stream: &TcpStream, folder: &Path, kind: Kind, seen: &Mutex<Vec<String>>) -> Option<()> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let mut words = head.first()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let path = percent_decode_str(target.trim_start_matches('/')).decode_utf8().unwrap().into_owned();
    seen.lock().unwrap().push(format!("{method} {path}"));
    let range = head.iter().find_map(|line| line.to_ascii_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let page = (kind == Kind::Pages).then(|| b"<html></html>".to_vec());
    let place = folder.join(&path);
    let file = if place.is_dir() { Some(Vec::new()) } else { std::fs::read(&place).ok().or(page) };
    let (status, more, bytes) = match (method, file) {
        ("GET" | "HEAD", None) => ("404 Not Found", String::new(), Vec::new()),
        ("GET" | "HEAD", Some(bytes)) => match range.filter(|_| kind != Kind::Whole) {
            None => ("200 OK", String::new(), bytes),
            Some(range) => {
                let (first, last) = range.split_once('-').unwrap();
                let size = bytes.len();
                // Suffixes are not supported, as by some servers.
                let first: Option<usize> = first.parse().ok().filter(|first| *first < size);
                match (first, last.parse::<usize>().map_or(size, |last| size.min(last + 1))) {
                    (Some(first), end) => {
                        let range = format!("Content-Range: bytes {first}-{}/{size}\r\n", end - 1);
                        ("206 Partial Content", range, bytes[first..end].to_vec())
                    }
                    (None, _) => {
                        ("416 Range Not Satisfiable", format!("Content-Range: bytes */{size}\r\n"), Vec::new())
                    }
                }
            }
        },
        _ if kind == Kind::Pages => ("403 Forbidden", String::new(), Vec::new()),
        _ => ("405 Method Not Allowed", String::new(), Vec::new()),
    };
    let date = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
    let length = bytes.len();
    write!(stream, "HTTP/1.1 {status}\r\n{date}\r\nAccept-Ranges: bytes\r\nContent-Length: {length}\r\n{more}\r\n")
        .ok()?;
    if method != "HEAD" {
        stream.write_all(&bytes).ok()?;
    }
    Some(())
}

/// Creates an array `group/an array` with a manifest in the array, or in `group`.
fn published(manifest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let local: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.path().join("group/an array")));
    create(&local);
    (0..FRAGMENTS).for_each(|fragment| write(&local, fragment));
    manifest_in(&folder.path().join(manifest));
    folder
}

fn manifest_in(folder: &Path) {
    let storage = LocalStorage::new(folder);
    storage.replace(MANIFEST_NAME, Manifest::of(&storage).unwrap().to_string().as_bytes()).unwrap();
}

#[test]
fn arrays_are_read_through_a_manifest() {
    let folder = published("group/an array");
    for kind in [Kind::Ranges, Kind::Pages] {
        let web = Web::start(folder.path(), kind);
        let storage = open(&format!("{}/group/an%20array/", web.url)).unwrap();
        assert_eq!(read(&storage), written());
        let requests = web.take();
        let of = |method: &str| requests.iter().filter(|request| request.starts_with(method)).count();
        // The listing is refused once. No file needs its size.
        assert_eq!((of("PROPFIND"), of("HEAD")), (1, 0), "{requests:#?}");
        assert_eq!(requests.iter().filter(|request| request.ends_with(MANIFEST_NAME)).count(), 1, "{requests:#?}");
        assert_eq!(storage.kind("__fragments").unwrap(), Some(EntryKind::Folder));
        assert_eq!(storage.kind("none").unwrap(), None);
        assert!(storage.list("none").unwrap_err().is_not_found());
        assert_eq!(web.take(), [""; 0]);
        assert!(storage.create_new("f", b"").unwrap_err().to_string().contains("read-only"));
    }
}

#[test]
fn an_open_costs_one_request_for_all_listings() {
    let folder = published("group/an array");
    let web = Web::start(folder.path(), Kind::Ranges);
    let stores = Stores::default();
    let opened = || {
        let storage = stores.open(&format!("{}/group/an%20array", web.url)).unwrap();
        ArrayOptions::new().with_footers().open_on(storage).unwrap().fragments().unwrap().len()
    };
    let fragments = opened();
    let first = web.take();
    // The refused listing, the manifest, the schema, and a footer for each fragment.
    assert_eq!(first.len(), 3 + fragments, "{first:#?}");
    opened();
    // The server is known to list nothing. Footers are cached.
    let again = web.take();
    assert!(again.len() <= 2 && again.iter().all(|request| !request.starts_with("PROPFIND")), "{again:#?}");
}

#[test]
fn manifests_of_parent_folders_cover_arrays() {
    for manifest in ["group", ""] {
        let folder = published(manifest);
        let web = Web::start(folder.path(), Kind::Ranges);
        assert_eq!(read(&open(&format!("{}/group/an%20array", web.url)).unwrap()), written(), "{manifest:?}");
        let group = open(&format!("{}/group", web.url)).unwrap();
        assert_eq!(read(&group.sub("an array").unwrap()), written(), "{manifest:?}");
        // The manifest does not list the folder.
        let other = open(&format!("{}/group/other", web.url)).unwrap();
        assert_eq!(StoreProblem::of(&other.list("").unwrap_err()), Some(&StoreProblem::ListsNothing));
    }
}

#[test]
fn old_manifests_are_named() {
    let folder = published("group/an array");
    let web = Web::start(folder.path(), Kind::Ranges);
    let array = folder.path().join("group/an array");
    let schema = std::fs::read_dir(array.join("__schema")).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.is_file().then_some(path)
    });
    let schema = schema.unwrap();
    let name = format!("__schema/{}", schema.file_name().unwrap().to_str().unwrap());
    let bytes = std::fs::read(&schema).unwrap();
    let stale = |storage: &Arc<dyn Storage>, what: &str| {
        let size = bytes.len() as u64;
        let file = storage.open_sized(&name, size).unwrap();
        let errors = [
            storage.read(&name).unwrap_err(),
            file.read_into(size - 4, &mut [0; 4]).unwrap_err(),
            storage.fetch_one(&tdb_storage::Request::last(name.as_str(), 4)).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, StorageError::StaleManifest { .. }), "{what}: {error:?}");
            assert!(error.to_string().contains("run `tdb manifest` again"), "{what}: {error}");
        }
    };
    let opened = || {
        let storage = open(&format!("{}/group/an%20array", web.url)).unwrap();
        storage.list("").unwrap();
        storage
    };
    std::fs::write(&schema, &bytes[1..]).unwrap();
    stale(&opened(), "shorter");
    std::fs::write(&schema, [&bytes[..], b"x"].concat()).unwrap();
    stale(&opened(), "longer");
    std::fs::remove_file(&schema).unwrap();
    stale(&opened(), "removed");
    let error = ArrayOptions::new().open_on(opened()).unwrap_err();
    assert!(error.to_string().contains("run `tdb manifest` again"), "{error}");
}

#[test]
fn servers_without_ranges_and_manifests_are_named() {
    let folder = published("group/an array");
    let web = Web::start(folder.path(), Kind::Whole);
    let storage = open(&format!("{}/group/an%20array", web.url)).unwrap();
    assert!(storage.list("__schema").unwrap().iter().any(|entry| entry.kind == EntryKind::File));
    let array = ArrayOptions::new().open_on(storage);
    let error = array.and_then(|array| array.read().batches()?.collect::<Result<Vec<_>, _>>()).unwrap_err();
    assert!(error.to_string().contains("ignores byte ranges"), "{error}");
    std::fs::remove_file(folder.path().join("group/an array/tdb-manifest.txt")).unwrap();
    for kind in [Kind::Ranges, Kind::Whole] {
        let web = Web::start(folder.path(), kind);
        let error = open(&format!("{}/group/an%20array", web.url)).unwrap().list("").unwrap_err();
        assert_eq!(StoreProblem::of(&error), Some(&StoreProblem::ListsNothing), "{error}");
        assert!(error.to_string().contains("tdb-manifest.txt"), "{error}");
    }
    std::fs::write(folder.path().join("group/an array/tdb-manifest.txt"), "tdb manifest 1\nx\n").unwrap();
    let web = Web::start(folder.path(), Kind::Ranges);
    let error = open(&format!("{}/group/an%20array", web.url)).unwrap().list("").unwrap_err();
    assert!(matches!(error, StorageError::BadManifest { .. }), "{error}");
}

/// Without a listing, single files are read as from any web server.
#[test]
fn single_files_need_no_manifest() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), "0123").unwrap();
    let web = Web::start(folder.path(), Kind::Ranges);
    let storage = open(&web.url).unwrap();
    assert_eq!(storage.read("f").unwrap(), b"0123");
    assert_eq!(storage.file_size("f").unwrap(), Some(4));
    assert!(web.take().iter().all(|request| request.ends_with(" f")));
}
