//! Requests to a server in this process, sent as bytes.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[allow(unreachable_pub)]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tdb_serve::{ServeOptions, Server};
use tdb_storage::Manifest;
use tdb_testkit::{fixtures, replay_damaged};
use tokio::sync::Notify;

/// A running server. Stops when dropped.
struct Running {
    address: SocketAddr,
    stop: Arc<Notify>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn of(options: &ServeOptions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::bind(options)).unwrap();
        let address = server.url().trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        let thread = thread::spawn(move || runtime.block_on(server.run(stopped.notified())));
        Self { address, stop, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, and returns the response until the end of the connection.
    fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may answer and close the connection before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::of(&bytes)
    }

    /// Sends a request with further header lines.
    fn send(&self, method: &str, target: &str, headers: &str) -> Answer {
        let host = self.address;
        self.raw(format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").as_bytes())
    }

    fn get(&self, target: &str) -> Answer {
        self.send("GET", target, "")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.notify_one();
        self.thread.take().unwrap().join().unwrap();
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Self { status: 0, head: String::new(), body: bytes.to_vec() };
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut values = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        let value = values.next();
        assert!(values.next().is_none(), "{name} occurs twice: {}", self.head);
        value
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// Creates `data` with an array, a group, a file of ten bytes, and files that must not be served.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for (fixture, name) in [("v22-by-2.30.0-sparse-2d", "array"), ("v22-by-2.30.0-group", "group")] {
        let place = folder.path().join("unpacked");
        fixtures::find(fixture).unwrap().unpack_into(&place);
        fs::create_dir_all(&data).unwrap();
        fs::rename(place.join(name), data.join(name)).unwrap();
        fs::remove_dir_all(&place).unwrap();
    }
    fs::write(data.join("array/f"), "0123456789").unwrap();
    fs::write(data.join("array/empty"), "").unwrap();
    fs::create_dir(data.join(".git")).unwrap();
    fs::write(data.join(".git/config"), "SECRET").unwrap();
    fs::write(data.join("array/.tdb-1-1.tmp"), "SECRET").unwrap();
    fs::write(folder.path().join("secret"), "SECRET").unwrap();
    folder
}

fn options(folder: &Path) -> ServeOptions {
    let mut options = ServeOptions::default();
    options.folders.push(folder.join("data"));
    options.port = 0;
    options.stop_time = Duration::from_secs(2);
    options
}

#[test]
fn files_are_served_whole_and_in_parts() {
    let folder = folder();
    let server = Running::of(&options(folder.path()));
    let whole = server.get("/data/data/array/f");
    assert_eq!((whole.status, whole.text()), (200, "0123456789"));
    assert_eq!(whole.header("content-length"), Some("10"));
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("content-type"), Some("application/octet-stream"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert!(whole.header("content-security-policy").unwrap().contains("sandbox"));
    let head = server.send("HEAD", "/data/data/array/f", "Range: bytes=1-2\r\n");
    assert_eq!((head.status, head.text(), head.header("content-length")), (200, "", Some("10")));
    for (range, body, place) in [
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=3-5", "345", "bytes 3-5/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-4", "6789", "bytes 6-9/10"),
        ("bytes=2-3,3-5", "2345", "bytes 2-5/10"),
    ] {
        let part = server.send("GET", "/data/data/array/f", &format!("Range: {range}\r\n"));
        assert_eq!((part.status, part.text(), part.header("content-range")), (206, body, Some(place)), "{range}");
        assert_eq!(part.header("content-length"), Some(body.len().to_string().as_str()), "{range}");
    }
    for range in ["bytes=5-2", "cells=1-2", "bytes=x", "bytes"] {
        let ignored = server.send("GET", "/data/data/array/f", &format!("Range: {range}\r\n"));
        assert_eq!((ignored.status, ignored.text()), (200, "0123456789"), "{range}");
    }
    let beyond = server.send("GET", "/data/data/array/f", "Range: bytes=10-\r\n");
    assert_eq!((beyond.status, beyond.header("content-range")), (416, Some("bytes */10")));
    let empty = server.get("/data/data/array/empty");
    assert_eq!((empty.status, empty.text(), empty.header("content-length")), (200, "", Some("0")));
}

#[test]
fn several_ranges_have_several_parts() {
    let folder = folder();
    let server = Running::of(&options(folder.path()));
    let parts = server.send("GET", "/data/data/array/f", "Range: bytes=8-,1-2\r\n");
    assert_eq!(parts.status, 206);
    let boundary = parts.header("content-type").unwrap().strip_prefix("multipart/byteranges; boundary=").unwrap();
    let part = |place: &str, bytes: &str| {
        format!("\r\n--{boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: {place}\r\n\r\n{bytes}")
    };
    let expected = part("bytes 8-9/10", "89") + &part("bytes 1-2/10", "12") + &format!("\r\n--{boundary}--\r\n");
    assert_eq!(parts.text(), expected);
    assert_eq!(parts.header("content-length"), Some(expected.len().to_string().as_str()));
    assert_eq!(parts.header("content-range"), None);
}

#[test]
fn conditions_compare_tags_and_dates() {
    let folder = folder();
    let server = Running::of(&options(folder.path()));
    let path = "/data/data/array/f";
    let first = server.get(path);
    let (tag, date) = (first.header("etag").unwrap(), first.header("last-modified").unwrap());
    let status = |headers: String| server.send("GET", path, &headers).status;
    for headers in [
        format!("If-None-Match: {tag}\r\n"),
        format!("If-None-Match: \"other\", W/{tag}\r\n"),
        "If-None-Match: *\r\n".to_owned(),
        format!("If-Modified-Since: {date}\r\n"),
        format!("If-None-Match: {tag}\r\nRange: bytes=0-1\r\n"),
    ] {
        assert_eq!(status(headers.clone()), 304, "{headers}");
    }
    for headers in [
        "If-None-Match: \"other\"\r\n".to_owned(),
        format!("If-None-Match: \"other\"\r\nIf-Modified-Since: {date}\r\n"),
        "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n".to_owned(),
        "If-Modified-Since: nonsense\r\n".to_owned(),
        format!("If-Match: {tag}\r\n"),
        format!("Range: bytes=0-1\r\nIf-Range: W/{tag}\r\n"),
        "Range: bytes=0-1\r\nIf-Range: \"other\"\r\n".to_owned(),
        "Range: bytes=0-1\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n".to_owned(),
    ] {
        assert_eq!(status(headers.clone()), 200, "{headers}");
    }
    assert_eq!(status(format!("Range: bytes=0-1\r\nIf-Range: {tag}\r\n")), 206);
    assert_eq!(status(format!("Range: bytes=0-1\r\nIf-Range: {date}\r\n")), 206);
    for headers in ["If-Match: \"other\"\r\n", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"] {
        assert_eq!(status(headers.to_owned()), 412, "{headers}");
    }
    fs::write(folder.path().join("data/array/f"), "another text").unwrap();
    assert_eq!(status(format!("If-None-Match: {tag}\r\n")), 200);
    assert_ne!(server.get(path).header("etag"), Some(tag));
}

#[test]
fn manifests_are_generated() {
    let folder = folder();
    let server = Running::of(&options(folder.path()));
    // An old manifest does not count.
    fs::write(folder.path().join("data/array/tdb-manifest.txt"), "tdb manifest 1\n0 gone/\n").unwrap();
    let answer = server.get("/data/data/array/tdb-manifest.txt");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    let manifest = Manifest::parse(&answer.body).unwrap();
    assert!(manifest.entries().iter().any(|entry| entry.path == "f" && entry.size == 10), "{manifest}");
    assert!(!answer.text().contains(".tdb-") && !answer.text().contains("gone"), "{manifest}");
    for entry in manifest.entries().iter().filter(|entry| !entry.is_folder()) {
        let file = server.send("HEAD", &format!("/data/data/array/{}", entry.path), "");
        assert_eq!(file.header("content-length"), Some(entry.size.to_string().as_str()), "{}", entry.path);
    }
    let tag = answer.header("etag").unwrap();
    let same = server.send("GET", "/data/data/array/tdb-manifest.txt", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!(same.status, 304);
    fs::write(folder.path().join("data/array/g"), "new").unwrap();
    let changed = server.send("GET", "/data/data/array/tdb-manifest.txt", &format!("If-None-Match: {tag}\r\n"));
    assert!(changed.status == 200 && changed.text().contains("3 g\n"), "{}", changed.head);
    assert!(server.get("/data/data/group/tdb-manifest.txt").text().contains("__group/"));
    // Neither an array nor a group.
    assert_eq!(server.get("/data/data/tdb-manifest.txt").status, 404);
    assert_eq!(server.get("/data/data/array/__schema/tdb-manifest.txt").status, 404);
}

#[test]
fn arrays_and_groups_are_listed() {
    let folder = folder();
    let mut options = options(folder.path());
    // Two folders with the same name, and an array.
    let other = folder.path().join("more/data");
    fs::create_dir_all(&other).unwrap();
    fs::rename(folder.path().join("data/group/two"), other.join("two & three")).unwrap();
    options.folders.push(other);
    options.folders.push(folder.path().join("data/array"));
    let server = Running::of(&options);
    let list = server.get("/data/");
    assert_eq!((list.status, list.header("content-type")), (200, Some("application/json")));
    let found: serde_json::Value = serde_json::from_str(list.text()).unwrap();
    let entries: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["name"].as_str().unwrap(), entry["kind"].as_str().unwrap()))
        .collect();
    assert!(entries.contains(&("data/array", "array")) && entries.contains(&("data/group", "group")), "{entries:?}");
    assert!(entries.contains(&("data-2/two & three", "array")) && entries.contains(&("array", "array")), "{entries:?}");
    for entry in found.as_array().unwrap() {
        let manifest = server.get(&format!("{}tdb-manifest.txt", entry["url"].as_str().unwrap()));
        assert_eq!(manifest.status, 200, "{entry}");
    }
    // Pages encode the slash of a name.
    assert_eq!(server.get("/data/data%2Farray/f").status, 200);
    assert_eq!(server.get("/data").header("location"), Some("/data/"));
}

#[test]
fn nothing_outside_of_the_folders_is_served() {
    let folder = folder();
    let data = folder.path().join("data");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(folder.path().join("secret"), data.join("array/link")).unwrap();
        symlink("../../secret", data.join("array/relative")).unwrap();
        symlink(folder.path(), data.join("array/up")).unwrap();
        symlink("..", data.join("array/__fragments/loop")).unwrap();
        symlink("self", data.join("array/self")).unwrap();
        symlink("f", data.join("array/inside")).unwrap();
    }
    let server = Running::of(&options(folder.path()));
    let secret = folder.path().join("secret");
    let absolute = secret.to_str().unwrap();
    let encoded = absolute.replace('/', "%2f");
    let targets = [
        "/data/data/../secret",
        "/data/data/..%2fsecret",
        "/data/data/%2e%2e/secret",
        "/data/data/%2e%2e%2fsecret",
        "/data/data/.%2e/secret",
        "/data/data/%252e%252e/secret",
        "/data/data/%252e%252e%252fsecret",
        "/data/../secret",
        "/../secret",
        "/..%2f..%2fsecret",
        "/data/data/array/..%5c..%5csecret",
        "/data/data/..\\secret",
        "/data/data/%c0%ae%c0%ae/secret",
        "/data/data/array/link",
        "/data/data/array/relative",
        "/data/data/array/up/secret",
        "/data/data/array/f/../../../secret",
        "/data/data/array/f%00",
        "/data/data/array/f%00.txt",
        "/data/data/.git/config",
        "/data/data/%2egit/config",
        "/data/data/array/.tdb-1-1.tmp",
        "/data/data//array/f",
        "/data/data/./array/f",
        "/data/data/array/f/",
        "/data/data/array",
        "/data/data/array/",
        "/data/data/",
        "/data/other/f",
        "/data/data/array/none",
        "/data/data/array/self",
        "/secret",
        "//secret",
        "/data/data/array/f%0d%0aX:y",
        "/data/data/array/%ff",
        "/data/data/array/f:stream",
        &format!("/data/data/{absolute}"),
        &format!("/data/data/{encoded}"),
        &format!("/data/data%2f..%2f..{encoded}"),
        &format!("/{encoded}"),
        &format!("/data/data/array/{}", "a".repeat(4000)),
    ];
    for target in targets {
        let answer = server.get(target);
        assert!(matches!(answer.status, 400 | 404), "{target}: {} {:?}", answer.status, answer.body);
        assert!(!String::from_utf8_lossy(&answer.body).contains("SECRET"), "{target}");
    }
    #[cfg(unix)]
    {
        assert_eq!(server.get("/data/data/array/inside").text(), "0123456789");
        // Names and sizes outside are not listed either.
        let manifest = server.get("/data/data/array/tdb-manifest.txt");
        assert_ne!(manifest.status, 200, "a cycle of links has no end");
        fs::remove_file(data.join("array/__fragments/loop")).unwrap();
        let manifest = server.get("/data/data/array/tdb-manifest.txt");
        assert!(manifest.status == 200 && manifest.text().contains(" inside\n"), "{}", manifest.head);
        for name in ["link", "relative", "up", "secret", "self"] {
            assert!(!manifest.text().contains(name), "{name}: {}", manifest.text());
        }
    }
}

/// Opening a pipe would wait forever.
#[cfg(unix)]
#[test]
fn special_files_are_not_opened() {
    let folder = folder();
    let pipe = folder.path().join("data/array/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let server = Running::of(&options(folder.path()));
    assert_eq!(server.get("/data/data/array/pipe").status, 404);
    assert_eq!(server.get("/data/data/array/f").status, 200);
}

#[test]
fn other_hosts_are_refused_on_loopback() {
    let folder = folder();
    let server = Running::of(&options(folder.path()));
    let of = |head: &str| server.raw(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).status;
    for host in ["localhost", "LOCALHOST:9", "127.0.0.1:1234", "[::1]:80"] {
        assert_eq!(of(&format!("GET /data/data/array/f HTTP/1.1\r\nHost: {host}")), 200, "{host}");
    }
    for host in ["example.org", "127.0.0.1.example.org", "localhost.example.org:8080", "10.0.0.1", "", "user@localhost"]
    {
        assert_eq!(of(&format!("GET /data/data/array/f HTTP/1.1\r\nHost: {host}")), 421, "{host}");
    }
    assert_eq!(of("GET http://example.org/data/data/array/f HTTP/1.1\r\nHost: localhost"), 421);
    assert_eq!(of("GET /data/data/array/f HTTP/1.1"), 400);
    assert_eq!(of("GET /data/data/array/f HTTP/1.0"), 400);
    assert_eq!(of("GET /data/data/array/f HTTP/1.1\r\nHost: localhost\r\nHost: example.org"), 400);
}

#[test]
fn only_named_origins_may_read() {
    let folder = folder();
    let mut options = options(folder.path());
    options.origins.push("https://viewer.example.org".to_owned());
    let server = Running::of(&options);
    let origin = |server: &Running, method: &str, origin: &str, more: &str| {
        server.send(method, "/data/data/array/f", &format!("Origin: {origin}\r\n{more}"))
    };
    for allowed in ["https://viewer.example.org", "http://localhost:5173", "http://127.0.0.1:8081"] {
        let answer = origin(&server, "GET", allowed, "Range: bytes=0-1\r\n");
        assert_eq!(answer.header("access-control-allow-origin"), Some(allowed));
        assert!(answer.header("access-control-expose-headers").unwrap().contains("Content-Range"));
        assert_eq!(answer.header("vary"), Some("Origin"));
        let asked = "Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: range\r\n\
                     Access-Control-Request-Private-Network: true\r\n";
        let answer = origin(&server, "OPTIONS", allowed, asked);
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, Some(allowed)));
        assert!(answer.header("access-control-allow-headers").unwrap().contains("Range"));
        assert!(answer.header("access-control-allow-methods").unwrap().contains("GET"));
        assert_eq!(answer.header("access-control-allow-private-network"), Some("true"));
    }
    for refused in ["https://example.org", "null", "http://localhost.example.org", "https://viewer.example.org:444"] {
        let answer = origin(&server, "GET", refused, "");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{refused}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        let answer = origin(&server, "OPTIONS", refused, "Access-Control-Request-Method: GET\r\n");
        assert_eq!(answer.header("access-control-allow-methods"), None, "{refused}");
        assert_eq!(answer.header("access-control-allow-private-network"), None, "{refused}");
    }
    options.origins = vec!["*".to_owned()];
    let server = Running::of(&options);
    assert_eq!(origin(&server, "GET", "https://example.org", "").header("access-control-allow-origin"), Some("*"));
}

#[test]
fn hostile_requests_are_refused() {
    let folder = folder();
    let mut options = options(folder.path());
    // Ends connections that the server keeps open.
    options.idle_time = Duration::from_secs(2);
    let server = Running::of(&options);
    for method in ["POST", "PUT", "DELETE", "PATCH", "PROPFIND", "TRACE", "CONNECT", "MKCOL"] {
        let answer = server.send(method, "/data/data/array/f", "Content-Length: 3\r\n");
        assert!(matches!(answer.status, 400 | 405), "{method}: {}", answer.head);
    }
    assert!(server.send("PROPFIND", "/data/", "").header("allow").unwrap().contains("GET"));
    let long = "x".repeat(100 << 10);
    let many: String = (0..200).map(|number| format!("X-{number}: 1\r\n")).collect();
    for (target, headers) in [
        (format!("/{long}"), String::new()),
        ("/data/".to_owned(), format!("X-Long: {long}\r\n")),
        ("/data/".to_owned(), many),
    ] {
        let status = server.send("GET", &target, &headers).status;
        assert!(matches!(status, 0 | 400 | 404 | 414 | 431), "{status}");
    }
    for raw in [
        &b"\0\0\0\0"[..],
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(raw).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        assert!(matches!(Answer::of(&bytes).status, 0 | 400 | 505), "{raw:?}");
    }
    // One request by its length, two requests by its chunks.
    let smuggled = "GET /data/data/array/f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 57\r\n\
                    Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /data/data/array/f HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = server.connect();
    stream.write_all(smuggled.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let answers = String::from_utf8(bytes).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
    // The server still answers.
    assert_eq!(server.get("/data/data/array/f").status, 200);
}

#[test]
fn slow_clients_are_disconnected() {
    let folder = folder();
    let mut options = options(folder.path());
    (options.header_time, options.idle_time) = (Duration::from_millis(500), Duration::from_millis(1500));
    options.connections = 2;
    fs::write(folder.path().join("data/array/large"), vec![7; 64 << 20]).unwrap();
    let server = Running::of(&options);
    let ends = |start: &[u8]| {
        let began = Instant::now();
        let mut stream = server.connect();
        stream.write_all(start).unwrap();
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        assert!(!matches!(ended, Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)));
        assert!(began.elapsed() < Duration::from_secs(15));
    };
    ends(b"");
    ends(b"GET / HTTP/1.1\r\nHost: loc");
    // Two clients that read nothing hold both connections, until they are idle for too long.
    let silent: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /data/data/array/large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/data/data/array/f").text(), "0123456789");
    drop(silent);
}

#[test]
fn running_responses_end_before_the_server() {
    let folder = folder();
    fs::write(folder.path().join("data/array/large"), vec![7; 32 << 20]).unwrap();
    let mut options = options(folder.path());
    options.stop_time = Duration::from_secs(20);
    let server = Running::of(&options);
    let mut stream = server.connect();
    stream.write_all(b"GET /data/data/array/large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut start = [0; 1000];
    stream.read_exact(&mut start).unwrap();
    let address = server.address;
    let stopping = thread::spawn(move || drop(server));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    stopping.join().unwrap();
    assert!(start.len() + rest.len() > 32 << 20, "{}", rest.len());
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn pages_have_a_strict_policy() {
    let folder = folder();
    let mut options = options(folder.path());
    let plain = Running::of(&options).get("/");
    assert_eq!((plain.status, plain.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let viewer = folder.path().join("dist");
    fs::create_dir_all(viewer.join("assets")).unwrap();
    fs::write(viewer.join("index.html"), "<!doctype html><html><head><title>V</title></head></html>").unwrap();
    for (name, text) in [("assets/a.js", "1"), ("assets/b.wasm", "\0asm"), ("assets/c.css", ""), ("icon.svg", "<svg/>")]
    {
        fs::write(viewer.join(name), text).unwrap();
    }
    options.viewer = Some(viewer);
    let server = Running::of(&options);
    let index = server.get("/");
    assert!(index.text().contains("<head><meta name=\"tdb-serve\" content=\"1\"><title>V"), "{}", index.text());
    let policy = index.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self' 'wasm-unsafe-eval';") && policy.contains("connect-src 'self' http: https:")
    );
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe-inline"), "{policy}");
    for (path, media_type) in [
        ("/index.html", "text/html; charset=utf-8"),
        ("/assets/a.js", "text/javascript; charset=utf-8"),
        ("/assets/b.wasm", "application/wasm"),
        ("/assets/c.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(media_type)), "{path}");
        assert_eq!(answer.header("content-security-policy"), Some(policy), "{path}");
    }
    assert_eq!(server.get("/assets/../../secret").status, 404);
    assert_eq!(server.get("/assets/none.js").status, 404);
    assert_eq!(server.get("/assets/").status, 404);
}

#[test]
fn wrong_folders_are_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = folder();
    let fails = |change: &dyn Fn(&mut ServeOptions)| {
        let mut options = options(folder.path());
        change(&mut options);
        runtime.block_on(Server::bind(&options)).unwrap_err().to_string()
    };
    assert!(fails(&|options| options.folders.push(folder.path().join("none"))).contains("none: "));
    assert!(fails(&|options| options.folders.push(folder.path().join("secret"))).contains("secret: "));
    assert!(fails(&|options| options.viewer = Some(folder.path().to_owned())).contains("index.html"));
    let taken = Running::of(&options(folder.path()));
    assert!(fails(&|options| options.port = taken.address.port()).contains("cannot listen on 127.0.0.1:"));
}

#[test]
fn ranges_and_paths_of_the_fuzz_targets() {
    assert!(replay_damaged(env!("CARGO_MANIFEST_DIR"), "range", 2000, fuzz::range) >= 4);
    assert!(replay_damaged(env!("CARGO_MANIFEST_DIR"), "path", 2000, fuzz::path) >= 4);
}
