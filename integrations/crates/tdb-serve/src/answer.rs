//! Responses to requests.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{
    ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, CACHE_CONTROL,
    CONNECTION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HOST, HeaderMap,
    HeaderName, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
    LOCATION, ORIGIN, RANGE, REFERRER_POLICY, TRANSFER_ENCODING, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;

use crate::body::{Body, Piece, pieces, whole};
use crate::found::{Found, FoundFile, Text};
use crate::guard::{allowed_origin, is_loopback};
use crate::path::decoded_path;
use crate::range::Ranges;
use crate::site::Site;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
/// Request headers allowed for pages of foreign origins.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Accept, Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range",
);
/// Response headers readable by pages of foreign origins.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Accept-Ranges, Content-Length, Content-Range, ETag, Last-Modified");
/// The policy of pages. A page may connect to other servers, because the user may enter a URL.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
     font-src 'self'; connect-src 'self' http: https:; worker-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);
/// The policy of data. Browsers never run data as a page.
const DATA_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const REQUEST_PRIVATE_NETWORK: &str = "access-control-request-private-network";

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) site: Site,
    pub(crate) address: IpAddr,
    /// Origins with access to the data, or `*`.
    pub(crate) origins: Vec<String>,
    /// Bounds the lookups, which continue after a client has disconnected.
    pub(crate) lookups: Arc<Semaphore>,
}

/// Answers a request.
pub(crate) async fn answer<B>(shared: Arc<Shared>, request: Request<B>) -> Response<Body> {
    let is_head = request.method() == Method::HEAD;
    let origin = single(request.headers(), ORIGIN).map(str::to_owned);
    // A proxy may see another end of a request with a length and chunks. The bytes after the chunks
    // are then no request.
    let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let closes = is_chunked || !matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = match refused(&shared, &request) {
        Some(response) => response,
        None if request.method() == Method::OPTIONS => preflight(&shared, request.headers()),
        None => get(&shared, &request).await,
    };
    let allowed = origin.and_then(|origin| allowed_origin(&origin, &shared.origins));
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(DATA_POLICY);
    let is_public = shared.origins.iter().any(|origin| origin == "*");
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static(if is_public { "cross-origin" } else { "same-origin" }));
    if let Some(allowed) = allowed.and_then(|allowed| HeaderValue::try_from(allowed).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    if closes {
        // The body of the request is not read.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if is_head {
        *response.body_mut() = whole("");
    }
    response
}

/// Returns the response to a request with an unknown method or host.
fn refused<B>(shared: &Shared, request: &Request<B>) -> Option<Response<Body>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "the server is read-only: use GET, HEAD or OPTIONS");
        response.headers_mut().insert(ALLOW, METHODS);
        return Some(response);
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Some(text(StatusCode::BAD_REQUEST, "expected one header Host"));
    };
    let authority = request.uri().authority().map(hyper::http::uri::Authority::as_str);
    let is_of_here = |host: &str| !shared.address.is_loopback() || is_loopback(host);
    if !host.to_str().is_ok_and(is_of_here) || !authority.is_none_or(is_of_here) {
        let what = "the header Host names another machine; open the address that tdb serve prints";
        return Some(text(StatusCode::MISDIRECTED_REQUEST, what));
    }
    None
}

/// Answers the preflight request of a browser for a page of a foreign origin.
fn preflight(shared: &Shared, headers: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(whole(""));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let of = response.headers_mut();
    of.insert(ALLOW, METHODS);
    let is_allowed = single(headers, ORIGIN).is_some_and(|origin| allowed_origin(origin, &shared.origins).is_some());
    if is_allowed && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        of.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        of.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        of.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        if headers.get(REQUEST_PRIVATE_NETWORK).is_some_and(|value| value == "true") {
            of.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
        }
    }
    response
}

async fn get<B>(shared: &Arc<Shared>, request: &Request<B>) -> Response<Body> {
    let Some(path) = decoded_path(request.uri().path()) else { return not_found() };
    let searched = shared.clone();
    let permit = shared.lookups.clone().acquire_owned().await;
    let found = tokio::task::spawn_blocking(move || {
        let found = searched.site.find(&path);
        drop(permit);
        found
    });
    let found = found.await;
    match found.unwrap_or_else(|error| Err(io::Error::other(error))) {
        Ok(Some(Found::File(file))) => of_file(request, file),
        Ok(Some(Found::Text(text))) => of_text(request, &text),
        Ok(Some(Found::Redirect(target))) => {
            let mut response = text(StatusCode::PERMANENT_REDIRECT, &target);
            if let Ok(target) = HeaderValue::try_from(target) {
                response.headers_mut().insert(LOCATION, target);
            }
            response
        }
        Ok(None) => not_found(),
        // Details could show paths outside of the served folders.
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &format!("the file cannot be read: {}", error.kind())),
    }
}

fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "not found")
}

/// Returns a response for people.
fn text(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(whole(format!("{text}\n")));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(CONTENT_LENGTH, (text.len() + 1).into());
    response
}

/// Returns the value of a header. Returns `None` for repeated headers.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}

fn of_text<B>(request: &Request<B>, text: &Text) -> Response<Body> {
    let mut hasher = DefaultHasher::new();
    text.bytes.hash(&mut hasher);
    let size = text.bytes.len() as u64;
    let tag = format!("\"{size:x}-{:016x}\"", hasher.finish());
    let about = About { size, tag, modified: None, media_type: text.media_type, is_page: text.is_page };
    about.respond(request, |parts| {
        let mut body = Vec::new();
        for part in parts {
            match part {
                Piece::Bytes(bytes) => body.extend_from_slice(&bytes),
                Piece::File(range) => {
                    let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
                    body.extend_from_slice(
                        range.and_then(|(start, end)| text.bytes.get(start..end)).unwrap_or_default(),
                    );
                }
            }
        }
        whole(body)
    })
}

fn of_file<B>(request: &Request<B>, found: FoundFile) -> Response<Body> {
    let FoundFile { file, size, modified, media_type, is_page } = found;
    let nanos = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default().as_nanos();
    let about = About { size, tag: format!("\"{size:x}-{nanos:x}\""), modified, media_type, is_page };
    about.respond(request, |parts| pieces(file, parts))
}

/// The properties of a file or text.
struct About {
    size: u64,
    /// A strong entity tag, with quotes.
    tag: String,
    modified: Option<SystemTime>,
    media_type: &'static str,
    is_page: bool,
}

impl About {
    /// Evaluates conditions and ranges. `body` creates the body from its pieces.
    fn respond<B>(&self, request: &Request<B>, body: impl FnOnce(VecDeque<Piece>) -> Body) -> Response<Body> {
        let headers = request.headers();
        let status = self.precondition(headers);
        let ranges = match single(headers, RANGE).filter(|_| request.method() == Method::GET && self.is_same(headers)) {
            Some(value) if status.is_none() => Ranges::parse(value, self.size),
            _ => Ranges::Whole,
        };
        let mut parts = VecDeque::new();
        let mut media_type = HeaderValue::from_static(self.media_type);
        let mut range = None;
        let (status, length) = match (status, ranges) {
            (Some(StatusCode::PRECONDITION_FAILED), _) => {
                return text(StatusCode::PRECONDITION_FAILED, "the file has changed");
            }
            (Some(status), _) => (status, None),
            (None, Ranges::Unsatisfiable) => {
                let mut response = text(StatusCode::RANGE_NOT_SATISFIABLE, "no range begins within the file");
                if let Ok(value) = HeaderValue::try_from(format!("bytes */{}", self.size)) {
                    response.headers_mut().insert(CONTENT_RANGE, value);
                }
                return response;
            }
            (None, Ranges::Whole) => {
                if self.size > 0 {
                    parts.push_back(Piece::File(0..self.size));
                }
                (StatusCode::OK, Some(self.size))
            }
            (None, Ranges::Parts(ranges)) => {
                let length = match ranges.as_slice() {
                    [only] => {
                        range = Some(self.content_range(only));
                        parts.push_back(Piece::File(only.clone()));
                        only.end - only.start
                    }
                    several => {
                        let boundary = self.boundary();
                        if let Ok(value) = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}")) {
                            media_type = value;
                        }
                        self.multipart(several, &boundary, &mut parts)
                    }
                };
                (StatusCode::PARTIAL_CONTENT, Some(length))
            }
        };
        let is_head = request.method() == Method::HEAD;
        let mut response = Response::new(if is_head || length.is_none() { whole("") } else { body(parts) });
        *response.status_mut() = status;
        let of = response.headers_mut();
        if let Some(length) = length {
            of.insert(CONTENT_LENGTH, length.into());
            of.insert(CONTENT_TYPE, media_type);
        }
        if let Some(value) = range.and_then(|range| HeaderValue::try_from(range).ok()) {
            of.insert(CONTENT_RANGE, value);
        }
        of.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if let Ok(tag) = HeaderValue::try_from(self.tag.as_str()) {
            of.insert(ETAG, tag);
        }
        if let Some(date) = self.date().and_then(|date| HeaderValue::try_from(httpdate::fmt_http_date(date)).ok()) {
            of.insert(LAST_MODIFIED, date);
        }
        if self.is_page {
            of.insert(CONTENT_SECURITY_POLICY, PAGE_POLICY);
        }
        response
    }

    /// Returns the time of the last change in whole seconds.
    fn date(&self) -> Option<SystemTime> {
        // Dates of HTTP have four digits for the year.
        let seconds = self.modified?.duration_since(UNIX_EPOCH).ok()?.as_secs();
        (seconds < 253_402_300_800).then(|| UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Evaluates the conditions in the order of RFC 9110. Returns the status of a failed condition.
    fn precondition(&self, headers: &HeaderMap) -> Option<StatusCode> {
        let date = |name| httpdate::parse_http_date(single(headers, name)?).ok().zip(self.date());
        if headers.contains_key(IF_MATCH) {
            if !self.matches(headers, IF_MATCH, false) {
                return Some(StatusCode::PRECONDITION_FAILED);
            }
        } else if date(IF_UNMODIFIED_SINCE).is_some_and(|(asked, own)| own > asked) {
            return Some(StatusCode::PRECONDITION_FAILED);
        }
        let is_known = if headers.contains_key(IF_NONE_MATCH) {
            self.matches(headers, IF_NONE_MATCH, true)
        } else {
            date(IF_MODIFIED_SINCE).is_some_and(|(asked, own)| own <= asked)
        };
        is_known.then_some(StatusCode::NOT_MODIFIED)
    }

    /// Returns `true` if a list of entity tags contains the tag of the file. A weak comparison
    /// ignores the prefix `W/`.
    fn matches(&self, headers: &HeaderMap, name: HeaderName, is_weak: bool) -> bool {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        // The own tag contains no comma.
        values.flat_map(|value| value.split(',')).map(str::trim).any(|tag| {
            let tag = if is_weak { tag.strip_prefix("W/").unwrap_or(tag) } else { tag };
            tag == "*" || tag == self.tag
        })
    }

    /// Returns `true` if the header `If-Range` is missing or names the current version of the file.
    fn is_same(&self, headers: &HeaderMap) -> bool {
        if !headers.contains_key(IF_RANGE) {
            return true;
        }
        single(headers, IF_RANGE).is_some_and(|value| {
            value == self.tag || httpdate::parse_http_date(value).is_ok_and(|date| self.date() == Some(date))
        })
    }

    fn content_range(&self, range: &std::ops::Range<u64>) -> String {
        format!("bytes {}-{}/{}", range.start, range.end.saturating_sub(1), self.size)
    }

    /// Returns the text between parts. A file may contain the same bytes, but clients find the end of
    /// a part by its range.
    fn boundary(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.tag.hash(&mut hasher);
        format!("tdb-{:016x}", hasher.finish())
    }

    /// Adds the pieces of several ranges. Returns the length of the body.
    fn multipart(&self, ranges: &[std::ops::Range<u64>], boundary: &str, parts: &mut VecDeque<Piece>) -> u64 {
        let mut length = 0;
        let add = |text: String, parts: &mut VecDeque<Piece>| {
            let size = text.len() as u64;
            parts.push_back(Piece::Bytes(text.into()));
            size
        };
        for range in ranges {
            let (kind, place) = (self.media_type, self.content_range(range));
            let head = format!("\r\n--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: {place}\r\n\r\n");
            length += add(head, parts) + (range.end - range.start);
            parts.push_back(Piece::File(range.clone()));
        }
        length + add(format!("\r\n--{boundary}--\r\n"), parts)
    }
}
