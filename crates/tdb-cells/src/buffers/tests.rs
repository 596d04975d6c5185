//! Compares bulk operations on cells with a cell-by-cell model.

use proptest::prelude::*;

use super::*;

/// The values of each cell, and `true` if valid.
type Model = Vec<(Vec<u8>, bool)>;

/// Cells in a caller's column. The first `before` cells are skipped.
#[derive(Debug)]
struct Given {
    values: Vec<u8>,
    offsets: Vec<u64>,
    bits: Vec<u8>,
    before: usize,
    model: Model,
}

impl Given {
    /// Creates variable-length cells with values of `size` bytes, or fixed-size cells of `size`
    /// bytes.
    fn new(cells: &Model, before: usize, size: usize, is_var: bool) -> Self {
        let whole = |cell: &Vec<u8>| match is_var {
            true => cell.iter().flat_map(|byte| vec![*byte; size]).collect(),
            false => vec![cell.first().copied().unwrap_or(0); size],
        };
        let cells: Model = cells.iter().map(|(cell, valid)| (whole(cell), *valid)).collect();
        let mut given = Self {
            values: Vec::new(),
            offsets: vec![0],
            bits: vec![0; cells.len() / 8 + 1],
            before,
            model: Vec::new(),
        };
        for (number, (cell, valid)) in cells.iter().enumerate() {
            given.values.extend_from_slice(cell);
            given.offsets.push((given.values.len() / size) as u64);
            given.bits[number / 8] |= u8::from(*valid) << (number % 8);
        }
        given.before = before.min(cells.len());
        given.model = cells[given.before..].to_vec();
        given
    }

    fn cells(&self, size: usize, is_var: bool, nullable: bool) -> Cells<'_> {
        let cells = match is_var {
            true => Cells::var(Offsets::in_values(&self.offsets, size), &self.values),
            false => Cells::fixed(&self.values, size),
        };
        let all = cells.with_validity(nullable.then(|| Validity::bits(&self.bits)));
        all.slice(self.before..all.len())
    }
}

fn check(cells: &Cells<'_>, model: &Model, nullable: bool) {
    let found: Model = (0..cells.len()).map(|cell| (cells.cell(cell).to_vec(), cells.is_valid(cell))).collect();
    let expected: Model = model.iter().map(|(cell, valid)| (cell.clone(), *valid || !nullable)).collect();
    assert_eq!(found, expected);
    let bytes: Vec<u8> = expected.iter().flat_map(|(cell, _)| cell.iter().copied()).collect();
    assert_eq!(cells.bytes(), bytes);
}

fn some_cells() -> impl Strategy<Value = Model> {
    prop::collection::vec((prop::collection::vec(any::<u8>(), 0..4), any::<bool>()), 0..30)
}

proptest! {
    #[test]
    fn pushed_cells_equal_model(
        batches in prop::collection::vec((some_cells(), 0..5_usize, any::<bool>()), 1..5),
        (size, is_var, nullable) in (prop::sample::select(vec![1_usize, 2, 3, 4, 8, 12]), any::<bool>(), any::<bool>()),
        (back, front) in (0..10_usize, 0..20_usize),
    ) {
        // Starts with reused memory.
        let mut buffers = CellBuffers::default();
        buffers.push(&Cells::var(Offsets::in_bytes(&[0, 7]), b"garbage"), true);
        buffers.clear();
        let mut model = Model::new();
        for (cells, before, whole) in &batches {
            let given = Given::new(cells, *before, size, is_var);
            let cells = given.cells(size, is_var, nullable);
            if *whole {
                buffers.push(&cells, nullable);
                model.extend(given.model.iter().cloned());
            } else {
                let some: Vec<u32> = (0..cells.len() as u32).rev().filter(|cell| cell % 3 != 1).collect();
                buffers.push_some(&cells, &some, nullable);
                model.extend(some.iter().map(|cell| given.model[*cell as usize].clone()));
            }
            // Also checks the tile layout, with and without conversion.
            let mut memory = CellBuffers::default();
            let tile = in_tile_layout(&cells, nullable, &mut memory);
            check(&tile, &given.model, nullable);
            assert!(matches!(tile.validity(), Some(Validity::Bytes(_))) == nullable);
            assert_eq!(tile.offsets().is_some(), is_var);
            assert!(tile.offsets().is_none_or(|offsets| offsets.as_in_tile().is_some() && tile.values() == tile.bytes()));
        }
        check(&buffers.cells(size), &model, nullable);
        let left = model.len() - back.min(model.len());
        buffers.truncate(left, size);
        model.truncate(left);
        check(&buffers.cells(size), &model, nullable);
        let front = front.min(left);
        buffers.drop_front(front, size);
        model.drain(..front);
        check(&buffers.cells(size), &model, nullable);
    }
}

#[test]
fn nullable_fields_get_missing_validity() {
    let mut buffers = CellBuffers::default();
    buffers.push(&Cells::fixed(&[1, 2], 1), true);
    buffers.push(&Cells::fixed(&[3, 4], 1).with_validity(Validity::bits(&[0b10])), true);
    buffers.push_some(&Cells::fixed(&[5, 6], 1), &[1], true);
    assert_eq!((&buffers.values[..], &buffers.validity[..]), (&[1, 2, 3, 4, 6][..], &[1, 1, 0, 1, 1][..]));
    let mut memory = CellBuffers::default();
    let tile = in_tile_layout(&Cells::fixed(&[1, 2], 1), true, &mut memory);
    assert!(tile.is_valid(0) && tile.is_valid(1) && !tile.is_valid(2));
    // A field without nulls has no validity.
    let of_caller = Cells::fixed(&[1, 2], 1).with_validity(Validity::bits(&[0]));
    assert!(in_tile_layout(&of_caller, false, &mut CellBuffers::default()).validity().is_none());
}

#[test]
fn strings_are_returned_one_by_one() {
    let strings = CellBuffers::of_strings([&b"b"[..], b"", b"ca"]);
    assert_eq!((0..3).map(|cell| strings.string(cell)).collect::<Vec<_>>(), [&b"b"[..], b"", b"ca"]);
    assert!(strings.has_values() && CellBuffers::of_strings([&b""[..]]).has_values());
    assert_eq!((strings.cells(1).len(), strings.len_in_bytes()), (3, 3 + 8 * 4));
    assert!(!CellBuffers::default().has_values());
}
