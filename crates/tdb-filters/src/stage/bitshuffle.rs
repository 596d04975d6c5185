//! Bitshuffle: the lowest bits of all values, followed by the second lowest, and so on.
//!
//! The input is split at the last multiple of 8 bytes, and the metadata lists the lengths of the
//! parts. A part whose length is a multiple of 8 bytes and of the value size is shuffled in blocks
//! of 8192 bytes. The longest prefix of a block with a multiple of 8 values is a matrix of bits,
//! with a row per value. Its shuffled form is the transposed matrix, with a row per bit. The
//! remaining values of a block, and all other parts, are copied.
//!
//! Bits are transposed in three steps on entire vectors or words:
//! 1. [Byteshuffle](super::byteshuffle) splits values into byte planes.
//! 2. The bits within each 8 bytes of a plane are transposed.
//! 3. A byteshuffle of these 8-byte words produces the rows of the transposed matrix.
//!
//! Values of 8 bytes take [fewer steps](square).

mod square;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, split_mut};
use crate::stage::byteshuffle::{Halves, shuffle, unshuffle};
use crate::stage::parts::{self, Parts};

const FILTER: &str = "bitshuffle";
/// Block size, in bytes.
const BLOCK: usize = 8192;
/// Number of values whose bits share a byte of the shuffled block.
const GROUP: usize = 8;

pub(crate) fn decode(
    size: usize,
    meta: &mut ByteReader<'_>,
    data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    let mut parts = Parts::read(meta, data, FILTER)?;
    let mut out = sink.take(data.len() as u64)?;
    let mut room = Room::new();
    while let Some(part) = parts.next()? {
        let out = split_mut(&mut out, FILTER, part.len() as u64)?;
        if transposes(size, part.len()) {
            for (from, to) in part.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
                decode_block(size, from, to, &mut room);
            }
        } else {
            out.copy_from_slice(part);
        }
    }
    Ok(())
}

pub(crate) fn encode(
    size: usize,
    meta: &mut Metadata<'_>,
    data: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FilterError> {
    let Some(part) = data else { return parts::write(meta, &[]) };
    let (whole, rest) = part.split_at(part.len() / GROUP * GROUP);
    if transposes(size, whole.len()) {
        let start = out.len();
        out.resize(start + whole.len(), 0);
        let mut room = Room::new();
        for (from, to) in whole.chunks(BLOCK).zip(out[start..].chunks_mut(BLOCK)) {
            encode_block(size, from, to, &mut room);
        }
    } else {
        out.extend_from_slice(whole);
    }
    out.extend_from_slice(rest);
    let lengths = [whole.len(), rest.len()];
    // An input of whole groups is one part. Any other input is two parts, even if the first is
    // empty.
    parts::write(meta, if rest.is_empty() { &lengths[..1] } else { &lengths })
}

/// Returns `true` if a part of this length is transposed.
fn transposes(size: usize, len: usize) -> bool {
    len.is_multiple_of(size) && len.is_multiple_of(GROUP)
}

/// Buffers for the intermediate results of the steps.
struct Room {
    planes: [u8; BLOCK],
    halves: Halves,
}

impl Room {
    fn new() -> Self {
        Self { planes: [0; BLOCK], halves: Halves::new() }
    }
}

fn encode_block(size: usize, block: &[u8], out: &mut [u8], room: &mut Room) {
    let whole = block.len() / (GROUP * size) * GROUP * size;
    let ((values, rest), (rows, rest_out)) = (block.split_at(whole), out.split_at_mut(whole));
    rest_out.copy_from_slice(rest);
    if size == 8 && square::fits(whole) {
        return square::encode(values, rows);
    }
    let Room { planes, halves } = room;
    let planes = &mut planes[..whole];
    shuffle(size, values, planes, halves);
    transpose_words(planes);
    // A plane has a byte per value. It becomes 8 rows with a bit per value.
    let plane_len = (whole / size).max(1);
    for (plane, rows) in planes.chunks_exact(plane_len).zip(rows.chunks_exact_mut(plane_len)) {
        shuffle(GROUP, plane, rows, halves);
    }
}

fn decode_block(size: usize, block: &[u8], out: &mut [u8], room: &mut Room) {
    let whole = block.len() / (GROUP * size) * GROUP * size;
    let ((rows, rest), (values, rest_out)) = (block.split_at(whole), out.split_at_mut(whole));
    rest_out.copy_from_slice(rest);
    if size == 8 && square::fits(whole) {
        return square::decode(rows, values);
    }
    let Room { planes, halves } = room;
    let planes = &mut planes[..whole];
    let plane_len = (whole / size).max(1);
    for (plane, rows) in planes.chunks_exact_mut(plane_len).zip(rows.chunks_exact(plane_len)) {
        unshuffle(GROUP, rows, plane, halves);
    }
    transpose_words(planes);
    unshuffle(size, planes, values, halves);
}

/// Transposes each 8 bytes as a matrix of 8 by 8 bits.
fn transpose_words(bytes: &mut [u8]) {
    for word in bytes.as_chunks_mut::<8>().0 {
        *word = transpose(u64::from_le_bytes(*word)).to_le_bytes();
    }
}

/// Moves bit `c` of byte `r` to bit `r` of byte `c`, by swapping off-diagonal blocks of 1, 2 and 4
/// bits.
#[inline(always)]
fn transpose(word: u64) -> u64 {
    let swap = |word: u64, shift: u32, mask: u64| {
        let differing = (word ^ (word >> shift)) & mask;
        word ^ differing ^ (differing << shift)
    };
    let word = swap(word, 7, 0x00aa_00aa_00aa_00aa);
    let word = swap(word, 14, 0x0000_cccc_0000_cccc);
    swap(word, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    use super::transpose;

    #[test]
    fn transposing_moves_single_bits() {
        for row in 0..8 {
            for column in 0..8 {
                assert_eq!(transpose(1 << (8 * row + column)), 1 << (8 * column + row));
            }
        }
    }
}
