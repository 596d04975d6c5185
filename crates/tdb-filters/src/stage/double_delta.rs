//! Double delta: differences of differences, packed as sign and magnitude at the width of the
//! largest magnitude.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u8` | bits of a magnitude |
//! | `u64` | number of values |
//! | 1 or 2 values | the first values |
//! | `u64` words | sign and magnitude of each further value, from the highest bit down |
//!
//! If a magnitude needs at least as many bits as a value without sign, the part follows unchanged
//! (raw).

use crate::FilterError;
use crate::stage::tail::Tail;
use crate::word::{Integer, Word, with_integer, with_unsigned};

const FILTER: &str = "double_delta";
/// Size of bits and number of values, in bytes.
const HEADER: usize = 9;
/// Number of fields that end at a word boundary for any width.
const GROUP: usize = 64;

fn corrupt(what: &'static str) -> FilterError {
    FilterError::Corrupt { filter: FILTER, what }
}

/// Returns the minimum number of bits at which a part is stored raw.
fn raw_bits(integer: Integer) -> u8 {
    match integer.size {
        1 => 7,
        2 => 15,
        4 => 31,
        _ => 63,
    }
}

pub(crate) fn decode(integer: Integer, input: &[u8], out: &mut [u8], tail: Tail) -> Result<(), FilterError> {
    let (header, input) = input.split_first_chunk::<HEADER>().ok_or_else(|| corrupt("the header is truncated"))?;
    let [bits, count @ ..] = *header;
    let size = integer.size;
    if bits >= raw_bits(integer) {
        // The raw values are all remaining bytes, whose length need not be a multiple of the value
        // size.
        if input.len() != out.len() {
            return Err(corrupt("the length of the raw values differs from that of the part"));
        }
        out.copy_from_slice(input);
        return Ok(());
    }
    if u64::from_le_bytes(count) != (out.len() / size) as u64 {
        return Err(corrupt("the number of values differs from that of the part"));
    }
    let out = tail.split(out, size, FILTER)?;
    with_unsigned!(size, T => unpack::<T, { size_of::<T>() }>(u32::from(bits) + 1, input, out))
}

/// Unpacks fields of `width` bits, sign included, at most 63.
fn unpack<T: Word<N>, const N: usize>(width: u32, input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
    let out = out.as_chunks_mut::<N>().0;
    let first = out.len().min(2);
    let (start, packed) = input.split_at_checked(first * N).ok_or_else(|| corrupt("the first values are truncated"))?;
    let (firsts, rest) = out.split_at_mut(first);
    firsts.as_flattened_mut().copy_from_slice(start);
    let [mut before, mut last] = match firsts {
        [a, b] => [T::load(*a), T::load(*b)],
        _ => return Ok(()),
    };
    // `rest` is in memory, so the product with at most 63 cannot overflow.
    let words = (rest.len() as u64 * u64::from(width)).div_ceil(64);
    let words = usize::try_from(words).ok().and_then(|words| packed.as_chunks::<8>().0.get(..words));
    let mut bits = Bits::new(words.ok_or_else(|| corrupt("the packed values are truncated"))?, width);
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
        // Bits missing in the first word come from the second word. Two shifts are needed, because
        // Rust does not allow a shift by 64 bits.
        let high = (self.word(index) << shift) | ((self.word(index + 1) >> 1) >> (63 - shift));
        let magnitude = (high << 1) >> 1 >> (64 - self.width);
        let sign = 0u64.wrapping_sub(high >> 63);
        (magnitude ^ sign).wrapping_sub(sign)
    }
}

pub(crate) fn encode(integer: Integer, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    let count = (input.len() / integer.size) as u64;
    let bits = with_integer!(integer, T => bits_needed::<T, { size_of::<T>() }>(input));
    // A packed part would lose bytes after the last whole value, as in the reference library. The
    // library also cannot read an empty packed part. Raw parts have neither problem.
    let whole = count > 0 && input.len().is_multiple_of(integer.size);
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

/// Returns the difference of two values, and a number that is negative if the difference overflows
/// 64 bits.
#[inline(always)]
fn difference<T: Word<N>, const N: usize>(value: T, before: T) -> (i64, i64) {
    let (value, before) = (value.widen(), before.widen());
    let difference = value.wrapping_sub(before);
    let wrong = match (N, T::SIGNED) {
        (8, true) => (value ^ before) & (value ^ difference),
        // The difference must be negative exactly if the subtraction borrowed.
        (8, false) => ((!value & before) | ((!value | before) & difference)) ^ difference,
        _ => 0,
    };
    (difference as i64, wrong as i64)
}

/// Returns the bits of the largest magnitude among the first difference and all second differences.
/// Returns `None` if a difference overflows 64 bits, sign included.
///
/// Releases of the reference library before 2.29 ignored the first difference, which does not
/// affect readers.
fn bits_needed<T: Word<N>, const N: usize>(input: &[u8]) -> Option<u8> {
    let values = input.as_chunks::<N>().0;
    let [first, second, rest @ ..] = values else { return Some(0) };
    if rest.is_empty() {
        return Some(0);
    }
    let (difference_of_first, mut wrong) = difference(T::load(*second), T::load(*first));
    // The union has as many bits as the largest magnitude. The loop vectorizes because it has no
    // early exit.
    let mut union = difference_of_first.unsigned_abs();
    for ((value, last), before) in rest.iter().zip(&values[1..]).zip(values) {
        let (value, last, before) = (T::load(*value), T::load(*last), T::load(*before));
        let ((new, new_wrong), (old, _)) = (difference(value, last), difference(last, before));
        let second = new.wrapping_sub(old);
        wrong |= new_wrong | ((new ^ old) & (new ^ second));
        union |= second.unsigned_abs();
    }
    let bits = (64 - union.leading_zeros()).max(1);
    if wrong < 0 { None } else { u8::try_from(bits).ok() }
}

fn pack<T: Word<N>, const N: usize>(width: u32, input: &[u8], out: &mut Vec<u8>) {
    let values = input.as_chunks::<N>().0;
    let (firsts, rest) = values.split_at(values.len().min(2));
    out.extend_from_slice(firsts.as_flattened());
    let start = out.len();
    out.resize(start + (rest.len() * width as usize).div_ceil(64) * 8, 0);
    let words = out[start..].as_chunks_mut::<8>().0;
    let mut fields = [0; GROUP];
    for (group, words) in words.chunks_mut(width as usize).enumerate() {
        let values = &values[GROUP * group..];
        let pairs = values.iter().skip(2).zip(values.iter().skip(1)).zip(values);
        let mut count = 0;
        for (field, ((value, last), before)) in fields.iter_mut().zip(pairs) {
            let magnitude = second_difference(T::load(*value), T::load(*last), T::load(*before));
            *field = (u64::from(magnitude < 0) << (width - 1)) | magnitude.unsigned_abs();
            count += 1;
        }
        pack_group(width, &fields[..count], words);
    }
}

/// Packs fields of `width` bits, from the highest bit of the first word down.
fn pack_group(width: u32, fields: &[u64], words: &mut [[u8; 8]]) {
    let mut words = words.iter_mut();
    let mut put = |word: u64| {
        if let Some(to) = words.next() {
            *to = word.to_le_bytes();
        }
    };
    let (mut word, mut free) = (0u64, 64);
    for field in fields {
        if width <= free {
            free -= width;
            word |= field << free;
        } else {
            let over = width - free;
            put(word | (field >> over));
            free = 64 - over;
            word = field << free;
        }
    }
    if free < 64 {
        put(word);
    }
}

/// Returns `(value - last) - (last - before)`, known not to overflow.
#[inline(always)]
fn second_difference<T: Word<N>, const N: usize>(value: T, last: T, before: T) -> i64 {
    let (value, last, before) = (value.widen(), last.widen(), before.widen());
    value.wrapping_sub(last).wrapping_sub(last.wrapping_sub(before)) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{bits_needed, pack};
    use crate::word::Word;

    /// The bits of the largest magnitude, and the packed words, computed value by value in 128
    /// bits.
    fn plain<T: Word<N> + Into<i128>, const N: usize>(values: &[T]) -> (Option<u8>, Vec<u8>) {
        let exact: Vec<i128> = values.iter().map(|value| (*value).into()).collect();
        let firsts = exact.windows(2).take(1).map(|pair| pair[1] - pair[0]);
        let seconds: Vec<i128> = exact.windows(3).map(|three| three[2] - 2 * three[1] + three[0]).collect();
        let fits = |number: i128| i64::try_from(number).is_ok();
        let all_fit =
            exact.windows(2).all(|pair| fits(pair[1] - pair[0])) && seconds.iter().all(|second| fits(*second));
        let bits = |number: i128| (128 - number.unsigned_abs().leading_zeros()) as u8;
        let needed = match values.len() {
            0..=2 => Some(0),
            _ => all_fit.then(|| firsts.chain(seconds.iter().copied()).map(bits).max().unwrap_or(0).max(1)),
        };
        let mut packed: Vec<u8> = values.iter().take(2).flat_map(|value| value.store()).collect();
        let Some(width) = needed.map(|bits| u32::from(bits) + 1).filter(|width| *width < 64) else {
            return (needed, packed);
        };
        let ones = seconds.iter().flat_map(|second| {
            let field = (i128::from(*second < 0) << (width - 1)) | second.abs();
            (0..width).rev().map(move |bit| field >> bit & 1)
        });
        let ones: Vec<i128> = ones.collect();
        for word in ones.chunks(64) {
            let word = word.iter().enumerate().fold(0_u64, |word, (place, bit)| word | (*bit as u64) << (63 - place));
            packed.extend_from_slice(&word.to_le_bytes());
        }
        (needed, packed)
    }

    fn compare<T: Word<N> + Into<i128>, const N: usize>(values: &[T]) -> Result<(), TestCaseError> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.store()).collect();
        let (needed, packed) = plain::<T, N>(values);
        prop_assert_eq!(bits_needed::<T, N>(&bytes), needed);
        if let Some(width) = needed.map(|bits| u32::from(bits) + 1).filter(|width| *width < 64) {
            let mut out = Vec::new();
            pack::<T, N>(width, &bytes, &mut out);
            prop_assert_eq!(out, packed);
        }
        Ok(())
    }

    /// Numbers close to each other, close to the ends of the type, or arbitrary.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let near = (any::<u64>(), 0..64_u32, prop::collection::vec(any::<u64>(), 0..200));
        near.prop_map(|(start, shift, steps)| steps.iter().map(|step| start.wrapping_add(step >> shift)).collect())
    }

    proptest! {
        #[test]
        fn packed_values_match_the_plain_computation(numbers in numbers()) {
            compare::<u64, 8>(&numbers)?;
            compare::<i64, 8>(&numbers.iter().map(|number| number.cast_signed()).collect::<Vec<_>>())?;
            compare::<u16, 2>(&numbers.iter().map(|number| *number as u16).collect::<Vec<_>>())?;
            compare::<i32, 4>(&numbers.iter().map(|number| *number as i32).collect::<Vec<_>>())?;
        }
    }
}
