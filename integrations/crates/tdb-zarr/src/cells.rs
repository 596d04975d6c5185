//! Cells of boxes and chunks, and copies between them.

use std::ops::Range;

use crate::boxes::{each_row, to_memory};

/// Cells of a chunk or box: bytes, and offsets including the end for cells of variable length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) values: Vec<u8>,
    pub(crate) offsets: Option<Vec<u64>>,
}

/// Position of a chunk relative to a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// Cells of the box.
    pub(crate) in_box: &'a [Range<u64>],
    /// Cells of the chunk within the array.
    pub(crate) chunk: &'a [Range<u64>],
    /// Shape of a full chunk.
    pub(crate) shape: &'a [u64],
}

impl Cells {
    /// Creates an empty list of cells, of variable or fixed length.
    pub(crate) fn new(is_var: bool) -> Self {
        Self { values: Vec::new(), offsets: is_var.then(|| vec![0]) }
    }

    /// Returns a cell. `size` is the cell size in bytes, for cells of fixed length.
    fn cell(&self, index: usize, size: usize) -> &[u8] {
        match &self.offsets {
            None => &self.values[index * size..(index + 1) * size],
            Some(offsets) => &self.values[to_memory(offsets[index])..to_memory(offsets[index + 1])],
        }
    }

    /// Appends a cell of variable length.
    pub(crate) fn push(&mut self, cell: &[u8]) {
        self.values.extend_from_slice(cell);
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.values.len() as u64);
        }
    }

    /// Cuts a chunk out of a box. Cells beyond the end of the array get the fill value. Returns
    /// `None` if all cells are fill values.
    pub(crate) fn cut(&self, place: Place<'_>, fill: &[u8]) -> Option<Self> {
        let count = place.shape.iter().map(|len| to_memory(*len)).product::<usize>();
        if self.offsets.is_some() {
            return self.cut_var(place, fill, count);
        }
        let size = fill.len();
        let mut is_filled = true;
        let mut values = repeated(fill, count);
        each_row(place.in_box, place.chunk, place.shape, |at, of_chunk, len| {
            let (from, to) = (at * size..(at + len) * size, of_chunk * size..(of_chunk + len) * size);
            is_filled &= values[to.clone()] == self.values[from.clone()];
            values[to].copy_from_slice(&self.values[from]);
        });
        (!is_filled).then_some(Self { values, offsets: None })
    }

    fn cut_var(&self, place: Place<'_>, fill: &[u8], count: usize) -> Option<Self> {
        let mut cells = vec![fill; count];
        each_row(place.in_box, place.chunk, place.shape, |at, of_chunk, len| {
            for step in 0..len {
                cells[of_chunk + step] = self.cell(at + step, 0);
            }
        });
        if cells.iter().all(|cell| *cell == fill) {
            return None;
        }
        let mut cut = Self::new(true);
        cells.into_iter().for_each(|cell| cut.push(cell));
        Some(cut)
    }
}

/// A box, assembled from chunks.
pub(crate) struct Gathered<'a> {
    /// Cell size in bytes. `None` for variable length.
    size: Option<usize>,
    /// Cells of fixed length.
    values: Vec<u8>,
    /// Cells of variable length, borrowed from the chunks.
    cells: Vec<&'a [u8]>,
}

impl<'a> Gathered<'a> {
    /// Creates a box of fill values.
    pub(crate) fn new(size: Option<usize>, fill: &'a [u8], count: usize) -> Self {
        match size {
            Some(_) => Self { size, values: repeated(fill, count), cells: Vec::new() },
            None => Self { size, values: Vec::new(), cells: vec![fill; count] },
        }
    }

    /// Copies the cells of a chunk.
    pub(crate) fn put(&mut self, place: Place<'_>, chunk: &'a Cells) {
        each_row(place.in_box, place.chunk, place.shape, |at, of_chunk, len| match self.size {
            Some(size) => self.values[at * size..(at + len) * size]
                .copy_from_slice(&chunk.values[of_chunk * size..(of_chunk + len) * size]),
            None => {
                for step in 0..len {
                    self.cells[at + step] = chunk.cell(of_chunk + step, 0);
                }
            }
        });
    }

    /// Returns the cells of the box.
    pub(crate) fn finish(self) -> Cells {
        if self.size.is_some() {
            return Cells { values: self.values, offsets: None };
        }
        let mut all = Cells::new(true);
        self.cells.into_iter().for_each(|cell| all.push(cell));
        all
    }
}

fn repeated(fill: &[u8], count: usize) -> Vec<u8> {
    match fill.iter().all(|byte| *byte == 0) {
        // The system provides zeroed memory faster than `repeat`.
        true => vec![0; fill.len() * count],
        false => fill.repeat(count),
    }
}
