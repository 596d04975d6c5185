//! Iteration over values in blocks that fit into the cache.

use tdb_types::Cells;

use crate::kind::ValueKind;
use crate::number::{BLOCK, Number};

/// Calls `each` with blocks of the non-null values of the picked cells, in order. Returns the
/// number of values and the number of nulls.
///
/// `picked` has indices in any order, or `None` for all cells. `null` is a number that represents
/// null, if any.
pub(crate) fn for_each_block<N: Number>(
    cells: &Cells<'_>,
    picked: Option<&[u32]>,
    null: Option<N>,
    mut each: impl FnMut(&[N]),
) -> (u64, u64) {
    let bytes = cells.values();
    let mut block = [N::default(); BLOCK];
    let (mut values, mut seen) = (0, 0);
    let mut give = |block: &mut [N], cells: usize| {
        let block = match null {
            Some(null) => without(block, null),
            None => block,
        };
        (values, seen) = (values + block.len() as u64, seen + cells as u64);
        if !block.is_empty() {
            each(block);
        }
    };
    match (picked, cells.validity()) {
        (None, None) => {
            for part in bytes.chunks(BLOCK * size_of::<N>()) {
                let len = fill(&mut block, N::numbers(part));
                give(&mut block[..len], len);
            }
        }
        (None, Some(validity)) => {
            let mut valid = [0; BLOCK];
            for (number, part) in bytes.chunks(BLOCK * size_of::<N>()).enumerate() {
                let count = part.len() / size_of::<N>();
                let start = number * BLOCK;
                validity.slice(start..start + count).write_bytes(&mut valid[..count]);
                let len = fill_valid(&mut block, N::numbers(part), &valid[..count]);
                give(&mut block[..len], count);
            }
        }
        (Some(picked), validity) => {
            for part in picked.chunks(BLOCK) {
                let numbers = part.iter().map(|cell| N::at(bytes, *cell as usize));
                let len = match validity {
                    None => fill(&mut block, numbers),
                    Some(validity) => {
                        let mut valid = [0; BLOCK];
                        validity.write_bytes_of(part.iter().map(|cell| *cell as usize), &mut valid);
                        fill_valid(&mut block, numbers, &valid[..part.len()])
                    }
                };
                give(&mut block[..len], part.len());
            }
        }
    }
    (values, seen - values)
}

fn fill<N: Number>(block: &mut [N; BLOCK], numbers: impl Iterator<Item = N>) -> usize {
    let mut len = 0;
    for (to, number) in block.iter_mut().zip(numbers) {
        *to = number;
        len += 1;
    }
    len
}

/// Moves the numbers that differ from `null` to the front of a block, and returns this part.
fn without<N: Number>(block: &mut [N], null: N) -> &mut [N] {
    let mut len = 0;
    for index in 0..block.len() {
        block[len] = block[index];
        len += usize::from(block[index] != null);
    }
    &mut block[..len]
}

/// Copies the valid numbers without branches, because a processor predicts the positions of nulls
/// badly.
fn fill_valid<N: Number>(block: &mut [N; BLOCK], numbers: impl Iterator<Item = N>, valid: &[u8]) -> usize {
    let mut len = 0;
    for (number, valid) in numbers.zip(valid) {
        block[len % BLOCK] = number;
        len += usize::from(*valid != 0);
    }
    len
}

/// Calls `each` with the non-null picked cells, or with all non-null cells. Returns the number of
/// values and the number of nulls.
pub(crate) fn for_each_cell<'a>(
    cells: &Cells<'a>,
    picked: Option<&[u32]>,
    mut each: impl FnMut(&'a [u8]),
) -> (u64, u64) {
    let (mut values, mut nulls) = (0, 0);
    let mut give = |cell: usize| match cells.is_valid(cell) {
        true => {
            values += 1;
            each(cells.cell(cell));
        }
        false => nulls += 1,
    };
    match picked {
        None => (0..cells.len()).for_each(give),
        Some(picked) => picked.iter().for_each(|cell| give(*cell as usize)),
    }
    (values, nulls)
}

/// Returns the number of nulls among the picked cells, or among all cells.
pub(crate) fn null_count(kind: ValueKind, cells: &Cells<'_>, picked: Option<&[u32]>) -> u64 {
    if kind == ValueKind::Time {
        return for_each_block::<i64>(cells, picked, kind.null(), |_| {}).1;
    }
    let Some(validity) = cells.validity() else { return 0 };
    match picked {
        None => validity.null_count(cells.len()) as u64,
        Some(picked) => picked.iter().filter(|cell| !validity.is_valid(**cell as usize)).count() as u64,
    }
}
