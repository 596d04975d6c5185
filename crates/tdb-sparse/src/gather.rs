//! Gathering of runs of cells into a batch of columns.

mod field;
mod fixed;
mod groups;
mod layout;
mod unfilter;
mod var;

use tdb_cells::{Batch, Column, ColumnBuffers, pack_validity};
use tdb_query::BufferPool;
use tdb_schema::hilbert::CoordinateColumn;
use tdb_snapshot::Result;
use tdb_types::Buffer;

use crate::context::Context;
use crate::table::{Run, TileTable};
use fixed::gather_fixed;
use groups::{groups, let_go};
use layout::BatchLayout;
use unfilter::{FixedPart, own_var_bytes, unfilter_fixed, unfilter_var};
use var::{VarParts, gather_var};

pub(super) use field::hold_field;

/// A batch, with a flag for a shortage of memory.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) batch: Batch,
    /// `true` if the memory limit forced the batch to drop unfiltered cells needed by later
    /// batches.
    pub(super) has_passing: bool,
}

/// A builder of batches, field by field. Apart from the batch, at most one field is held in memory.
#[derive(Debug)]
pub(super) struct Gatherer {
    pool: BufferPool,
}

/// A batch in progress, with missing fields.
#[derive(Debug)]
pub(super) struct Unfinished {
    columns: Vec<Option<Column>>,
    len: usize,
    /// See [`Gathered`].
    has_passing: bool,
}

impl Unfinished {
    pub(super) fn new(context: &Context) -> Self {
        Self { columns: vec![None; context.fields.len()], len: 0, has_passing: false }
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the memory of the gathered fields in bytes.
    pub(super) fn memory(&self) -> usize {
        self.columns.iter().flatten().map(Column::memory).sum()
    }

    /// Returns the gathered coordinates in dimension order.
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
    /// Gathers the cells of `runs` into a batch and releases the runs.
    pub(super) fn gather(&mut self, context: &Context, tiles: &mut TileTable, runs: &[Run]) -> Result<Gathered> {
        let mut batch = Unfinished::new(context);
        self.add(context, tiles, runs, |_| true, &mut batch)?;
        Ok(self.finish(context, tiles, runs, batch))
    }

    /// Gathers the `wanted` fields of the cells into a batch.
    pub(super) fn add(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        runs: &[Run],
        wanted: impl Fn(usize) -> bool,
        batch: &mut Unfinished,
    ) -> Result<()> {
        let mut room = context.room - tiles.trim(context.room);
        let layout = BatchLayout::new(tiles, runs, context.array.workers().threads());
        batch.len = layout.cells;
        for (index, field) in context.fields.iter().enumerate().filter(|(index, _)| wanted(*index)) {
            let mut buffers = match field.cell_size() {
                Some(size) => {
                    let mut values = self.pool.take(layout.cells * size);
                    let part = FixedPart::Values { field: index, size };
                    batch.has_passing |= fixed(context, tiles, &layout, part, (&mut values, &mut room))?;
                    ColumnBuffers { values, ..ColumnBuffers::default() }
                }
                None => {
                    let (buffers, has_passing) = var(context, tiles, &layout, index, (&mut self.pool, &mut room))?;
                    batch.has_passing |= has_passing;
                    buffers
                }
            };
            if field.nullable {
                let (bits, has_passing) = self.validity(context, tiles, &layout, index, &mut room)?;
                batch.has_passing |= has_passing;
                buffers.validity = Some(bits);
            }
            batch.columns[index] = Some(field.column(layout.cells, buffers));
        }
        Ok(())
    }

    /// Completes a batch once all fields are gathered, and releases the runs.
    pub(super) fn finish(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        runs: &[Run],
        batch: Unfinished,
    ) -> Gathered {
        tiles.release(context, runs);
        let has_passing = batch.has_passing;
        let batch = Batch::new(batch.columns.into_iter().flatten().collect(), batch.len);
        self.pool.lend(&batch);
        Gathered { batch: batch.with_columns(context.shown), has_passing }
    }

    fn validity(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        layout: &BatchLayout<'_>,
        field: usize,
        room: &mut usize,
    ) -> Result<(Buffer, bool)> {
        let mut bytes = context.spares.buffer(layout.cells);
        let has_passing = fixed(context, tiles, layout, FixedPart::Validity { field }, (&mut bytes, room))?;
        let mut bits = self.pool.take(layout.cells.div_ceil(8));
        pack_validity(&bytes, &mut bits);
        context.spares.give(bytes);
        Ok((bits, has_passing))
    }
}

/// Gathers fixed-size cells. Returns `true` if later batches need dropped cells again.
fn fixed(
    context: &Context,
    tiles: &mut TileTable,
    layout: &BatchLayout<'_>,
    part: FixedPart,
    (out, room): (&mut [u8], &mut usize),
) -> Result<bool> {
    let mut has_passing = false;
    for uses in groups(context, tiles, layout, |used, tile| part.own_bytes(context, used, tile)) {
        unfilter_fixed(context, tiles, (layout, uses), part, (out, room))?;
        let sources = layout.sources(tiles, uses, |tile| part.bytes(&tile.fields[part.field()]));
        gather_fixed(context, (layout, uses), &sources, part.size(), out)?;
        has_passing |= let_go(context, tiles, uses, part.field());
    }
    Ok(has_passing)
}

/// Gathers variable-length cells. Returns `true` if later batches need dropped cells again.
fn var(
    context: &Context,
    tiles: &mut TileTable,
    layout: &BatchLayout<'_>,
    field: usize,
    (pool, room): (&mut BufferPool, &mut usize),
) -> Result<(ColumnBuffers, bool)> {
    let groups = groups(context, tiles, layout, |_, tile| own_var_bytes(context, tile, field));
    if let [uses] = groups[..] {
        unfilter_var(context, tiles, uses, field, room)?;
        let buffers = gather_var(context, tiles, layout, field, pool)?;
        return Ok((buffers, let_go(context, tiles, uses, field)));
    }
    let mut parts = VarParts::new(context, layout, field, tiles.len(), pool);
    let mut has_passing = false;
    for uses in groups {
        unfilter_var(context, tiles, uses, field, room)?;
        parts.add(context, tiles, uses)?;
        has_passing |= let_go(context, tiles, uses, field);
    }
    Ok((parts.finish(pool), has_passing))
}
