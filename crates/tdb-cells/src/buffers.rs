//! Cells of a single field in memory, in tile layout.

use tdb_types::{Buffer, Cells, Offsets, Validity};

/// The unfiltered cells of a field in a tile, in growable memory reused from tile to tile.
///
/// `values`, `offsets` and `validity` are empty if the field does not have them, or if they are not
/// loaded. If at least one cell is loaded, `values` or `offsets` is not empty.
#[derive(Clone, Debug, Default)]
pub struct CellBuffers {
    /// The values of all cells.
    pub values: Buffer,
    /// For variable-length cells: the start of each cell in `values` in bytes, followed by the end
    /// of the last cell. Ascending from 0.
    pub offsets: Vec<u64>,
    /// For nullable fields: a byte per cell, 0 for null.
    pub validity: Buffer,
}

impl CellBuffers {
    /// Creates variable-length cells from strings.
    pub fn of_strings<'s>(strings: impl IntoIterator<Item = &'s [u8]>) -> Self {
        let mut buffers = Self { offsets: vec![0], ..Self::default() };
        for string in strings {
            buffers.values.extend_from_slice(string);
            buffers.offsets.push(buffers.values.len() as u64);
        }
        buffers
    }

    /// Returns the cells. `size` is the size of fixed-size cells in bytes.
    pub fn cells(&self, size: usize) -> Cells<'_> {
        let cells = match self.offsets.is_empty() {
            true => Cells::fixed(&self.values, size),
            false => Cells::var(Offsets::in_bytes(&self.offsets), &self.values),
        };
        cells.with_validity((!self.validity.is_empty()).then_some(Validity::Bytes(&self.validity)))
    }

    /// Returns the bytes of a variable-length cell.
    #[inline]
    pub fn string(&self, cell: usize) -> &[u8] {
        // The tile loader has checked that offsets ascend and end at the length of the values.
        &self.values[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// Returns `true` if the values are loaded.
    pub fn has_values(&self) -> bool {
        !self.values.is_empty() || !self.offsets.is_empty()
    }

    /// Returns the allocated memory, in bytes.
    pub fn memory(&self) -> usize {
        self.values.capacity() + 8 * self.offsets.capacity() + self.validity.capacity()
    }

    /// Returns the memory of the cells, in bytes.
    pub fn len_in_bytes(&self) -> usize {
        self.values.len() + 8 * self.offsets.len() + self.validity.len()
    }

    /// Removes all cells and keeps the memory.
    pub fn clear(&mut self) {
        self.values.resize(0);
        self.offsets.clear();
        self.validity.resize(0);
    }

    /// Appends cells, each with a validity byte if the field is `nullable`.
    pub fn push(&mut self, cells: &Cells<'_>, nullable: bool) {
        let base = self.values.len() as u64;
        self.values.extend_from_slice(cells.bytes());
        if let Some(offsets) = cells.offsets() {
            self.start_offsets();
            self.offsets.extend(offsets.moved_to(base).skip(1));
        }
        if nullable {
            let to = self.validity.append(cells.len());
            match cells.validity() {
                Some(validity) => validity.write_bytes(to),
                None => to.fill(1),
            }
        }
    }

    /// Appends the cells with the indices in `some`, in this order, each with a validity byte if
    /// the field is `nullable`.
    pub fn push_some(&mut self, cells: &Cells<'_>, some: &[u32], nullable: bool) {
        match (cells.offsets(), cells.size()) {
            (Some(offsets), _) => self.push_var(cells.values(), offsets, some),
            (None, size) => self.push_fixed(cells.values(), size.unwrap_or(1), some),
        }
        if nullable {
            let to = self.validity.append(some.len());
            match cells.validity() {
                Some(validity) => validity.write_bytes_of(some.iter().map(|cell| *cell as usize), to),
                None => to.fill(1),
            }
        }
    }

    fn push_fixed(&mut self, values: &[u8], size: usize, some: &[u32]) {
        fn gather<const SIZE: usize>(values: &[u8], some: &[u32], to: &mut [u8]) {
            let (values, _) = values.as_chunks::<SIZE>();
            let (to, _) = to.as_chunks_mut::<SIZE>();
            to.iter_mut().zip(some).for_each(|(to, cell)| *to = values[*cell as usize]);
        }
        let to = self.values.append(some.len() * size);
        match size {
            1 => gather::<1>(values, some, to),
            2 => gather::<2>(values, some, to),
            4 => gather::<4>(values, some, to),
            8 => gather::<8>(values, some, to),
            _ => to
                .chunks_exact_mut(size)
                .zip(some)
                .for_each(|(to, cell)| to.copy_from_slice(&values[*cell as usize * size..][..size])),
        }
    }

    fn push_var(&mut self, values: &[u8], offsets: Offsets<'_>, some: &[u32]) {
        let bytes_of = |cell: &u32| offsets.bytes_of(*cell as usize);
        self.push_strings(
            some.iter().map(|cell| bytes_of(cell).and_then(|range| values.get(range)).unwrap_or_default()),
        );
    }

    /// Appends variable-length cells. Appends all offsets first, to allocate memory for the values
    /// only once.
    #[inline]
    pub fn push_strings<'s>(&mut self, strings: impl Iterator<Item = &'s [u8]> + Clone) {
        self.start_offsets();
        let (start, first) = (self.values.len(), self.offsets.len() - 1);
        let mut end = start as u64;
        self.offsets.extend(strings.clone().map(|string| {
            end += string.len() as u64;
            end
        }));
        let mut to = self.values.append(end as usize - start);
        for (string, ends) in strings.zip(self.offsets[first..].windows(2)) {
            let (place, after) = std::mem::take(&mut to).split_at_mut((ends[1] - ends[0]) as usize);
            place.copy_from_slice(string);
            to = after;
        }
    }

    /// Adds offset 0 of the first cell if there are no offsets.
    pub fn start_offsets(&mut self) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
    }

    /// Returns the start of a cell in the values. `size` is the size of fixed-size cells in bytes.
    fn start_of(&self, cell: usize, size: usize) -> usize {
        match self.offsets.get(cell) {
            Some(start) => *start as usize,
            None => cell * size,
        }
    }

    /// Keeps only the first `cells` cells. `size` is the size of fixed-size cells in bytes.
    pub fn truncate(&mut self, cells: usize, size: usize) {
        self.values.resize(self.start_of(cells, size));
        self.offsets.truncate(cells + 1);
        self.validity.resize(cells.min(self.validity.len()));
    }

    /// Removes the first `cells` cells. `size` is the size of fixed-size cells in bytes.
    pub fn drop_front(&mut self, cells: usize, size: usize) {
        let start = self.start_of(cells, size);
        drop_front(&mut self.values, start);
        if !self.offsets.is_empty() {
            self.offsets.drain(..cells);
            self.offsets.iter_mut().for_each(|offset| *offset -= start as u64);
        }
        if !self.validity.is_empty() {
            drop_front(&mut self.validity, cells);
        }
    }
}

fn drop_front(bytes: &mut Buffer, count: usize) {
    bytes.copy_within(count.., 0);
    bytes.resize(bytes.len() - count);
}

/// Returns the same cells in tile layout: offsets count bytes and start at 0, and each cell has a
/// validity byte if the field is `nullable`. Stores converted offsets and validity in `memory`.
pub fn in_tile_layout<'a>(cells: &Cells<'a>, nullable: bool, memory: &'a mut CellBuffers) -> Cells<'a> {
    memory.clear();
    let CellBuffers { offsets, validity, .. } = memory;
    let same = match cells.offsets() {
        None => *cells,
        Some(own) => {
            let in_tile = match own.as_in_tile() {
                Some(in_tile) => in_tile,
                None => {
                    offsets.extend(own.moved_to(0));
                    offsets
                }
            };
            Cells::var(Offsets::in_bytes(in_tile), cells.bytes())
        }
    };
    if !nullable {
        return same.with_validity(None);
    }
    let bytes = match cells.validity() {
        Some(Validity::Bytes(bytes)) => bytes,
        other => {
            validity.resize(cells.len());
            match other {
                Some(bits) => bits.write_bytes(validity),
                None => validity.fill(1),
            }
            validity
        }
    };
    same.with_validity(Validity::Bytes(bytes))
}

#[cfg(test)]
mod tests;
