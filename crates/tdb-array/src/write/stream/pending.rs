//! Cells that wait for their tile to be full.

use std::ops::Range;

use tdb_fragment::TileCells;

use crate::Result;
use crate::tiles::RawTile;
use crate::tiles::TileScratch;
use crate::write::check::CheckedColumn;
use crate::write::target::{EncodedTile, FieldEncoder, Run};

/// The cells of one field, in the memory layout of tiles.
#[derive(Debug, Default)]
pub(super) struct Pending {
    cells: RawTile,
    len: usize,
}

impl Pending {
    /// Appends some cells of a column.
    pub(super) fn push(
        &mut self,
        field: &FieldEncoder,
        column: &CheckedColumn<'_>,
        cells: impl ExactSizeIterator<Item = usize> + Clone,
    ) {
        let RawTile { values, offsets, validity } = &mut self.cells;
        match &column.offsets {
            None => cells.clone().for_each(|cell| values.extend_from_slice(column.cell(cell))),
            Some(_) => cells.clone().for_each(|cell| {
                offsets.push(values.len() as u64);
                values.extend_from_slice(column.cell(cell));
            }),
        }
        self.len += cells.len();
        if field.nullable {
            column.push_validity(cells, validity);
        }
    }

    /// Appends a run of cells of a column, in one go where all have the same size.
    pub(super) fn push_run(&mut self, field: &FieldEncoder, column: &CheckedColumn<'_>, run: Range<usize>) {
        let RawTile { values, validity, .. } = &mut self.cells;
        if column.offsets.is_some() {
            return self.push(field, column, run);
        }
        values.extend_from_slice(&column.values[run.start * column.size..run.end * column.size]);
        self.len += run.len();
        if field.nullable {
            column.push_validity(run, validity);
        }
    }

    /// Filters the cells of a tile that lie in a column, without waiting.
    pub(super) fn encode_column(
        field: &FieldEncoder,
        column: &CheckedColumn<'_>,
        run: Range<usize>,
        scratch: &mut TileScratch,
    ) -> Result<EncodedTile> {
        let len = run.len();
        let mut raw = std::mem::take(&mut scratch.raw);
        raw.clear();
        if field.nullable {
            column.push_validity(run.clone(), &mut raw.validity);
        }
        let (bytes, offsets) = match &column.offsets {
            None => (run.start * column.size..run.end * column.size, None),
            Some(offsets) => {
                let bytes = offsets[run.start] as usize..offsets[run.end] as usize;
                raw.offsets.extend(offsets[run].iter().map(|offset| offset - bytes.start as u64));
                (bytes, Some(&raw.offsets[..]))
            }
        };
        let validity = field.nullable.then_some(&raw.validity[..]);
        let tile = TileCells { values: &column.values[bytes], offsets, validity };
        let encoded = field.encode(&tile, len, Run::whole(len), scratch);
        scratch.raw = raw;
        encoded
    }

    /// Removes the last cell.
    pub(super) fn pop(&mut self, field: &FieldEncoder) {
        let Some(len) = self.len.checked_sub(1) else { return };
        let end = match self.cells.offsets.get(len) {
            Some(start) => *start as usize,
            None => len * field.size,
        };
        self.cells.values.truncate(end);
        self.cells.offsets.truncate(len);
        self.cells.validity.truncate(len);
        self.len = len;
    }

    /// Filters the cells of a tile.
    pub(super) fn encode(
        &self,
        field: &FieldEncoder,
        run: Range<usize>,
        scratch: &mut TileScratch,
    ) -> Result<EncodedTile> {
        let len = run.len();
        let validity = field.nullable.then(|| &self.cells.validity[run.clone()]);
        if !field.is_var() {
            let values = &self.cells.values[run.start * field.size..run.end * field.size];
            return field.encode(&TileCells { values, offsets: None, validity }, len, Run::whole(len), scratch);
        }
        let start = self.cells.offsets.get(run.start).copied().unwrap_or(0);
        let end = self.cells.offsets.get(run.end).map_or(self.cells.values.len(), |end| *end as usize);
        let offsets: Vec<u64> = self.cells.offsets[run].iter().map(|offset| offset - start).collect();
        let values = &self.cells.values[start as usize..end];
        let tile = TileCells { values, offsets: Some(&offsets), validity };
        field.encode(&tile, len, Run::whole(len), scratch)
    }

    /// Removes the first cells.
    pub(super) fn drop_front(&mut self, field: &FieldEncoder, count: usize) {
        let RawTile { values, offsets, validity } = &mut self.cells;
        let end = match field.is_var() {
            true => offsets.get(count).map_or(values.len(), |start| *start as usize),
            false => count * field.size,
        };
        values.drain(..end);
        offsets.drain(..count.min(offsets.len()));
        offsets.iter_mut().for_each(|offset| *offset -= end as u64);
        validity.drain(..count.min(validity.len()));
        self.len -= count;
    }

    /// Bytes of all cells.
    pub(super) fn memory(&self) -> usize {
        self.cells.values.len() + 8 * self.cells.offsets.len() + self.cells.validity.len()
    }
}
