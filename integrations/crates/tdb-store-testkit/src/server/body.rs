//! Chunked bodies of Amazon's clients, with a trailing checksum.

use bytes::{Bytes, BytesMut};
use hyper::Request;

/// Decodes a chunked body: `LENGTH[;…]\r\nBYTES\r\n`, with hexadecimal lengths, up to length 0.
/// Other bodies stay unchanged.
pub(super) fn unframed(request: Request<Bytes>) -> Request<Bytes> {
    if !request.headers().contains_key("x-amz-decoded-content-length") {
        return request;
    }
    request.map(|body| {
        let mut bytes = BytesMut::new();
        let mut rest = &body[..];
        while let Some((len, after)) = frame(rest) {
            let Some((frame, next)) = after.split_at_checked(len).filter(|_| len > 0) else { break };
            bytes.extend_from_slice(frame);
            rest = next.strip_prefix(b"\r\n").unwrap_or(next);
        }
        bytes.freeze()
    })
}

/// Returns the length of the next chunk, and the bytes after the chunk header.
fn frame(rest: &[u8]) -> Option<(usize, &[u8])> {
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let len = usize::from_str_radix(head.split(';').next()?, 16).ok()?;
    Some((len, &rest[end + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_frames_are_removed() {
        let framed = "5;chunk-signature=x\r\nhello\r\n1\r\n!\r\n0\r\nx-amz-checksum-crc32:AA==\r\n\r\n";
        let request = Request::builder().header("x-amz-decoded-content-length", "6").body(Bytes::from(framed)).unwrap();
        assert_eq!(unframed(request).into_body(), "hello!");
        let plain = Request::builder().body(Bytes::from(framed)).unwrap();
        assert_eq!(unframed(plain).into_body(), framed);
    }
}
