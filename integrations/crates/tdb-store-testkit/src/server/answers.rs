//! Responses, and errors in S3 form.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// A rejected request.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// Region of the bucket, reported in the error.
    pub(super) region: Option<String>,
}

impl Refused {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), region: None }
    }
}

/// Returns the error response. Responses to HEAD have no body.
pub(super) fn answer_of(refused: &Refused, is_head: bool) -> Response<Bytes> {
    let Refused { status, code, message, region } = refused;
    let tag = region.as_ref().map(|region| format!("<Region>{region}</Region>")).unwrap_or_default();
    let body = format!("<Error><Code>{code}</Code><Message>{message}</Message>{tag}<RequestId>1</RequestId></Error>");
    let mut response = xml(*status, if is_head { String::new() } else { body });
    if let Some(region) = region.as_ref().and_then(|region| HeaderValue::from_str(region).ok()) {
        response.headers_mut().insert(HeaderName::from_static("x-amz-bucket-region"), region);
    }
    response
}

pub(super) fn xml(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = empty(status);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    *response.body_mut() = body.into();
    response
}

pub(super) fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}
