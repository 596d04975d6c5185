//! Decompression of Blosc (format version 1).

use super::unpack::{UnpackError, lz4, snappy, zlib, zstd};

/// Size of the header in bytes.
const HEADER: usize = 16;
/// Maximum element size in bytes for a block with one stream per byte of an element.
const MAX_SPLITS: usize = 16;
/// Minimum length of such a stream in bytes.
const MIN_STREAM: usize = 128;

/// Decompresses a buffer. The header contains the decompressed size.
///
/// # Errors
/// The buffer is damaged, or its decompressed size exceeds `limit`.
pub(super) fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    let header = packed.first_chunk::<HEADER>().ok_or(UnpackError::Damaged("the header is truncated"))?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
    let (flags, element) = (header[2], usize::from(header[3]).max(1));
    let (len, block) = (number(4), number(8));
    if len > limit {
        return Err(UnpackError::TooLong { len: Some(len as u64), limit });
    }
    if len == 0 {
        return Ok(Vec::new());
    }
    if flags & 0x02 != 0 {
        let plain = packed.get(HEADER..HEADER + len);
        return Ok(plain.ok_or(UnpackError::Damaged("truncated"))?.to_vec());
    }
    if block == 0 || flags & 0x08 != 0 {
        return Err(UnpackError::Damaged("the header contradicts itself"));
    }
    let block = block.min(len);
    let mut unpacked = Vec::with_capacity(len);
    let mut plain = Vec::with_capacity(block);
    for number in 0..len.div_ceil(block) {
        let start = packed.get(HEADER + 4 * number..).and_then(|rest| rest.first_chunk());
        let start = start.map(|start| u32::from_le_bytes(*start) as usize);
        let streams = start.and_then(|start| packed.get(start..)).ok_or(UnpackError::Damaged("a block is missing"))?;
        let size = block.min(len - number * block);
        plain.clear();
        unpack_block(streams, flags, (element, size, size < block), &mut plain)?;
        match flags {
            _ if flags & 0x01 != 0 && element > 1 => unshuffle(&plain, element, &mut unpacked),
            _ if flags & 0x04 != 0 && size >= element => unshuffle_bits(&plain, element, &mut unpacked),
            _ => unpacked.extend_from_slice(&plain),
        }
    }
    Ok(unpacked)
}

fn unpack_block(
    mut rest: &[u8],
    flags: u8,
    (element, size, is_rest): (usize, usize, bool),
    plain: &mut Vec<u8>,
) -> Result<(), UnpackError> {
    let is_split = flags & 0x10 == 0 && element <= MAX_SPLITS && size / element >= MIN_STREAM && !is_rest;
    let count = if is_split { element } else { 1 };
    let stream_len = size / count;
    for _ in 0..count {
        let cut = UnpackError::Damaged("a stream is truncated");
        let Some((len, behind)) = rest.split_first_chunk() else { return Err(cut) };
        let Some((stream, behind)) = behind.split_at_checked(u32::from_le_bytes(*len) as usize) else {
            return Err(cut);
        };
        rest = behind;
        if stream.len() == stream_len {
            plain.extend_from_slice(stream);
            continue;
        }
        let unpacked = match flags >> 5 {
            0 => blosclz(stream, stream_len),
            1 => lz4(stream, stream_len),
            2 => snappy(stream, stream_len),
            3 => zlib(stream, stream_len),
            4 => zstd(stream, stream_len),
            _ => Err(UnpackError::Damaged("unknown Blosc codec")),
        }?;
        if unpacked.len() != stream_len {
            return Err(UnpackError::Damaged("a stream has an unexpected length"));
        }
        plain.extend_from_slice(&unpacked);
    }
    // If the block size is not a multiple of the number of streams, the streams do not fill the
    // block.
    if plain.len() == size { Ok(()) } else { Err(UnpackError::Damaged("a block has an unexpected length")) }
}

/// Decompresses BloscLZ, Blosc's codec of the LZ77 family.
fn blosclz(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    const CUT: UnpackError = UnpackError::Damaged("a stream is truncated");
    let mut bytes = packed.iter().copied();
    let mut out: Vec<u8> = Vec::with_capacity(limit);
    let mut next = bytes.next().map(|control| control & 31);
    while let Some(control) = next {
        if control < 32 {
            let count = usize::from(control) + 1;
            let before = out.len();
            out.extend(bytes.by_ref().take(count));
            if out.len() - before != count {
                return Err(CUT);
            }
        } else {
            let (mut len, far) = (usize::from(control >> 5) - 1, usize::from(control & 31) << 8);
            if len == 6 {
                loop {
                    let code = bytes.next().ok_or(CUT)?;
                    len += usize::from(code);
                    if code != 255 {
                        break;
                    }
                }
            }
            len += 3;
            let code = bytes.next().ok_or(CUT)?;
            let mut distance = far + usize::from(code);
            if code == 255 && far == 31 << 8 {
                let (high, low) = (bytes.next().ok_or(CUT)?, bytes.next().ok_or(CUT)?);
                // Distances beyond 13 bits start at 8191.
                distance = (usize::from(high) << 8) + usize::from(low) + 8191;
            }
            let from = out
                .len()
                .checked_sub(distance + 1)
                .ok_or(UnpackError::Damaged("a reference points before the start"))?;
            if out.len() + len > limit {
                return Err(UnpackError::TooLong { len: None, limit });
            }
            for at in from..from + len {
                out.push(out[at]);
            }
        }
        if out.len() > limit {
            return Err(UnpackError::TooLong { len: None, limit });
        }
        next = bytes.next();
    }
    Ok(out)
}

/// Reverses the byte shuffle: all first bytes of elements, then all second bytes, and so on.
fn unshuffle(plain: &[u8], element: usize, out: &mut Vec<u8>) {
    let count = plain.len() / element;
    for index in 0..count {
        out.extend((0..element).map(|byte| plain[byte * count + index]));
    }
    out.extend_from_slice(&plain[count * element..]);
}

/// Reverses the bit shuffle, in groups of eight elements. Blosc does not shuffle other element
/// counts.
fn unshuffle_bits(plain: &[u8], element: usize, out: &mut Vec<u8>) {
    let count = plain.len() / element;
    if !count.is_multiple_of(8) {
        out.extend_from_slice(plain);
        return;
    }
    let row = count / 8;
    for eight in 0..row {
        for bit in 0..8 {
            for byte in 0..element {
                let bits = (0..8).map(|place| (plain[(byte * 8 + place) * row + eight] >> bit & 1) << place);
                out.push(bits.fold(0, |byte, bit| byte | bit));
            }
        }
    }
    out.extend_from_slice(&plain[count * element..]);
}
