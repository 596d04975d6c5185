//! Paged listings.

use bytes::Bytes;
use hyper::{Response, StatusCode};
use quick_xml::escape::escape;

use super::answers::xml;
use super::objects::Bucket;

/// Modification time of all objects.
pub(super) const MODIFIED: &str = "2026-01-01T00:00:00.000Z";

/// Maximum number of entries per page.
const PAGE: usize = 1000;

/// Lists the objects with a prefix. Groups names up to the `delimiter`.
pub(super) fn listing(bucket: &Bucket, parameter: impl Fn(&str) -> Option<String>) -> Response<Bytes> {
    let prefix = parameter("prefix").unwrap_or_default();
    let delimiter = parameter("delimiter").filter(|delimiter| !delimiter.is_empty());
    let after = parameter("continuation-token").or_else(|| parameter("start-after")).unwrap_or_default();
    let most = parameter("max-keys").and_then(|most| most.parse().ok()).unwrap_or(PAGE).min(PAGE);
    let (mut body, mut count, mut last, mut next) = (String::new(), 0, String::new(), None);
    for (key, object) in bucket.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix)) {
        let rest = &key[prefix.len()..];
        let folder = delimiter.as_ref().and_then(|delimiter| Some(rest.find(delimiter.as_str())? + delimiter.len()));
        let name = folder.map_or(key.as_str(), |end| &key[..prefix.len() + end]);
        if name <= after.as_str() || name == last {
            continue;
        }
        if count == most {
            next = Some(last);
            break;
        }
        count += 1;
        name.clone_into(&mut last);
        let name = escape(name);
        match folder {
            Some(_) => body.push_str(&format!("<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>")),
            None => {
                let (tag, size) = (object.tag().replace('"', "&quot;"), object.bytes.len());
                body.push_str(&format!(
                    "<Contents><Key>{name}</Key><LastModified>{MODIFIED}</LastModified><ETag>{tag}</ETag><Size>{size}</Size></Contents>"
                ));
            }
        }
    }
    let next = next.map(|next| format!("<NextContinuationToken>{}</NextContinuationToken>", escape(next)));
    let (is_cut, next) = (next.is_some(), next.unwrap_or_default());
    xml(
        StatusCode::OK,
        format!(
            "<ListBucketResult><KeyCount>{count}</KeyCount><IsTruncated>{is_cut}</IsTruncated>{next}{body}</ListBucketResult>"
        ),
    )
}
