//! Validation of an image's size before decoding.

use super::errors::FILTER;
use crate::FilterError;

/// Size of a RIFF chunk's header: name and length, in bytes.
const CHUNK_HEADER: usize = 8;

/// Checks that the file contains a picture, no animation, and only pictures of this width and
/// height.
///
/// Checks all chunks, regardless of the chunk that the decoder uses.
pub(super) fn check(image: &[u8], size: (u32, u32)) -> Result<(), FilterError> {
    let corrupt = |what| Err(FilterError::Corrupt { filter: FILTER, what });
    let Some((riff, mut rest)) = image.split_first_chunk::<12>() else {
        return corrupt("not an image: shorter than the header");
    };
    if !riff.starts_with(b"RIFF") || !riff.ends_with(b"WEBP") {
        return corrupt("not a WebP image");
    }
    let mut pictures = 0;
    while let Some((header, payload)) = rest.split_first_chunk::<CHUNK_HEADER>() {
        let [name @ .., a, b, c, d] = *header;
        let found = match &name {
            b"VP8 " => lossy(payload),
            b"VP8L" => lossless(payload),
            b"VP8X" => extended(payload),
            b"ANIM" | b"ANMF" => return corrupt("animated"),
            _ => Some(size),
        };
        match found {
            Some(found) if found == size => {}
            Some(_) => return corrupt("the size of the image differs from that of the tile"),
            None => return corrupt("the image has no size"),
        }
        pictures += u32::from(matches!(&name, b"VP8 " | b"VP8L"));
        // Chunks begin at even offsets.
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        rest = payload.get(len.saturating_add(len % 2)..).unwrap_or_default();
    }
    if pictures == 0 { corrupt("the file contains no image") } else { Ok(()) }
}

/// Reads the size from a key frame: a tag, a start code, and for each side 14 bits and 2 bits of
/// scaling.
fn lossy(payload: &[u8]) -> Option<(u32, u32)> {
    let [_, _, _, 0x9d, 0x01, 0x2a, a, b, c, d] = *payload.first_chunk()? else { return None };
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((side(a, b), side(c, d)))
}

/// Reads the size after a signature: 14 bits per side, minus one.
fn lossless(payload: &[u8]) -> Option<(u32, u32)> {
    let [0x2f, a, b, c, d] = *payload.first_chunk()? else { return None };
    let bits = u32::from_le_bytes([a, b, c, d]);
    Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
}

/// Reads the size after the flags: 24 bits per side, minus one.
fn extended(payload: &[u8]) -> Option<(u32, u32)> {
    let [_, _, _, _, a, b, c, d, e, f] = *payload.first_chunk()?;
    Some((u32::from_le_bytes([a, b, c, 0]) + 1, u32::from_le_bytes([d, e, f, 0]) + 1))
}
