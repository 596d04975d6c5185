//! Decompressors with an output limit.

use std::io::Read;

/// Cause of a failed decompression.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    #[error("{0}")]
    Damaged(&'static str),
    #[error("{0}")]
    Codec(String),
    #[error("uncompressed size of {} bytes exceeds the limit of {limit}", len.map_or_else(|| "more".to_owned(), |len| len.to_string()))]
    TooLong { len: Option<u64>, limit: usize },
}

pub(super) fn gzip(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    bounded(flate2::read::MultiGzDecoder::new(packed), limit)
}

pub(super) fn zlib(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    bounded(flate2::read::ZlibDecoder::new(packed), limit)
}

pub(super) fn zstd(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    let decoder = zstd::Decoder::new(packed).map_err(|error| UnpackError::Codec(error.to_string()))?;
    bounded(decoder, limit)
}

pub(super) fn lz4(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    let mut out = vec![0; limit];
    let len = lz4_flex::block::decompress_into(packed, &mut out);
    out.truncate(len.map_err(|error| UnpackError::Codec(error.to_string()))?);
    Ok(out)
}

pub(super) fn snappy(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    let failed = |error: snap::Error| UnpackError::Codec(error.to_string());
    let len = snap::raw::decompress_len(packed).map_err(failed)?;
    if len > limit {
        return Err(UnpackError::TooLong { len: Some(len as u64), limit });
    }
    snap::raw::Decoder::new().decompress_vec(packed).map_err(failed)
}

/// Reads up to the limit. Memory grows with the actual output.
fn bounded(from: impl Read, limit: usize) -> Result<Vec<u8>, UnpackError> {
    let mut out = Vec::new();
    let read = from.take(limit as u64 + 1).read_to_end(&mut out);
    read.map_err(|error| UnpackError::Codec(error.to_string()))?;
    if out.len() > limit { Err(UnpackError::TooLong { len: None, limit }) } else { Ok(out) }
}
