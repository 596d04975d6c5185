//! What a server holds.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use hyper::HeaderMap;

/// The objects by their names.
pub(super) type Bucket = BTreeMap<String, Object>;

#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) bucket: Bucket,
    /// Uploads that aren't complete.
    pub(super) uploads: BTreeMap<String, Upload>,
    /// How many uploads there have been.
    pub(super) begun: usize,
}

#[derive(Debug, Default)]
pub(super) struct Upload {
    /// By number.
    pub(super) parts: BTreeMap<u32, Bytes>,
    pub(super) said: HeaderMap,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) bytes: Bytes,
    /// Headers that come back with the object: `x-amz-meta-…`.
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

/// The headers of a request that come back with the object.
pub(super) fn said(headers: &HeaderMap) -> HeaderMap {
    let said = headers.iter().filter(|(name, _)| name.as_str().starts_with("x-amz-meta-"));
    said.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// What tells contents apart.
pub(super) fn tag(bytes: &Bytes) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}
