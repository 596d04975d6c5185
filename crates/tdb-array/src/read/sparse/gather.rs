//! From runs of cells to a batch of columns.

mod fixed;
mod layout;
mod unfilter;
mod var;

use tdb_schema::hilbert::CoordinateColumn;
use tdb_types::Buffer;

use super::cells::TileData;
use super::context::Context;
use super::table::{Run, TileTable};
use crate::column::ColumnBuffers;
use crate::read::{BufferPool, pack_validity};
use crate::{Batch, Column, Result};
use fixed::gather_fixed;
use layout::BatchLayout;
use unfilter::{FixedPart, unfilter_fixed, unfilter_var};
use var::gather_var;

/// Bytes of tiles that are kept for the next batches, which may want more of their cells. Beyond, tiles are unfiltered again
/// for each of them: that takes time, but memory is what runs out.
const MOST_HELD: usize = 512 << 20;

/// Puts batches together, one field after the other, so that next to the batch no more than a field is held.
#[derive(Debug)]
pub(super) struct Gatherer {
    pool: BufferPool,
}

/// A batch that some fields are missing of.
#[derive(Debug)]
pub(super) struct Unfinished {
    columns: Vec<Option<Column>>,
    len: usize,
}

impl Unfinished {
    pub(super) fn new(context: &Context) -> Self {
        Self { columns: vec![None; context.fields.len()], len: 0 }
    }

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory that the fields take which are there.
    pub(super) fn memory(&self) -> usize {
        self.columns.iter().flatten().map(Column::memory).sum()
    }

    /// The coordinates, dimension by dimension, if all are there.
    pub(super) fn coordinates(&self, context: &Context) -> Vec<CoordinateColumn<'_>> {
        let column = |field: &Option<usize>| {
            let column = self.columns.get((*field)?)?.as_ref()?;
            Some(match column.offsets() {
                Some(offsets) => CoordinateColumn::Strings { offsets: &offsets[..self.len], values: column.bytes() },
                None => CoordinateColumn::Values(column.bytes()),
            })
        };
        context.field_of_dimension.iter().filter_map(column).collect()
    }
}

impl Default for Gatherer {
    fn default() -> Self {
        Self { pool: BufferPool::of_pieces() }
    }
}

impl Gatherer {
    /// The batch that consists of these cells, which wait no longer.
    pub(super) fn gather(&mut self, context: &Context, tiles: &mut TileTable, runs: &[Run]) -> Result<Batch> {
        let mut batch = Unfinished::new(context);
        self.add(context, tiles, runs, |_| true, &mut batch)?;
        Ok(self.finish(context, tiles, runs, batch))
    }

    /// Adds the `wanted` fields of these cells to a batch.
    pub(super) fn add(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        runs: &[Run],
        wanted: impl Fn(usize) -> bool,
        batch: &mut Unfinished,
    ) -> Result<()> {
        let limit = usize::try_from(context.array.limits().tile_bytes).unwrap_or(usize::MAX);
        let most_held = MOST_HELD.min(limit);
        tiles.trim(most_held);
        let mut held = 0;
        let layout = BatchLayout::new(tiles, runs, context.array.workers().threads());
        batch.len = layout.cells;
        for (index, field) in context.fields.iter().enumerate().filter(|(index, _)| wanted(*index)) {
            let mut buffers = match field.cell_size() {
                Some(size) => {
                    let values = self.fixed(context, tiles, &layout, index, size)?;
                    ColumnBuffers { values, ..ColumnBuffers::default() }
                }
                None => {
                    unfilter_var(context, tiles, &layout, index)?;
                    gather_var(context, tiles, &layout, index, &mut self.pool)?
                }
            };
            if field.nullable {
                buffers.validity = Some(self.validity(context, tiles, &layout, index)?);
            }
            batch.columns[index] = Some(field.column(layout.cells, buffers));
            for used in &layout.uses {
                let tile = tiles.get_mut(used.slot);
                held += tile.fields[index].memory();
                if !tile.is_wanted_after(used.runs) || held > most_held {
                    held -= tile.fields[index].memory();
                    context.spares.take_back(&mut tile.fields[index]);
                }
            }
        }
        Ok(())
    }

    /// The batch, once all its fields are there; its cells wait no longer.
    pub(super) fn finish(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        runs: &[Run],
        batch: Unfinished,
    ) -> Batch {
        tiles.release(context, runs);
        let batch = Batch::new(batch.columns.into_iter().flatten().collect(), batch.len);
        self.pool.lend(&batch);
        batch.with_columns(context.shown)
    }

    fn fixed(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        layout: &BatchLayout<'_>,
        field: usize,
        size: usize,
    ) -> Result<Buffer> {
        let mut values = self.pool.take(layout.cells * size);
        unfilter_fixed(context, tiles, layout, FixedPart::Values { field, size }, &mut values)?;
        let sources = layout.sources(tiles, |tile| match &tile.fields[field].cells {
            Some(TileData::Fixed(cells)) => cells,
            _ => &[],
        });
        gather_fixed(context, layout, &sources, size, &mut values)?;
        Ok(values)
    }

    fn validity(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        layout: &BatchLayout<'_>,
        field: usize,
    ) -> Result<Buffer> {
        let mut bytes = context.spares.buffer(layout.cells);
        unfilter_fixed(context, tiles, layout, FixedPart::Validity { field }, &mut bytes)?;
        let sources = layout.sources(tiles, |tile| tile.fields[field].validity.as_deref().unwrap_or_default());
        gather_fixed(context, layout, &sources, 1, &mut bytes)?;
        let mut bits = self.pool.take(layout.cells.div_ceil(8));
        pack_validity(&bytes, &mut bits);
        context.spares.give(bytes);
        Ok(bits)
    }
}
