//! Positive delta: the difference of each value to the previous, for ascending values in each
//! window.
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | number of windows |
//! | per window: a value | the first value |
//! | `u32` | length of the window |
//!
//! A window with a partial value is stored unchanged.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, finish, put_u32, split, split_mut};
use crate::stage::bit_width_reduction::value;
use crate::stage::delta::sum;
use crate::stage::windows::windows;
use crate::word::{Integer, Word, with_integer, with_unsigned};

const FILTER: &str = "positive_delta";

pub(crate) fn decode(
    integer: Integer,
    meta: &mut ByteReader<'_>,
    data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    with_unsigned!(integer.size, T => decode_windows::<T, { size_of::<T>() }>(meta, data, sink))
}

fn decode_windows<T: Word<N>, const N: usize>(
    meta: &mut ByteReader<'_>,
    mut data: &[u8],
    sink: &mut Sink<'_>,
) -> Result<(), FilterError> {
    let count = meta.u32("number of windows")?;
    let mut headers = meta.sub("windows", u64::from(count) * (N as u64 + 4))?;
    let mut out = sink.take(data.len() as u64)?;
    while headers.remaining() > 0 {
        let first = value::<T, N>(&mut headers, "first value of the window")?;
        let bytes = u64::from(headers.u32("bytes of the window")?);
        let out = split_mut(&mut out, FILTER, bytes)?;
        let stored = split(&mut data, FILTER, bytes)?;
        if stored.len().is_multiple_of(N) {
            sum(first, stored, out);
        } else {
            out.copy_from_slice(stored);
        }
    }
    finish(data, FILTER)
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
        put_u32(header, "number of windows", windows.len())?;
        for window in windows {
            let before = out.len() / integer.size;
            with_integer!(integer, T => encode_window::<T, { size_of::<T>() }>(window, header, out))
                .map_err(|index| FilterError::NotAscending { filter: FILTER, index: (before + index) as u64 })?;
            put_u32(header, "bytes of the window", window.len())?;
        }
        Ok(())
    })
}

/// Appends the differences. The error is the index of the first value that is less than the
/// previous value.
fn encode_window<T: Word<N>, const N: usize>(
    window: &[u8],
    header: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), usize> {
    let (values, rest) = window.as_chunks::<N>();
    let Some((first, followers)) = values.split_first() else {
        header.extend_from_slice(&[0; N]);
        out.extend_from_slice(window);
        return Ok(());
    };
    header.extend_from_slice(first);
    if !rest.is_empty() {
        out.extend_from_slice(window);
        return Ok(());
    }
    let pairs = || followers.iter().zip(values).map(|(value, before)| (T::load(*value), T::load(*before)));
    // Checks all values first, because most windows are valid. This loop vectorizes because it has
    // no early exit.
    if pairs().fold(false, |falls, (value, before)| falls | (value < before)) {
        return Err(1 + pairs().take_while(|(value, before)| value >= before).count());
    }
    out.extend_from_slice(&[0; N]);
    let start = out.len();
    out.resize(start + followers.len() * N, 0);
    for (to, (value, before)) in out[start..].as_chunks_mut::<N>().0.iter_mut().zip(pairs()) {
        *to = value.minus(before).store();
    }
    Ok(())
}
