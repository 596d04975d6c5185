//! Concatenation of columns.

use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_types::Buffer;

use super::{Column, ColumnBuffers};

impl Column {
    /// Concatenates this column and further columns of the same field.
    pub fn followed_by(&self, others: &[&Self]) -> Self {
        let all = || std::iter::once(self).chain(others.iter().copied());
        let cells = all().map(Self::len).sum::<usize>();
        let mut values = Buffer::new();
        values.reserve(all().map(|column| column.values.len()).sum());
        all().for_each(|column| values.extend_from_slice(&column.values));
        let offsets = self.offsets().is_some().then(|| {
            let mut offsets = Buffer::zeroed((cells + 1) * 8);
            let mut ends = offsets.values_mut::<u64>().unwrap_or_default().iter_mut().skip(1);
            let mut start = 0;
            for from in all().filter_map(Self::offsets) {
                let Some((_, from_ends)) = from.split_first() else { continue };
                // `ends` must be the second iterator, because `zip` takes an item from the first
                // iterator before it notices the end of the second.
                from_ends.iter().zip(&mut ends).for_each(|(from, end)| *end = start + from);
                start += from_ends.last().copied().unwrap_or(0);
            }
            offsets
        });
        let validity = self.validity().is_some().then(|| {
            let mut bits = Buffer::zeroed(cells.div_ceil(8));
            let to = bits.view_bits_mut::<Lsb0>();
            let mut start = 0;
            for column in all() {
                let place = &mut to[start..start + column.len()];
                match column.validity() {
                    Some(from) => place.copy_from_bitslice(&from.view_bits::<Lsb0>()[..column.len()]),
                    None => place.fill(true),
                }
                start += column.len();
            }
            bits
        });
        let buffers = ColumnBuffers { values, offsets, validity };
        Self::new(self.name.clone(), self.datatype, self.cell_val_num, cells, buffers)
    }
}
