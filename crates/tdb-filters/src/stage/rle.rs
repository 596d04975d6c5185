//! Run-length encoding of cells of fixed size: each run is the cell and its count as big-endian
//! `u16`.
//!
//! The unit is the tile's cell, regardless of the incoming datatype.

use crate::FilterError;

const FILTER: &str = "rle";
/// Size of a run length, in bytes.
const LENGTH: usize = 2;

pub(crate) fn decode(unit: usize, input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
    match unit {
        1 => decode_runs(input.as_chunks::<{ 1 + LENGTH }>(), out, fill::<1>),
        2 => decode_runs(input.as_chunks::<{ 2 + LENGTH }>(), out, fill::<2>),
        4 => decode_runs(input.as_chunks::<{ 4 + LENGTH }>(), out, fill::<4>),
        8 => decode_runs(input.as_chunks::<{ 8 + LENGTH }>(), out, fill::<8>),
        _ => decode_wide(unit, input, out),
    }
}

fn corrupt(what: &'static str) -> FilterError {
    FilterError::Corrupt { filter: FILTER, what }
}

/// Decodes runs of cells of constant size. `RUN` is the size of a cell and a run length.
fn decode_runs<const RUN: usize>(
    (runs, rest): (&[[u8; RUN]], &[u8]),
    mut out: &mut [u8],
    fill: impl Fn(&mut [u8], &[u8]),
) -> Result<(), FilterError> {
    if !rest.is_empty() {
        return Err(corrupt("the last run is truncated"));
    }
    for run in runs {
        let (cell, length) = run.split_at(RUN - LENGTH);
        out = decode_run(cell, length, out, &fill)?;
    }
    if out.is_empty() { Ok(()) } else { Err(corrupt("the runs end before the data")) }
}

fn decode_wide(unit: usize, input: &[u8], mut out: &mut [u8]) -> Result<(), FilterError> {
    let runs = input.chunks_exact(unit.saturating_add(LENGTH));
    if !runs.remainder().is_empty() {
        return Err(corrupt("the last run is truncated"));
    }
    for run in runs {
        let (cell, length) = run.split_at(unit);
        let fill = |to: &mut [u8], cell: &[u8]| to.chunks_exact_mut(unit).for_each(|to| to.copy_from_slice(cell));
        out = decode_run(cell, length, out, &fill)?;
    }
    if out.is_empty() { Ok(()) } else { Err(corrupt("the runs end before the data")) }
}

#[inline(always)]
fn decode_run<'a>(
    cell: &[u8],
    length: &[u8],
    out: &'a mut [u8],
    fill: &impl Fn(&mut [u8], &[u8]),
) -> Result<&'a mut [u8], FilterError> {
    let length = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let bytes = length.checked_mul(cell.len());
    let (run, rest) = bytes
        .and_then(|bytes| out.split_at_mut_checked(bytes))
        .ok_or_else(|| corrupt("the runs continue after the data"))?;
    fill(run, cell);
    Ok(rest)
}

#[inline(always)]
fn fill<const N: usize>(to: &mut [u8], cell: &[u8]) {
    if let Some(cell) = cell.first_chunk::<N>() {
        to.as_chunks_mut::<N>().0.fill(*cell);
    }
}

pub(crate) fn encode(unit: usize, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    if unit == 0 || !input.len().is_multiple_of(unit) {
        return Err(FilterError::PartialValue { filter: FILTER, len: input.len() as u64, unit: unit as u64 });
    }
    match unit {
        1 => encode_cells(input.as_chunks::<1>().0, out),
        2 => encode_cells(input.as_chunks::<2>().0, out),
        4 => encode_cells(input.as_chunks::<4>().0, out),
        8 => encode_cells(input.as_chunks::<8>().0, out),
        _ => encode_wide(unit, input, out),
    }
    Ok(())
}

fn encode_cells<const N: usize>(mut cells: &[[u8; N]], out: &mut Vec<u8>) {
    let start = out.len();
    // The maximum, if no two adjacent cells are equal.
    out.resize(start + cells.len() * (N + LENGTH), 0);
    let mut runs = 0;
    let mut room = out[start..].chunks_exact_mut(N + LENGTH);
    while let ([cell, rest @ ..], Some(run)) = (cells, room.next()) {
        let length = match rest.first() {
            Some(next) if next == cell => run_length(cell, &cells[..cells.len().min(usize::from(u16::MAX))]),
            _ => 1,
        };
        let (to, count) = run.split_at_mut(N);
        to.copy_from_slice(cell);
        // Runs are split at the maximum `u16`.
        count.copy_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        cells = &cells[length..];
        runs += 1;
    }
    out.truncate(start + runs * (N + LENGTH));
}

/// Returns the number of leading `cells` equal to `cell`. Compares entire blocks, which the
/// compiler vectorizes.
fn run_length<const N: usize>(cell: &[u8; N], cells: &[[u8; N]]) -> usize {
    const BLOCK: usize = 32;
    let (blocks, _) = cells.as_chunks::<BLOCK>();
    let equal = |block: &&[[u8; N]; BLOCK]| block.iter().fold(true, |equal, other| equal & (other == cell));
    // Runs of unsorted data are mostly short, so the first few cells are checked before entire
    // blocks.
    let start = match cells.iter().take(8).position(|other| other != cell) {
        Some(length) => return length,
        None => blocks.iter().take_while(equal).count() * BLOCK,
    };
    start + cells[start..].iter().take_while(|&other| other == cell).count()
}

fn encode_wide(unit: usize, input: &[u8], out: &mut Vec<u8>) {
    let mut cells = input.chunks_exact(unit).peekable();
    while let Some(cell) = cells.next() {
        let mut length = 1;
        while length < usize::from(u16::MAX) && cells.next_if(|&other| other == cell).is_some() {
            length += 1;
        }
        push_run(cell, length, out);
    }
}

fn push_run(cell: &[u8], length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(cell);
    // Runs are split at the maximum `u16`.
    out.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{encode, encode_wide};

    proptest! {
        #[test]
        fn runs_of_any_width_match_the_general_encoder(
            runs in prop::collection::vec((0..3_u8, prop_oneof![1..4_usize, 1..300_usize, 65_000..66_000_usize]), 0..6),
            unit in prop::sample::select(vec![1_usize, 2, 4, 8]),
        ) {
            let cells: Vec<u8> = runs.iter().flat_map(|(byte, length)| vec![*byte; length * unit]).collect();
            let (mut out, mut plain) = (vec![9], vec![9]);
            encode(unit, &cells, &mut out)?;
            encode_wide(unit, &cells, &mut plain);
            prop_assert_eq!(out, plain);
        }
    }
}
