//! Multipart uploads.

use bytes::{Bytes, BytesMut};
use hyper::header::{ETAG, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use quick_xml::escape::escape;

use super::answers::{Refused, empty, xml};
use super::files::check_condition;
use super::objects::{Object, Objects, Upload, said, tag};

fn unknown() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "NoSuchUpload", "The specified multipart upload does not exist.")
}

pub(super) fn begin(objects: &mut Objects, key: &str, headers: &HeaderMap) -> Response<Bytes> {
    objects.begun += 1;
    let id = format!("upload-{}", objects.begun);
    objects.uploads.insert(id.clone(), Upload { said: said(headers), ..Upload::default() });
    let key = escape(key);
    let body = format!(
        "<InitiateMultipartUploadResult><Key>{key}</Key><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
    );
    xml(StatusCode::OK, body)
}

pub(super) fn part(
    objects: &mut Objects,
    id: &str,
    number: Option<String>,
    bytes: &Bytes,
) -> Result<Response<Bytes>, Refused> {
    let upload = objects.uploads.get_mut(id).ok_or_else(unknown)?;
    let number = number.and_then(|number| number.parse().ok()).ok_or_else(|| invalid("it has no number"))?;
    upload.parts.insert(number, bytes.clone());
    let mut response = empty(StatusCode::OK);
    if let Ok(tag) = HeaderValue::from_str(&tag(bytes)) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

fn invalid(why: &str) -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, "InvalidPart", format!("One or more of the parts could not be found: {why}"))
}

pub(super) fn complete(
    objects: &mut Objects,
    key: &str,
    id: &str,
    request: &Request<Bytes>,
) -> Result<Response<Bytes>, Refused> {
    check_condition(&objects.bucket, key, request.headers())?;
    let upload = objects.uploads.get(id).ok_or_else(unknown)?;
    let body = String::from_utf8_lossy(request.body());
    let mut bytes = BytesMut::new();
    for piece in body.split("<PartNumber>").skip(1) {
        let number = piece.split('<').next().and_then(|number| number.parse().ok());
        let part =
            number.and_then(|number: u32| upload.parts.get(&number)).ok_or_else(|| invalid("a number is unknown"))?;
        bytes.extend_from_slice(part);
    }
    let object = Object { bytes: bytes.freeze(), said: upload.said.clone() };
    objects.uploads.remove(id);
    let tag = object.tag().replace('"', "&quot;");
    objects.bucket.insert(key.to_owned(), object);
    Ok(xml(
        StatusCode::OK,
        format!("<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"),
    ))
}

pub(super) fn abort(objects: &mut Objects, id: &str) -> Result<Response<Bytes>, Refused> {
    objects.uploads.remove(id).map(|_| empty(StatusCode::NO_CONTENT)).ok_or_else(unknown)
}
