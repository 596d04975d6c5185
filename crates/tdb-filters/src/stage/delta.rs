//! Delta: the `u64` number of values, the first value, and the difference of each further value to
//! the previous value. Differences wrap around.

use crate::FilterError;
use crate::stage::tail::Tail;
use crate::word::{Integer, Word, with_unsigned};

const FILTER: &str = "delta";

pub(crate) fn decode(integer: Integer, input: &[u8], out: &mut [u8], tail: Tail) -> Result<(), FilterError> {
    let corrupt = |what| FilterError::Corrupt { filter: FILTER, what };
    let (count, input) = input.split_first_chunk::<8>().ok_or_else(|| corrupt("the number of values is truncated"))?;
    let size = integer.size;
    if u64::from_le_bytes(*count) != (out.len() / size) as u64 {
        return Err(corrupt("the number of values differs from that of the part"));
    }
    let out = tail.split(out, size, FILTER)?;
    // With a count of 0, the reference library writes garbage here.
    let input = input.get(..out.len()).ok_or_else(|| corrupt("the values are truncated"))?;
    with_unsigned!(size, T => sum::<T, { size_of::<T>() }>(0, input, out));
    Ok(())
}

/// Writes the running sums of `input`, starting from `value`.
pub(super) fn sum<T: Word<N>, const N: usize>(mut value: T, input: &[u8], out: &mut [u8]) {
    for (to, from) in out.as_chunks_mut::<N>().0.iter_mut().zip(input.as_chunks::<N>().0) {
        value = value.plus(T::load(*from));
        *to = value.store();
    }
}

pub(crate) fn encode(integer: Integer, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    let size = integer.size;
    if !input.len().is_multiple_of(size) {
        // The reference library loses the remaining bytes.
        return Err(FilterError::PartialValue { filter: FILTER, len: input.len() as u64, unit: size as u64 });
    }
    out.extend_from_slice(&((input.len() / size) as u64).to_le_bytes());
    let start = out.len();
    out.resize(start + input.len(), 0);
    with_unsigned!(size, T => differences::<T, { size_of::<T>() }>(input, &mut out[start..]));
    Ok(())
}

fn differences<T: Word<N>, const N: usize>(input: &[u8], out: &mut [u8]) {
    let values = input.as_chunks::<N>().0;
    let (Some(first), (Some(first_out), out)) = (values.first(), split_first::<N>(out)) else { return };
    *first_out = *first;
    for ((to, value), before) in out.iter_mut().zip(&values[1..]).zip(values) {
        *to = T::load(*value).minus(T::load(*before)).store();
    }
}

fn split_first<const N: usize>(out: &mut [u8]) -> (Option<&mut [u8; N]>, &mut [[u8; N]]) {
    match out.as_chunks_mut::<N>().0.split_first_mut() {
        Some((first, rest)) => (Some(first), rest),
        None => (None, &mut []),
    }
}
