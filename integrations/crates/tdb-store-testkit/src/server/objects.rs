//! Contents of a server.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use hyper::HeaderMap;

/// Objects by name.
pub(super) type Bucket = BTreeMap<String, Object>;

#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) bucket: Bucket,
    /// Uploads in progress.
    pub(super) uploads: BTreeMap<String, Upload>,
    /// Number of uploads ever started.
    pub(super) begun: usize,
}

#[derive(Debug, Default)]
pub(super) struct Upload {
    /// Parts by number.
    pub(super) parts: BTreeMap<u32, Bytes>,
    pub(super) said: HeaderMap,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) bytes: Bytes,
    /// Headers returned with the object: `x-amz-meta-…`.
    pub(super) said: HeaderMap,
}

impl Object {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self { bytes, said: HeaderMap::new() }
    }

    pub(super) fn tag(&self) -> String {
        tag(&self.bytes)
    }
}

/// Returns the request headers to keep with the object.
pub(super) fn said(headers: &HeaderMap) -> HeaderMap {
    let said = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-amz-meta-"));
    said.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns an ETag for the contents.
pub(super) fn tag(bytes: &Bytes) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}
