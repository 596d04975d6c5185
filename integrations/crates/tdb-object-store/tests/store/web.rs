//! Arrays on web servers, which are read-only.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tdb_object_store::{StoreProblem, open};
use tdb_storage::{EntryKind, LocalStorage, Storage};

use crate::arrays::{FRAGMENTS, create, read, write, written};
use crate::promises::ODD;

/// Runs a test on a folder of a WebDAV server and its URL, if a server is configured.
fn on_server(body: impl Fn(&Path, &str)) {
    let [url, folder] = ["TDB_WEBDAV", "TDB_WEBDAV_FOLDER"].map(|name| std::env::var(name).unwrap_or_default());
    if url.is_empty() || folder.is_empty() {
        println!("skipped: TDB_WEBDAV is not set");
        return;
    }
    println!("on {url}");
    let name = format!("test-{}", SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos());
    let folder = Path::new(&folder).join(&name);
    std::fs::create_dir_all(&folder).unwrap();
    body(&folder, &format!("{url}/{name}"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn arrays_are_read_from_webdav() {
    on_server(|folder, url| {
        let local: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.join("array")));
        create(&local);
        (0..FRAGMENTS).for_each(|fragment| write(&local, fragment));
        let remote = open(&format!("{url}/array")).unwrap();
        assert_eq!(read(&remote), written());
        // WebDAV has no write condition that `object_store` supports.
        let error = remote.create_new("f", b"bytes").unwrap_err();
        assert!(matches!(StoreProblem::of(&error), Some(StoreProblem::NotSupported { .. })), "{error}");
        assert!(error.to_string().contains("web servers are read-only"), "{error}");
        assert!(!folder.join("array/f").exists());
    });
}

#[test]
fn folders_and_names_on_webdav() {
    on_server(|folder, url| {
        let local = LocalStorage::new(folder);
        for name in ODD {
            local.create_folder("odd/below").unwrap();
            local.create_new(&format!("odd/{name}"), name.as_bytes()).unwrap();
        }
        local.create_folder("nothing").unwrap();
        let remote = open(url).unwrap();
        for path in ["", "odd"] {
            assert_eq!(remote.list(path).unwrap(), local.list(path).unwrap(), "{path:?}");
        }
        // As on all stores, a folder exists while it contains a file.
        assert!(remote.list("nothing").unwrap_err().is_not_found());
        for name in ODD {
            assert_eq!(remote.read(&format!("odd/{name}")).unwrap(), name.as_bytes(), "{name}");
        }
        let kinds = [("odd", Some(EntryKind::Folder)), ("odd/Z", Some(EntryKind::File)), ("odd/none", None)];
        for (path, kind) in kinds {
            assert_eq!(remote.kind(path).unwrap(), kind, "{path}");
        }
        assert!(remote.list("none").unwrap_err().is_not_found());
        assert!(remote.read("none").unwrap_err().is_not_found());
    });
}

/// Starts a server with a fixed answer to every request.
fn answering(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn servers_without_listings_are_named() {
    // nginx and similar servers, Python's server, and servers with a page for any method.
    let plain = [
        ("405 Method Not Allowed", ""),
        ("501 Unsupported method ('PROPFIND')", ""),
        ("400 Bad Request", ""),
        ("200 OK", "<html><body>hello</body></html>"),
    ];
    for (status, body) in plain {
        let url = answering(status, body);
        let began = Instant::now();
        let error = open(&format!("{url}/array")).unwrap().list("").unwrap_err();
        assert_eq!(StoreProblem::of(&error), Some(&StoreProblem::ListsNothing), "{status}: {error}");
        assert!(began.elapsed() < Duration::from_secs(10), "{status}: the request was retried");
        assert!(error.to_string().contains("/array"), "{error}");
    }
}

#[test]
fn url_parameters_select_the_server() {
    let server = answering("403 Forbidden", "<Error><Code>AccessDenied</Code><Message>not you</Message></Error>");
    let storage = open(&format!("s3://bucket/array?endpoint={server}&region=eu-west-1")).unwrap();
    let error = storage.list("").unwrap_err();
    // Without credentials in the environment, requests are unsigned, and the error mentions this.
    let problem = StoreProblem::of(&error);
    assert!(matches!(problem, Some(StoreProblem::Denied { .. } | StoreProblem::Unsigned { .. })), "{error}");
    assert!(error.to_string().starts_with("s3://bucket/array") && error.to_string().contains("not you"), "{error}");
}
