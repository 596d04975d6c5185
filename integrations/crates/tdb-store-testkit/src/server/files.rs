//! Reads and writes of objects.

use std::ops::Range;

use bytes::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderValue, IF_NONE_MATCH, LAST_MODIFIED, RANGE};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use quick_xml::escape::unescape;

use super::answers::{Refused, empty, xml};
use super::objects::{Bucket, Object, said};

/// Modification time of all objects.
const MODIFIED: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

pub(super) fn get(bucket: &Bucket, key: &str, request: &Request<Bytes>) -> Result<Response<Bytes>, Refused> {
    let missing = || Refused::new(StatusCode::NOT_FOUND, "NoSuchKey", "The specified key does not exist.");
    let object = bucket.get(key).ok_or_else(missing)?;
    let size = object.bytes.len();
    let range = request.headers().get(RANGE).and_then(|range| range.to_str().ok());
    let range = range.map(|range| range_of(range, size)).transpose()?;
    let mut response = empty(if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK });
    let headers = response.headers_mut();
    headers.extend(object.said.clone());
    insert(headers, ETAG, &object.tag());
    insert(headers, LAST_MODIFIED, MODIFIED);
    if let Some(Range { start, end }) = &range {
        insert(headers, CONTENT_RANGE, &format!("bytes {start}-{}/{size}", end - 1));
    }
    let bytes = object.bytes.slice(range.unwrap_or(0..size));
    headers.insert(CONTENT_LENGTH, bytes.len().into());
    if *request.method() != Method::HEAD {
        *response.body_mut() = bytes;
    }
    Ok(response)
}

/// Parses `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-LENGTH`. Clips to the object size.
fn range_of(range: &str, size: usize) -> Result<Range<usize>, Refused> {
    let refused = || {
        let message = "The requested range is not satisfiable";
        Refused::new(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange", message)
    };
    let (first, last) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')).ok_or_else(refused)?;
    let range = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => first..last.saturating_add(1).min(size),
        (Ok(first), Err(_)) => first..size,
        (Err(_), Ok(len)) => size.saturating_sub(len)..size,
        (Err(_), Err(_)) => return Err(refused()),
    };
    if range.is_empty() { Err(refused()) } else { Ok(range) }
}

/// Checks the write condition against an existing object.
pub(super) fn check_condition(bucket: &Bucket, key: &str, headers: &HeaderMap) -> Result<(), Refused> {
    if headers.get(IF_NONE_MATCH).is_some_and(|wanted| wanted == "*") && bucket.contains_key(key) {
        let message = "At least one of the pre-conditions you specified did not hold";
        return Err(Refused::new(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", message));
    }
    Ok(())
}

pub(super) fn put(bucket: &mut Bucket, key: &str, request: &Request<Bytes>) -> Result<Response<Bytes>, Refused> {
    check_condition(bucket, key, request.headers())?;
    let object = Object { bytes: request.body().clone(), said: said(request.headers()) };
    let mut response = empty(StatusCode::OK);
    insert(response.headers_mut(), ETAG, &object.tag());
    bucket.insert(key.to_owned(), object);
    Ok(response)
}

pub(super) fn copy(bucket: &mut Bucket, name: &str, from: &HeaderValue, key: &str) -> Result<Response<Bytes>, Refused> {
    let from = percent_encoding::percent_decode(from.as_bytes()).decode_utf8_lossy().into_owned();
    let source = from.trim_start_matches('/').strip_prefix(name).map(|rest| rest.trim_start_matches('/'));
    let object = source.and_then(|source| bucket.get(source)).cloned();
    let object = object.ok_or_else(|| Refused::new(StatusCode::NOT_FOUND, "NoSuchKey", "There is nothing to copy."))?;
    let tag = object.tag().replace('"', "&quot;");
    bucket.insert(key.to_owned(), object);
    let modified = super::list::MODIFIED;
    let body =
        format!("<CopyObjectResult><ETag>{tag}</ETag><LastModified>{modified}</LastModified></CopyObjectResult>");
    Ok(xml(StatusCode::OK, body))
}

/// Reports success even if the object does not exist.
pub(super) fn delete(bucket: &mut Bucket, key: &str) -> Response<Bytes> {
    bucket.remove(key);
    empty(StatusCode::NO_CONTENT)
}

pub(super) fn delete_many(bucket: &mut Bucket, request: &Request<Bytes>) -> Response<Bytes> {
    let body = String::from_utf8_lossy(request.body());
    let mut gone = String::new();
    for piece in body.split("<Key>").skip(1) {
        let written = piece.split("</Key>").next().unwrap_or_default();
        if let Ok(key) = unescape(written) {
            bucket.remove(&*key);
            gone.push_str(&format!("<Deleted><Key>{written}</Key></Deleted>"));
        }
    }
    xml(StatusCode::OK, format!("<DeleteResult>{gone}</DeleteResult>"))
}

fn insert(headers: &mut HeaderMap, name: hyper::header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
