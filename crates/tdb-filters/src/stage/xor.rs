//! XOR: the first value, then the exclusive or of each value with the previous.

use std::ops::BitXor;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, split_mut};
use crate::stage::parts::{self, Parts};

const FILTER: &str = "xor";

pub(crate) fn decode(
    size: usize,
    meta: &mut ByteReader<'_>,
    data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    let mut parts = Parts::read(meta, data, FILTER)?;
    let mut out = sink.take(data.len() as u64)?;
    while let Some(part) = parts.next()? {
        let out = split_mut(&mut out, FILTER, part.len() as u64)?;
        if !part.len().is_multiple_of(size) {
            // The writer lost the bytes after the last whole value.
            return Err(FilterError::Corrupt {
                filter: FILTER,
                what: "the length of a part is not a multiple of the value size",
            });
        }
        match size {
            4 => prefix_xor(part.as_chunks().0, out, u32::from_le_bytes, u32::to_le_bytes),
            8 => prefix_xor(part.as_chunks().0, out, u64::from_le_bytes, u64::to_le_bytes),
            _ => prefix_xor_words(size, part, out),
        }
    }
    Ok(())
}

/// Combines each value with all previous values.
fn prefix_xor<T: Copy + Default + BitXor<Output = T>, const N: usize>(
    part: &[[u8; N]],
    out: &mut [u8],
    load: impl Fn([u8; N]) -> T,
    store: impl Fn(T) -> [u8; N],
) {
    let mut value = T::default();
    for (to, from) in out.as_chunks_mut::<N>().0.iter_mut().zip(part) {
        value = value ^ load(*from);
        *to = store(value);
    }
}

/// Combines values smaller than a word, several at a time. Within a word, the distance doubles per
/// step. The last value of a word is spread over the next word.
fn prefix_xor_words(size: usize, part: &[u8], out: &mut [u8]) {
    let bits = 8 * size;
    // A 1 in the lowest bit of each value, to spread a value over a word.
    let spread = u64::MAX / ((1 << bits) - 1);
    let (words, rest) = part.as_chunks::<8>();
    let (words_out, rest_out) = out.split_at_mut(words.len() * 8);
    let mut before = 0u64;
    for (to, from) in words_out.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        let mut word = u64::from_le_bytes(*from);
        for distance in [8, 16, 32] {
            if distance >= bits {
                word ^= word << distance;
            }
        }
        word ^= before.wrapping_mul(spread);
        *to = word.to_le_bytes();
        before = word >> (64 - bits);
    }
    let mut last = before.to_le_bytes();
    for (to, from) in rest_out.chunks_exact_mut(size).zip(rest.chunks_exact(size)) {
        for ((to, from), last) in to.iter_mut().zip(from).zip(&mut last) {
            *last ^= from;
            *to = *last;
        }
    }
}

pub(crate) fn encode(
    size: usize,
    meta: &mut Metadata<'_>,
    data: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FilterError> {
    let Some(part) = data else { return parts::write(meta, &[]) };
    if !part.len().is_multiple_of(size) {
        return Err(FilterError::PartialValue { filter: FILTER, len: part.len() as u64, unit: size as u64 });
    }
    // With an offset of one value, the bytes can be combined regardless of the datatype.
    let first = part.len().min(size);
    out.extend_from_slice(&part[..first]);
    out.extend(part[first..].iter().zip(part).map(|(value, before)| value ^ before));
    parts::write(meta, &[part.len()])
}
