//! Tests of views in both layouts, entire and sliced, with valid and invalid offsets.

use super::*;

/// Three values of two bytes.
const VALUES: [u8; 6] = [1, 0, 2, 0, 3, 0];

#[test]
fn both_layouts_give_the_same_cells() {
    let tile = Cells::var(Offsets::in_bytes(&[0, 2, 2, 6]), &VALUES).with_validity(Validity::Bytes(&[9, 1, 0]));
    let column = Cells::var(Offsets::in_values(&[0, 1, 1, 3], 2), &VALUES).with_validity(Validity::bits(&[0b011]));
    assert_eq!(tile.var_cells().collect::<Vec<_>>(), column.var_cells().collect::<Vec<_>>());
    for cell in 0..4 {
        assert_eq!(tile.is_valid(cell), column.is_valid(cell), "{cell}");
        assert_eq!(tile.cell(cell), column.cell(cell), "{cell}");
        let ranges = [tile, column].map(|cells| cells.offsets().and_then(|offsets| offsets.bytes_of(cell)));
        assert_eq!(ranges[0], ranges[1], "{cell}");
    }
    for cells in [tile, column] {
        let mut mask = [true; 4];
        cells.validity().into_iter().for_each(|validity| validity.zip_mask(&mut mask, |entry, valid| *entry = valid));
        assert_eq!(mask, [true, true, false, false]);
        assert_eq!((cells.len(), cells.size(), cells.bytes()), (3, None, &VALUES[..]));
    }
}

#[test]
fn invalid_offsets_give_empty_cells() {
    let cells = Cells::var(Offsets::in_values(&[0, 5, 2, u64::MAX, 1], 8), &[0; 16]);
    assert_eq!(cells.var_cells().collect::<Vec<_>>(), [&[0u8; 0][..]; 4]);
    assert_eq!((0..5).map(|cell| cells.cell(cell).len()).sum::<usize>(), 0);
    assert_eq!(cells.offsets().and_then(|offsets| offsets.bytes_of(1)), None);
    assert_eq!(cells.offsets().and_then(|offsets| offsets.bytes_of(usize::MAX)), None);
    assert_eq!(cells.bytes(), [0; 8]);
    assert_eq!(cells.slice(1..3).bytes(), [0; 0]);
    assert_eq!(cells.offsets().map(|offsets| offsets.moved_to(1).len()), Some(5));
    let fixed = Cells::fixed(&[1, 2, 3], 0);
    assert_eq!((fixed.var_cells().count(), fixed.fixed_cells().count()), (0, 3));
    assert_eq!((fixed.cell(usize::MAX), cells.fixed_cells().count()), (&[][..], 0));
}

#[test]
fn a_slice_equals_its_range_of_cells() {
    let lens = [3u64, 0, 1, 4, 2, 2, 0, 5, 1, 0, 3, 2, 2, 1, 0, 6, 1, 1, 2, 3];
    let mut offsets = vec![0];
    offsets.extend(lens.iter().scan(0, |end, len| {
        *end += len;
        Some(*end)
    }));
    let values: Vec<u8> = (0..2 * offsets[lens.len()]).map(|byte| byte as u8).collect();
    let in_bytes: Vec<u64> = offsets.iter().map(|offset| 2 * offset).collect();
    let bits = [0b1010_0111, 0b0001_1010, 0b1010];
    let bytes: Vec<u8> = (0..lens.len()).map(|cell| bits[cell / 8] >> (cell % 8) & 1).collect();
    let column = Cells::var(Offsets::in_values(&offsets, 2), &values).with_validity(Validity::bits(&bits));
    let tile = Cells::var(Offsets::in_bytes(&in_bytes), &values).with_validity(Validity::Bytes(&bytes));
    let fixed = Cells::fixed(&values[..3 * lens.len()], 3).with_validity(Validity::bits(&bits));
    for cells in [column, tile, fixed] {
        for start in 0..=cells.len() {
            for end in start..=cells.len() {
                check_slice(cells, start..end);
            }
        }
        let in_tile = cells.offsets().and_then(|offsets| offsets.as_in_tile());
        assert_eq!(
            in_tile,
            cells.offsets().and(matches!(cells.validity(), Some(Validity::Bytes(_))).then_some(&in_bytes[..]))
        );
        assert!(cells.slice(3..7).offsets().is_none_or(|offsets| offsets.as_in_tile().is_none()));
        assert!(cells.slice(3..cells.len() + 1).is_empty() && cells.slice(usize::MAX..usize::MAX).is_empty());
    }
}

fn check_slice(cells: Cells<'_>, range: Range<usize>) {
    let some = cells.slice(range.clone());
    assert_eq!(some.len(), range.len(), "{range:?}");
    let expected: Vec<(&[u8], bool)> = range.clone().map(|cell| (cells.cell(cell), cells.is_valid(cell))).collect();
    let found: Vec<_> = (0..some.len()).map(|cell| (some.cell(cell), some.is_valid(cell))).collect();
    assert_eq!(found, expected, "{range:?}");
    // The iterators yield the same cells as `cell`.
    let all: Vec<&[u8]> = if some.size().is_some() { some.fixed_cells().collect() } else { some.var_cells().collect() };
    assert_eq!(all, expected.iter().map(|(cell, _)| *cell).collect::<Vec<_>>(), "{range:?}");
    assert_eq!(some.bytes(), all.concat(), "{range:?}");
    let validity = some.validity().expect("the full view has a validity");
    let (mut written, mut picked) = (vec![7; some.len()], vec![7; some.len()]);
    validity.write_bytes(&mut written);
    validity.write_bytes_of((0..some.len()).rev(), &mut picked);
    picked.reverse();
    let bytes: Vec<u8> = expected.iter().map(|(_, valid)| u8::from(*valid)).collect();
    assert_eq!((&written, &picked), (&bytes, &bytes), "{range:?}");
    assert_eq!(validity.null_count(some.len()), bytes.iter().filter(|byte| **byte == 0).count(), "{range:?}");
    // A slice of a slice equals a slice of the full view.
    if some.len() > 2 {
        let inner = some.slice(1..some.len() - 1);
        assert_eq!((inner.cell(0), inner.is_valid(0)), expected[1], "{range:?}");
        let mut mask = vec![true; inner.len()];
        inner.validity().into_iter().for_each(|validity| validity.zip_mask(&mut mask, |entry, valid| *entry = valid));
        assert!(mask.iter().zip(&expected[1..]).all(|(entry, (_, valid))| entry == valid), "{range:?}");
    }
    // Moving the cells keeps all lengths.
    if let Some(offsets) = some.offsets() {
        let moved: Vec<u64> = offsets.moved_to(100).collect();
        let lens: Vec<u64> = moved.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((moved[0], lens), (100, all.iter().map(|cell| cell.len() as u64).collect()), "{range:?}");
    }
}
