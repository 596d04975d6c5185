//! Falsified responses.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use hyper::Response;
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderValue};

use crate::What;

/// Number of pages with a continuation so far.
static PAGES: AtomicUsize = AtomicUsize::new(0);

pub(super) fn altered(response: Response<Bytes>, what: &What) -> Response<Bytes> {
    let (mut head, mut body) = response.into_parts();
    if !head.status.is_success() {
        return Response::from_parts(head, body);
    }
    match what {
        What::Short(less) => body.truncate(body.len().saturating_sub(*less)),
        What::Long(more) => {
            let mut longer = BytesMut::from(&body[..]);
            longer.resize(body.len() + more, b'?');
            body = longer.freeze();
        }
        What::Shifted(by) => {
            if let Some((first, last, size)) = range_of(&head.headers) {
                set_range(&mut head.headers, first + by, last + by, size);
            }
        }
        What::Sized(size) => match range_of(&head.headers) {
            Some((first, last, _)) => set_range(&mut head.headers, first, last, *size),
            None if is_listing(&body) => body = with_sizes(&body, *size).into(),
            // Response to HEAD: the body is empty, and the length only in the header.
            None if body.is_empty() => return sized(Response::from_parts(head, body), *size),
            None => {}
        },
        What::Hidden(name) if is_listing(&body) => body = without(&body, name).into(),
        What::Circling if is_listing(&body) => body = followed(&body, "again").into(),
        What::Endless if is_listing(&body) => {
            let page = PAGES.fetch_add(1, Ordering::Relaxed);
            body = followed(&body, &format!("{page:020}")).into();
        }
        What::Ranged(range) if head.headers.contains_key(CONTENT_RANGE) => {
            head.headers.insert(CONTENT_RANGE, HeaderValue::from_static(range));
        }
        _ => {}
    }
    // Matches the altered body.
    if !body.is_empty() {
        head.headers.insert(CONTENT_LENGTH, body.len().into());
    }
    Response::from_parts(head, body)
}

fn sized(mut response: Response<Bytes>, size: u64) -> Response<Bytes> {
    response.headers_mut().insert(CONTENT_LENGTH, size.into());
    response
}

/// Parses `bytes FIRST-LAST/SIZE`.
fn range_of(headers: &hyper::HeaderMap) -> Option<(u64, u64, u64)> {
    let (range, size) = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?, size.parse().ok()?))
}

fn set_range(headers: &mut hyper::HeaderMap, first: u64, last: u64, size: u64) {
    if let Ok(range) = HeaderValue::from_str(&format!("bytes {first}-{last}/{size}")) {
        headers.insert(CONTENT_RANGE, range);
    }
}

fn is_listing(body: &Bytes) -> bool {
    let beginning = String::from_utf8_lossy(&body[..body.len().min(300)]);
    beginning.contains("<ListBucketResult")
}

/// Removes entries with a name from a listing.
fn without(body: &Bytes, name: &str) -> String {
    let mut listing = String::from_utf8_lossy(body).into_owned();
    for element in ["Contents", "CommonPrefixes"] {
        let (begin, end) = (format!("<{element}>"), format!("</{element}>"));
        let mut kept = String::new();
        while let Some((before, rest)) = listing.split_once(&begin) {
            let Some((inside, after)) = rest.split_once(&end) else { break };
            kept.push_str(before);
            if !inside.contains(name) {
                kept.extend([&begin, inside, &end]);
            }
            listing = after.to_owned();
        }
        kept.push_str(&listing);
        listing = kept;
    }
    listing
}

/// Adds a continuation token to a listing.
fn followed(body: &Bytes, token: &str) -> String {
    let listing = String::from_utf8_lossy(body);
    let begin = format!("<ListBucketResult><NextContinuationToken>{token}</NextContinuationToken>");
    let listing = listing.replacen("<ListBucketResult>", &begin, 1);
    listing.replacen("<IsTruncated>false<", "<IsTruncated>true<", 1)
}

/// Replaces all sizes in a listing.
fn with_sizes(body: &Bytes, size: u64) -> String {
    let listing = String::from_utf8_lossy(body).into_owned();
    let mut pieces = listing.split("<Size>");
    let mut altered = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|digit: char| digit.is_ascii_digit());
        altered.push_str(&format!("<Size>{size}{rest}"));
    }
    altered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_lose_names_and_get_sizes() {
        let entry = |key: &str| format!("<Contents><Key>{key}</Key><Size>12</Size></Contents>");
        let listing = |keys: &[&str]| {
            let entries: String = keys.iter().map(|key| entry(key)).collect();
            Bytes::from(format!("<ListBucketResult>{entries}<KeyCount>3</KeyCount></ListBucketResult>"))
        };
        assert_eq!(without(&listing(&["a", "bc", "d"]), "c"), listing(&["a", "d"]));
        assert_eq!(without(&listing(&["a"]), "c"), listing(&["a"]));
        assert!(with_sizes(&listing(&["a", "b"]), 7).matches("<Size>7</Size>").count() == 2);
    }
}
