//! Bodies of responses.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, SeekFrom};
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Number of bytes per read of a file.
const CHUNK: u64 = 128 << 10;

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Bytes(Bytes),
    /// A non-empty range of the file.
    File(Range<u64>),
}

/// Returns a body in memory.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Returns a body with ranges of a file, read at the speed of the client. If the file shrinks
/// meanwhile, the body fails and the connection closes.
pub(crate) fn pieces(file: File, pieces: VecDeque<Piece>) -> Body {
    let state = (tokio::fs::File::from_std(file), pieces, None);
    let frames = stream::try_unfold(state, |(mut file, mut pieces, mut place)| async move {
        let range = match pieces.pop_front() {
            None => return Ok(None),
            Some(Piece::Bytes(bytes)) => return Ok(Some((Frame::data(bytes), (file, pieces, place)))),
            Some(Piece::File(range)) => range,
        };
        if place != Some(range.start) {
            file.seek(SeekFrom::Start(range.start)).await?;
        }
        let want = CHUNK.min(range.end - range.start);
        let mut chunk = BytesMut::with_capacity(usize::try_from(want).unwrap_or_default());
        let got = (&mut file).take(want).read_buf(&mut chunk).await? as u64;
        if got == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        let next = range.start + got;
        place = Some(next);
        if next < range.end {
            pieces.push_front(Piece::File(next..range.end));
        }
        Ok(Some((Frame::data(chunk.freeze()), (file, pieces, place))))
    });
    StreamBody::new(frames).boxed_unsync()
}
