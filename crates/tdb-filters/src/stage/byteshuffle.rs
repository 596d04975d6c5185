//! Byteshuffle: the first bytes of all values, followed by the second bytes, and so on.
//!
//! Bytes after the last whole value of a part keep their position.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, split_mut};
use crate::stage::parts::{self, Parts};

const FILTER: &str = "byteshuffle";

pub(crate) fn decode(
    size: usize,
    meta: &mut ByteReader<'_>,
    data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    let mut parts = Parts::read(meta, data, FILTER)?;
    let mut out = sink.take(data.len() as u64)?;
    let mut halves = Halves::new();
    while let Some(part) = parts.next()? {
        unshuffle(size, part, split_mut(&mut out, FILTER, part.len() as u64)?, &mut halves);
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
    let start = out.len();
    out.resize(start + part.len(), 0);
    shuffle(size, part, &mut out[start..], &mut Halves::new());
    parts::write(meta, &[part.len()])
}

/// Converts values to byte planes. Both slices have the same length. `size` is the size of a
/// datatype: 1, 2, 4 or 8.
pub(super) fn shuffle(size: usize, values: &[u8], planes: &mut [u8], halves: &mut Halves) {
    match size {
        2 => shuffle_blocks::<2>(values, planes, |pairs, [a, b]| unzip(pairs, a, b)),
        4 => shuffle_blocks::<4>(values, planes, |values, planes| unzip_4(values, planes, &mut halves.of_4)),
        8 => shuffle_blocks::<8>(values, planes, |values, planes| unzip_8(values, planes, halves)),
        _ => planes.copy_from_slice(values),
    }
}

/// Converts byte planes to values, the inverse of [`shuffle`].
pub(super) fn unshuffle(size: usize, planes: &[u8], values: &mut [u8], halves: &mut Halves) {
    match size {
        2 => unshuffle_blocks::<2>(planes, values, |[a, b], pairs| zip(a, b, pairs)),
        4 => unshuffle_blocks::<4>(planes, values, |planes, values| zip_4(planes, values, &mut halves.of_4)),
        8 => unshuffle_blocks::<8>(planes, values, |planes, values| zip_8(planes, values, halves)),
        _ => values.copy_from_slice(planes),
    }
}

/// Values per block. The halves of a block stay in the L1 cache between two steps.
const BLOCK: usize = 512;

/// Buffers for the even and odd bytes of a block.
#[derive(Debug)]
pub(super) struct Halves {
    of_4: [u8; 4 * BLOCK],
    of_8: [u8; 8 * BLOCK],
}

impl Halves {
    pub(super) fn new() -> Self {
        Self { of_4: [0; 4 * BLOCK], of_8: [0; 8 * BLOCK] }
    }
}

fn shuffle_blocks<const N: usize>(values: &[u8], planes: &mut [u8], mut unzip: impl FnMut(&[u8], [&mut [u8]; N])) {
    let count = values.len() / N;
    let (values, rest) = values.split_at(count * N);
    let (mut planes, rest_out) = planes.split_at_mut(count * N);
    rest_out.copy_from_slice(rest);
    let mut planes: [&mut [u8]; N] = std::array::from_fn(|_| planes.split_off_mut(..count).unwrap_or_default());
    for block in values.chunks(BLOCK * N) {
        let len = block.len() / N;
        unzip(block, planes.each_mut().map(|plane| plane.split_off_mut(..len).unwrap_or_default()));
    }
}

fn unshuffle_blocks<const N: usize>(planes: &[u8], values: &mut [u8], mut zip: impl FnMut([&[u8]; N], &mut [u8])) {
    let count = values.len() / N;
    let (mut planes, rest) = planes.split_at(count * N);
    let (values, rest_out) = values.split_at_mut(count * N);
    rest_out.copy_from_slice(rest);
    let mut planes: [&[u8]; N] = std::array::from_fn(|_| planes.split_off(..count).unwrap_or_default());
    for block in values.chunks_mut(BLOCK * N) {
        let len = block.len() / N;
        zip(planes.each_mut().map(|plane| plane.split_off(..len).unwrap_or_default()), block);
    }
}

// Shuffles repeat a single step, the split into even and odd bytes, or the inverse. This step is
// one instruction per vector even on baseline x86-64. A loop with a stride would stay scalar.

/// Splits `pairs` into even and odd bytes.
#[inline(always)]
fn unzip(pairs: &[u8], even: &mut [u8], odd: &mut [u8]) {
    /// Number of pairs per iteration. They pass through words, which the compiler can pack into
    /// vectors. The inverse vectorizes without this detour.
    const LANES: usize = 32;
    let (blocks, tail) = pairs.as_chunks::<2>().0.as_chunks::<LANES>();
    let ((even_blocks, even_tail), (odd_blocks, odd_tail)) = (even.as_chunks_mut(), odd.as_chunks_mut());
    for ((block, even), odd) in blocks.iter().zip(even_blocks).zip(odd_blocks) {
        let words: [u16; LANES] = std::array::from_fn(|lane| u16::from_le_bytes(block[lane]));
        *even = std::array::from_fn::<_, LANES, _>(|lane| words[lane] as u8);
        *odd = std::array::from_fn::<_, LANES, _>(|lane| (words[lane] >> 8) as u8);
    }
    for ((pair, even), odd) in tail.iter().zip(even_tail).zip(odd_tail) {
        [*even, *odd] = *pair;
    }
}

/// The inverse of [`unzip`].
#[inline(always)]
fn zip(even: &[u8], odd: &[u8], pairs: &mut [u8]) {
    for ((pair, even), odd) in pairs.as_chunks_mut::<2>().0.iter_mut().zip(even).zip(odd) {
        *pair = [*even, *odd];
    }
}

/// The even bytes of 4-byte values are the first and third bytes.
fn unzip_4(values: &[u8], [a, b, c, d]: [&mut [u8]; 4], halves: &mut [u8]) {
    let (even, odd) = split_halves(halves, values.len());
    unzip(values, even, odd);
    unzip(even, a, c);
    unzip(odd, b, d);
}

fn zip_4([a, b, c, d]: [&[u8]; 4], values: &mut [u8], halves: &mut [u8]) {
    let (even, odd) = split_halves(halves, values.len());
    zip(a, c, even);
    zip(b, d, odd);
    zip(even, odd, values);
}

fn unzip_8(values: &[u8], [a, b, c, d, e, f, g, h]: [&mut [u8]; 8], halves: &mut Halves) {
    let (even, odd) = split_halves(&mut halves.of_8, values.len());
    unzip(values, even, odd);
    unzip_4(even, [a, c, e, g], &mut halves.of_4);
    unzip_4(odd, [b, d, f, h], &mut halves.of_4);
}

fn zip_8([a, b, c, d, e, f, g, h]: [&[u8]; 8], values: &mut [u8], halves: &mut Halves) {
    let (even, odd) = split_halves(&mut halves.of_8, values.len());
    zip_4([a, c, e, g], even, &mut halves.of_4);
    zip_4([b, d, f, h], odd, &mut halves.of_4);
    zip(even, odd, values);
}

/// Returns two slices of `len / 2` bytes each. Blocks never exceed the buffer.
fn split_halves(halves: &mut [u8], len: usize) -> (&mut [u8], &mut [u8]) {
    let (even, odd) = halves.split_at_mut(halves.len() / 2);
    (&mut even[..len / 2], &mut odd[..len / 2])
}
