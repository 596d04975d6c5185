//! A tile of a sample.

use tdb_types::Cells;

/// Cells of a tile, in the layout of tiles.
#[derive(Clone, Debug, Default)]
pub(super) struct TileBytes {
    pub(super) values: Vec<u8>,
    /// Offsets, with an additional end offset. `None` for fixed-size cells.
    pub(super) offsets: Option<Vec<u64>>,
    size: usize,
}

impl TileBytes {
    pub(super) fn of(cells: &Cells<'_>) -> Self {
        let values = cells.bytes().to_vec();
        let offsets = cells.offsets().map(|offsets| {
            let mut ends = vec![0_u64];
            (0..offsets.len()).for_each(|cell| ends.push(ends[cell] + cells.cell(cell).len() as u64));
            ends
        });
        Self { values, offsets, size: cells.size().unwrap_or(1) }
    }

    pub(super) fn len(&self) -> usize {
        match &self.offsets {
            Some(offsets) => offsets.len() - 1,
            None => self.values.len() / self.size,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.values.len() as u64 + self.offsets.as_ref().map_or(0, |offsets| 8 * (offsets.len() as u64 - 1))
    }

    /// Copies a range of cells.
    pub(super) fn part(&self, cells: std::ops::Range<usize>) -> Self {
        let Some(offsets) = &self.offsets else {
            let values = self.values[cells.start * self.size..cells.end * self.size].to_vec();
            return Self { values, offsets: None, size: self.size };
        };
        let offsets = &offsets[cells.start..=cells.end];
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        let range = usize::try_from(first).unwrap_or(0)..usize::try_from(last).unwrap_or(0);
        let offsets = offsets.iter().map(|offset| offset - first).collect();
        Self { values: self.values[range].to_vec(), offsets: Some(offsets), size: self.size }
    }

    /// Appends the cells of another tile.
    pub(super) fn join(&mut self, next: &Self) {
        let before = self.values.len() as u64;
        self.values.extend_from_slice(&next.values);
        if let (Some(own), Some(next)) = (&mut self.offsets, &next.offsets) {
            own.extend(next.iter().skip(1).map(|offset| offset + before));
        }
    }
}
