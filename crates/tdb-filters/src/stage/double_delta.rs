//! Double delta: differences of differences, each as a sign and as many bits as the largest magnitude needs.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u8` | bits of a magnitude |
//! | `u64` | number of values |
//! | 1 or 2 values | the first ones |
//! | `u64` words | sign and magnitude of each further value, from the highest bit down |
//!
//! With at least as many bits as a value has apart from its sign the part follows as it is (raw).

use crate::FilterError;
use crate::stage::tail::Tail;
use crate::word::{Integer, Word, with_integer, with_unsigned};

const FILTER: &str = "double_delta";
/// Bits and number of values.
const HEADER: usize = 9;

fn corrupt(what: &'static str) -> FilterError {
    FilterError::Corrupt { filter: FILTER, what }
}

/// From so many bits on the part is raw.
fn raw_bits(integer: Integer) -> u8 {
    match integer.size() {
        1 => 7,
        2 => 15,
        4 => 31,
        _ => 63,
    }
}

pub(crate) fn decode(integer: Integer, input: &[u8], out: &mut [u8], tail: Tail) -> Result<(), FilterError> {
    let (header, input) = input.split_first_chunk::<HEADER>().ok_or_else(|| corrupt("the header is cut off"))?;
    let [bits, count @ ..] = *header;
    let size = integer.size();
    if bits >= raw_bits(integer) {
        // Whatever is left, as the length need not be a multiple of the value's.
        if input.len() != out.len() {
            return Err(corrupt("the raw values have another length than stated"));
        }
        out.copy_from_slice(input);
        return Ok(());
    }
    if u64::from_le_bytes(count) != (out.len() / size) as u64 {
        return Err(corrupt("the number of values is not that of the part"));
    }
    let out = tail.split(out, size, FILTER)?;
    with_unsigned!(size, T => unpack::<T, { size_of::<T>() }>(u32::from(bits) + 1, input, out))
}

/// `width` is that of a sign and a magnitude, at most 63.
fn unpack<T: Word<N>, const N: usize>(width: u32, input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
    let out = out.as_chunks_mut::<N>().0;
    let first = out.len().min(2);
    let (start, packed) = input.split_at_checked(first * N).ok_or_else(|| corrupt("the first values are cut off"))?;
    let (firsts, rest) = out.split_at_mut(first);
    firsts.as_flattened_mut().copy_from_slice(start);
    let [mut before, mut last] = match firsts {
        [a, b] => [T::load(*a), T::load(*b)],
        _ => return Ok(()),
    };
    // The number of values is that of memory in place, times 63 it can't overflow.
    let words = (rest.len() as u64 * u64::from(width)).div_ceil(64);
    let words = usize::try_from(words).ok().and_then(|words| packed.as_chunks::<8>().0.get(..words));
    let mut bits = Bits::new(words.ok_or_else(|| corrupt("the packed values are cut off"))?, width);
    for to in rest {
        let difference = bits.next();
        let value = T::truncate(difference).plus(last).plus(last).minus(before);
        (before, last) = (last, value);
        *to = value.store();
    }
    Ok(())
}

/// Signed magnitudes of `width` bits, from the highest bit of the first word down.
struct Bits<'a> {
    words: &'a [[u8; 8]],
    width: u32,
    position: usize,
}

impl<'a> Bits<'a> {
    fn new(words: &'a [[u8; 8]], width: u32) -> Self {
        Self { words, width, position: 0 }
    }

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        let (index, shift) = (self.position / 64, self.position % 64);
        self.position += self.width as usize;
        // What the first word doesn't have comes from the second; shifted in two steps, as 64 is too far for one.
        let high = (self.word(index) << shift) | ((self.word(index + 1) >> 1) >> (63 - shift));
        let magnitude = (high << 1) >> 1 >> (64 - self.width);
        let sign = 0u64.wrapping_sub(high >> 63);
        (magnitude ^ sign).wrapping_sub(sign)
    }
}

pub(crate) fn encode(integer: Integer, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    let count = (input.len() / integer.size()) as u64;
    let bits = with_integer!(integer, T => bits_needed::<T, { size_of::<T>() }>(input));
    // A packed part would lose bytes after the last whole value; the reference library does. Nor can it read its own
    // packed part of no values. Both are fine raw.
    let whole = count > 0 && input.len().is_multiple_of(integer.size());
    match bits {
        Some(bits) if whole && bits < raw_bits(integer) => {
            out.push(bits);
            out.extend_from_slice(&count.to_le_bytes());
            with_integer!(integer, T => pack::<T, { size_of::<T>() }>(u32::from(bits) + 1, input, out));
        }
        bits => {
            out.push(bits.unwrap_or(0).max(raw_bits(integer)));
            out.extend_from_slice(&count.to_le_bytes());
            out.extend_from_slice(input);
        }
    }
    Ok(())
}

/// The exact difference of two values, if 64 bits can hold it.
#[inline(always)]
fn difference<T: Word<N>, const N: usize>(value: T, before: T) -> Option<i64> {
    if N < 8 {
        return Some((value.widen() as i64).wrapping_sub(before.widen() as i64));
    }
    let difference = value.widen().wrapping_sub(before.widen()) as i64;
    ((difference >= 0) == (value >= before)).then_some(difference)
}

/// Bits of the largest magnitude of the first difference and all differences of differences. (Releases of the
/// reference library before 2.29 left out the first difference; it makes no difference to readers.) None if one of
/// them needs more than 64 bits with its sign.
fn bits_needed<T: Word<N>, const N: usize>(input: &[u8]) -> Option<u8> {
    let values = input.as_chunks::<N>().0;
    if values.len() <= 2 {
        return Some(0);
    }
    let mut before = T::load(values[0]);
    let mut last_difference = 0;
    // All magnitudes have no more bits than their union.
    let mut union = 0;
    for value in &values[1..] {
        let value = T::load(*value);
        let difference = difference(value, before)?;
        union |= difference.checked_sub(last_difference)?.unsigned_abs();
        (before, last_difference) = (value, difference);
    }
    u8::try_from((64 - union.leading_zeros()).max(1)).ok()
}

fn pack<T: Word<N>, const N: usize>(width: u32, input: &[u8], out: &mut Vec<u8>) {
    let values = input.as_chunks::<N>().0;
    let (firsts, rest) = values.split_at(values.len().min(2));
    out.extend_from_slice(firsts.as_flattened());
    let [mut before, mut last] = match firsts {
        [a, b] => [T::load(*a), T::load(*b)],
        _ => return,
    };
    let (mut word, mut free) = (0u64, 64);
    for value in rest {
        let value = T::load(*value);
        let magnitude = second_difference(value, last, before);
        let field = (u64::from(magnitude < 0) << (width - 1)) | magnitude.unsigned_abs();
        (before, last) = (last, value);
        if width <= free {
            free -= width;
            word |= field << free;
        } else {
            let over = width - free;
            out.extend_from_slice(&(word | (field >> over)).to_le_bytes());
            free = 64 - over;
            word = field << free;
        }
    }
    if free < 64 {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// `(value - last) - (last - before)`, known to fit.
#[inline(always)]
fn second_difference<T: Word<N>, const N: usize>(value: T, last: T, before: T) -> i64 {
    let (value, last, before) = (value.widen(), last.widen(), before.widen());
    value.wrapping_sub(last).wrapping_sub(last.wrapping_sub(before)) as i64
}
