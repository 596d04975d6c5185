//! Bit-width reduction, which stores values relative to the minimum of a window, in fewer bytes.
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | unreduced length of all values |
//! | `u32` | number of windows |
//! | per window: a value | minimum |
//! | `u8` | bits of a stored value |
//! | `u32` | unreduced length of the window |
//!
//! A window is stored unchanged (raw) if the reduction gains no bytes, or if the window does not
//! consist of whole values.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, finish, put_u32, split, split_mut};
use crate::stage::windows::windows;
use crate::word::{Integer, Word, with_integer};

const FILTER: &str = "bit_width_reduction";

fn corrupt(what: &'static str) -> FilterError {
    FilterError::Corrupt { filter: FILTER, what }
}

pub(crate) fn decode(
    integer: Integer,
    meta: &mut ByteReader<'_>,
    data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    with_integer!(integer, T => decode_windows::<T, { size_of::<T>() }>(meta, data, sink))
}

fn decode_windows<T: Word<N>, const N: usize>(
    meta: &mut ByteReader<'_>,
    mut data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    let total = meta.u32("bytes before bit-width reduction")?;
    let count = meta.u32("number of windows")?;
    let mut headers = meta.sub("windows", u64::from(count) * (N as u64 + 5))?;
    let mut out = sink.take(u64::from(total))?;
    while headers.remaining() > 0 {
        let minimum = value::<T, N>(&mut headers, "minimum of the window")?;
        let bits = headers.u8("bits of the window")?;
        let bytes = u64::from(headers.u32("bytes of the window")?);
        let out = split_mut(&mut out, FILTER, bytes)?;
        // Both tests are needed, because the bits of a window with a partial value are meaningless
        // and may be low.
        if usize::from(bits) >= 8 * N || !out.len().is_multiple_of(N) {
            out.copy_from_slice(split(&mut data, FILTER, bytes)?);
        } else {
            let stored = split(&mut data, FILTER, bytes / N as u64 * u64::from(bits / 8))?;
            widen(bits, minimum, stored, out)?;
        }
    }
    finish(data, FILTER)?;
    if out.is_empty() { Ok(()) } else { Err(corrupt("the windows end before the data")) }
}

/// Reads a value from `headers`.
pub(super) fn value<T: Word<N>, const N: usize>(
    headers: &mut ByteReader<'_>,
    field: &'static str,
) -> Result<T, FilterError> {
    let bytes = headers.bytes(field, N as u64)?;
    // `bytes` returns exactly `N` bytes.
    Ok(bytes.first_chunk().map_or_else(T::default, |bytes| T::load(*bytes)))
}

fn widen<T: Word<N>, const N: usize>(bits: u8, minimum: T, stored: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
    match (bits, T::SIGNED) {
        (8, false) => widen_from::<u8, 1, T, N>(minimum, stored, out),
        (8, true) => widen_from::<i8, 1, T, N>(minimum, stored, out),
        (16, false) => widen_from::<u16, 2, T, N>(minimum, stored, out),
        (16, true) => widen_from::<i16, 2, T, N>(minimum, stored, out),
        (32, false) => widen_from::<u32, 4, T, N>(minimum, stored, out),
        (32, true) => widen_from::<i32, 4, T, N>(minimum, stored, out),
        _ => return Err(corrupt("invalid bits of a window, expected 8, 16, 32 or 64")),
    }
    Ok(())
}

fn widen_from<S: Word<M>, const M: usize, T: Word<N>, const N: usize>(minimum: T, stored: &[u8], out: &mut [u8]) {
    for (to, from) in out.as_chunks_mut::<N>().0.iter_mut().zip(stored.as_chunks::<M>().0) {
        *to = T::truncate(S::load(*from).widen()).plus(minimum).store();
    }
}

pub(crate) fn encode(
    integer: Integer,
    max_window: u32,
    meta: &mut Metadata<'_>,
    data: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FilterError> {
    let windows = windows(data, max_window, integer.size, FILTER)?;
    meta.add(|header| {
        put_u32(header, "bytes before bit-width reduction", data.map_or(0, <[u8]>::len))?;
        put_u32(header, "number of windows", windows.len())?;
        for window in windows {
            with_integer!(integer, T => encode_window::<T, { size_of::<T>() }>(window, header, out)?);
        }
        Ok(())
    })
}

fn encode_window<T: Word<N>, const N: usize>(
    window: &[u8],
    header: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), FilterError> {
    let (values, rest) = window.as_chunks::<N>();
    let (minimum, bits) = reduce::<T, N>(values);
    header.extend_from_slice(&minimum.store());
    header.push(bits);
    put_u32(header, "bytes of the window", window.len())?;
    match bits {
        8 if N > 1 && rest.is_empty() => narrow::<u8, 1, T, N>(minimum, values, out),
        16 if N > 2 && rest.is_empty() => narrow::<u16, 2, T, N>(minimum, values, out),
        32 if N > 4 && rest.is_empty() => narrow::<u32, 4, T, N>(minimum, values, out),
        _ => out.extend_from_slice(window),
    }
    Ok(())
}

/// Returns the minimum of a window, and the bits needed for the range plus one.
///
/// Returns 0 and all bits of the type for an empty window, and for a range that overflows the type.
/// The minimum is then meaningless. The reference library stores uninitialized memory there.
fn reduce<T: Word<N>, const N: usize>(values: &[[u8; N]]) -> (T, u8) {
    let all = 8 * N as u8;
    let mut values = values.iter().map(|bytes| T::load(*bytes));
    let Some(first) = values.next() else { return (T::default(), all) };
    let (low, high) = values.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
    let Some(range) = high.checked_minus(low) else { return (T::default(), all) };
    let needed = range.plus(T::truncate(1));
    if needed < range {
        return (T::default(), all);
    }
    // Signed values are stored with a sign bit.
    let unsigned_bits = 64 - needed.widen().leading_zeros() + u32::from(T::SIGNED);
    let bits = match unsigned_bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => 64,
    };
    (low, bits)
}

fn narrow<S: Word<M>, const M: usize, T: Word<N>, const N: usize>(minimum: T, values: &[[u8; N]], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + values.len() * M, 0);
    for (to, value) in out[start..].as_chunks_mut::<M>().0.iter_mut().zip(values) {
        *to = S::truncate(T::load(*value).minus(minimum).widen()).store();
    }
}
