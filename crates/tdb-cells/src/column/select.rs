//! Selection of cells from a column.

use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_types::{Buffer, SharedBuffer};

use super::{Column, ColumnBuffers};

impl Column {
    /// Returns the cells with these ascending indices as a separate column.
    pub fn only(&self, cells: &[u32]) -> Self {
        let mut values = Buffer::new();
        runs(cells).for_each(|run| values.extend_from_slice(&self.values[self.bytes_of(run)]));
        let offsets = self.offsets().map(|from| {
            let mut offsets = Buffer::zeroed((cells.len() + 1) * 8);
            let ends = offsets.values_mut::<u64>().unwrap_or_default().iter_mut().skip(1);
            ends.zip(cells).fold(0, |start, (end, cell)| {
                *end = start + from[*cell as usize + 1] - from[*cell as usize];
                *end
            });
            offsets
        });
        let validity = self.validity().map(|bits| {
            let mut kept = Buffer::zeroed(cells.len().div_ceil(8));
            let (from, to) = (bits.view_bits::<Lsb0>(), kept.view_bits_mut::<Lsb0>());
            cells.iter().enumerate().for_each(|(place, cell)| to.set(place, from[*cell as usize]));
            kept
        });
        let buffers = ColumnBuffers { values, offsets, validity };
        Self::new(self.name.clone(), self.datatype, self.cell_val_num, cells.len(), buffers)
    }

    /// Replaces each cell by `fill` where `kept` is `false`. In a nullable field, the replaced
    /// cells are null unless `is_valid`. Modifies validity and fixed-size values in place if the
    /// buffers have no other owners.
    pub fn blank(mut self, kept: &[bool], fill: &[u8], is_valid: bool) -> Self {
        let validity = self.validity.take().map(|bits| {
            let mut bits = owned(bits);
            let to = bits.view_bits_mut::<Lsb0>();
            let blanked = kept.iter().enumerate().filter(|(_, kept)| !**kept);
            blanked.for_each(|(cell, _)| to.set(cell, is_valid));
            bits
        });
        let (values, offsets) = match self.offsets() {
            None => {
                let mut values = owned(std::mem::take(&mut self.values));
                blank_fixed(&mut values, kept, fill);
                (values, None)
            }
            Some(offsets) => {
                let (values, offsets) = self.blank_var(offsets, kept, fill);
                (values, Some(offsets))
            }
        };
        let buffers = ColumnBuffers { values, offsets, validity };
        Self::new(self.name, self.datatype, self.cell_val_num, self.len, buffers)
    }

    fn blank_var(&self, from: &[u64], kept: &[bool], fill: &[u8]) -> (Buffer, Buffer) {
        let (mut values, mut offsets) = (Buffer::new(), Buffer::zeroed((self.len + 1) * 8));
        let size = self.datatype.size();
        let words = offsets.values_mut::<u64>().unwrap_or_default();
        let mut cell = 0;
        for run in kept.chunk_by(|a, b| a == b) {
            let cells = cell..cell + run.len();
            // Offsets count values.
            let end = (values.len() / size) as u64;
            if run[0] {
                values.extend_from_slice(&self.values[self.bytes_of(cells.clone())]);
                for cell in cells.clone() {
                    words[cell + 1] = end + from[cell + 1] - from[cells.start];
                }
            } else {
                let step = (fill.len() / size) as u64;
                for (number, cell) in cells.clone().enumerate() {
                    values.extend_from_slice(fill);
                    words[cell + 1] = end + step * (number as u64 + 1);
                }
            }
            cell = cells.end;
        }
        (values, offsets)
    }
}

/// Returns an owned buffer, without a copy if `bytes` is a whole buffer without other owners.
fn owned(bytes: SharedBuffer) -> Buffer {
    if !bytes.is_whole() {
        return Buffer::from(&bytes[..]);
    }
    bytes.into_whole().unwrap_or_else(|shared| Buffer::from(&shared[..]))
}

fn blank_fixed(values: &mut [u8], kept: &[bool], fill: &[u8]) {
    match fill.len() {
        1 => blank_array::<1>(values, kept, fill),
        2 => blank_array::<2>(values, kept, fill),
        4 => blank_array::<4>(values, kept, fill),
        8 => blank_array::<8>(values, kept, fill),
        size => {
            let cells = values.chunks_exact_mut(size.max(1)).zip(kept).filter(|(_, kept)| !**kept);
            cells.for_each(|(cell, _)| cell.copy_from_slice(fill));
        }
    }
}

fn blank_array<const N: usize>(values: &mut [u8], kept: &[bool], fill: &[u8]) {
    let Ok(fill) = <[u8; N]>::try_from(fill) else { return };
    let (cells, _) = values.as_chunks_mut::<N>();
    cells.iter_mut().zip(kept).for_each(|(cell, kept)| *cell = if *kept { *cell } else { fill });
}

/// Splits ascending indices into contiguous runs.
fn runs(cells: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> {
    cells.chunk_by(|a, b| a + 1 == *b).map(|run| run[0] as usize..run[0] as usize + run.len())
}
