//! Reading of a single fragment in stored order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tdb_cells::order::ascending::AscendingCheck;
use tdb_cells::order::cell_order::{CellColumns, CellOrder};
use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::{CellBuffers, Order};
use tdb_schema::hilbert::CoordinateColumn;
use tdb_snapshot::{ArrayError, Result};
use tdb_types::ordered_keys;

use crate::cells::{Look, Want, WantedCells};
use crate::choice::bounds;
use crate::context::Context;
use crate::engine::Engine;
use crate::gather::{Gathered, Gatherer, Unfinished};
use crate::selected::Tiles;
use crate::stream::Stream;
use crate::table::{Run, RunQueue, TileTable};

/// A reader that emits the cells of a fragment in stored order, and verifies the global order
/// meanwhile.
///
/// Needs no sort keys, and unfilters no data twice. The coordinates of a batch are unfiltered into
/// the result, then each cell is compared with the previous cell. A batch is emitted once no later
/// tile can hold a cell that precedes the batch's last cell. Usually the MBRs prove this. Otherwise
/// the cells of the later tile prove this, and the coordinates of further batches are unfiltered
/// earlier.
#[derive(Debug)]
pub(super) struct InOrder {
    stream: Stream,
    check: AscendingCheck,
    order: CellOrder,
    tiles: Tiles,
    /// Lower bound of the keys of each tile's cells.
    lows: Vec<u128>,
    /// Tiles not completely in a batch yet, as pairs of lower bound and index into `tiles`.
    to_come: BTreeSet<(u128, usize)>,
    /// First cells of tiles known to be in order.
    known: BTreeMap<usize, Place>,
    /// Batches with verified order.
    ready: VecDeque<Ready>,
    /// The last cell of the last batch, ready or emitted.
    last: Option<Place>,
    /// Number of tiles emitted completely, and number of emitted cells of the next tile.
    given: (usize, usize),
}

/// The key and coordinates of a cell.
#[derive(Debug)]
struct Place {
    key: u128,
    columns: CellColumns,
}

/// A batch with verified order.
#[derive(Debug)]
struct Ready {
    runs: Vec<Run>,
    batch: Unfinished,
    /// The batch's last cell.
    last: Place,
    /// Index of the last cell's tile in `tiles`, and whether the batch completes that tile.
    tile: usize,
    is_whole: bool,
}

/// Result of a step.
#[derive(Debug)]
pub(super) enum Next {
    Batch(Gathered),
    End,
    /// The cells are not in global order.
    Disorder,
}

/// A reason why a batch cannot be emitted yet.
enum Obstacle {
    /// A later tile may hold cells that precede the batch's last cell.
    Tile(usize),
    /// A later tile holds cells that precede the batch's last cell.
    Disorder,
}

impl InOrder {
    /// Creates a reader of `tiles`, which must belong to one fragment.
    pub(super) fn new(context: &Context, tiles: Tiles) -> Result<Self> {
        let schema = context.array.schema();
        let order = CellOrder::new(schema, Order::Global, &bounds(context, &tiles))?;
        let lows = context.keys_of_bounds(&order, &tiles).map(|(_, ends)| ends.map_or(0, |(low, _)| low));
        let lows: Vec<u128> = lows.collect();
        Ok(Self {
            to_come: lows.iter().copied().zip(0..).collect(),
            lows,
            stream: Stream::new(tiles.clone()),
            check: AscendingCheck::new(schema, false)?,
            order,
            tiles,
            known: BTreeMap::new(),
            ready: VecDeque::new(),
            last: None,
            given: (0, 0),
        })
    }

    /// Returns the remaining tiles. The first of these tiles may be partly emitted.
    pub(super) fn rest(&self) -> Tiles {
        let mut rest = self.tiles.get(self.given.0..).unwrap_or_default().to_vec();
        if let Some((_, tile)) = rest.first_mut() {
            // Always less than the number of cells of the tile.
            tile.given = u32::try_from(self.given.1).unwrap_or(u32::MAX);
        }
        rest
    }

    pub(super) fn next(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        queue: &mut RunQueue,
        gatherer: &mut Gatherer,
    ) -> Result<Next> {
        loop {
            // If waiting batches take too much memory, inspect the tile separately. The read then
            // unfilters the tile twice.
            let held: usize = self.ready.iter().skip(1).map(|ready| ready.batch.memory()).sum();
            let is_full = held > context.room / 8;
            let is_disordered = match self.obstacle() {
                Some(Obstacle::Disorder) => true,
                Some(Obstacle::Tile(tile)) if is_full => !self.look(context, tile)?,
                Some(Obstacle::Tile(_)) => !self.prepare(context, tiles, queue, gatherer)?,
                None if self.ready.is_empty() => {
                    let in_order = self.prepare(context, tiles, queue, gatherer)?;
                    if in_order && self.ready.is_empty() {
                        return Ok(Next::End);
                    }
                    !in_order
                }
                None => return self.give(context, tiles, gatherer),
            };
            if is_disordered {
                return Ok(Next::Disorder);
            }
        }
    }

    /// Unfilters the coordinates of the next batch, if any. Returns `false` if out of order.
    fn prepare(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        queue: &mut RunQueue,
        gatherer: &mut Gatherer,
    ) -> Result<bool> {
        if queue.is_empty() && !self.stream.fill(context, tiles, queue)? {
            // The remaining tiles hold no matching cells.
            self.to_come.clear();
            return Ok(true);
        }
        let mut runs = Vec::new();
        queue.take(tiles, context.budget, context.array.workers().threads(), &mut runs);
        let Some(last_run) = runs.last() else { return Ok(true) };
        let mut batch = Unfinished::new(context);
        let coordinates = |field: usize| context.field_of_dimension.contains(&Some(field));
        gatherer.add(context, tiles, &runs, coordinates, &mut batch)?;
        let (columns, cells) = (batch.coordinates(context), batch.len());
        let first = self.place(context, &columns, 0);
        let in_order = self.last.as_ref().is_none_or(|last| self.is_before(last, &first));
        if !in_order || !self.are_in_order(context, &columns, cells)? {
            return Ok(false);
        }
        let last = self.place(context, &columns, cells - 1);
        self.last = Some(self.place(context, &columns, cells - 1));
        let number = tiles.get(last_run.slot).tile;
        let tile = self.tiles.partition_point(|(_, tile)| tile.tile < number);
        let is_whole = queue.next_slot() != Some(last_run.slot);
        let from = self.ready.back().map_or(self.given.0, |ready| ready.tile);
        for index in from..tile + usize::from(is_whole) {
            self.to_come.remove(&(self.lows[index], index));
            self.known.remove(&index);
        }
        self.ready.push_back(Ready { runs, batch, last, tile, is_whole });
        Ok(true)
    }

    /// Returns `true` if the cells ascend.
    fn are_in_order(&self, context: &Context, columns: &[CoordinateColumn<'_>], cells: usize) -> Result<bool> {
        /// Minimum number of cells for a separate thread.
        const LEAST: usize = 16 << 10;
        let workers = context.array.workers();
        let piece = cells.div_ceil(2 * workers.threads()).max(LEAST);
        // Adjacent pieces share a cell.
        let pieces = (0..cells).step_by(piece).map(|start| start..cells.min(start + piece + 1)).collect();
        let hold =
            workers.map(16 * cells as u64, pieces, |piece, _| Ok::<_, ArrayError>(self.check.holds(columns, piece)))?;
        Ok(hold.into_iter().all(|holds| holds))
    }

    /// Returns the reason why the first batch cannot be emitted, if any.
    fn obstacle(&self) -> Option<Obstacle> {
        let (first, last) = (self.ready.front()?, self.ready.back()?);
        let may_precede = self.to_come.iter().take_while(|(low, _)| *low <= first.last.key);
        for &(_, index) in may_precede {
            let Some(place) = self.known.get(&index) else { return Some(Obstacle::Tile(index)) };
            // The remaining cells of a tile known to be in order come after all batches.
            let is_begun = index == last.tile && !last.is_whole;
            if !is_begun && !self.is_before(&first.last, place) {
                return Some(Obstacle::Disorder);
            }
        }
        None
    }

    /// Inspects all matching cells of a tile. Returns `false` if out of order.
    fn look(&mut self, context: &Context, index: usize) -> Result<bool> {
        let (source, tile) = self.tiles[index];
        let look = Look { context, source: &context.sources[source], tile: &tile, want: Want::Coordinates };
        let load = |(), scratch: &mut _| {
            let mut wanted = WantedCells::load(look, scratch)?;
            let coordinates = wanted.take_coordinates(look, false);
            wanted.fields.iter_mut().for_each(|(_, held)| context.spares.take_back(held));
            Ok::<_, ArrayError>((coordinates, wanted.len(&tile)))
        };
        let looked = context.array.workers().map(0, vec![()], load)?;
        for (coordinates, cells) in looked {
            let columns: Vec<_> = coordinates.iter().map(Coordinates::column).collect();
            if !self.are_in_order(context, &columns, cells)? {
                return Ok(false);
            }
            self.to_come.remove(&(self.lows[index], index));
            if cells > 0 {
                let first = self.place(context, &columns, 0);
                self.lows[index] = first.key;
                self.to_come.insert((first.key, index));
                self.known.insert(index, first);
            }
            coordinates.into_iter().for_each(|coordinates| context.spares.give_coordinates(coordinates));
        }
        Ok(true)
    }

    /// Emits the first batch.
    fn give(&mut self, context: &Context, tiles: &mut TileTable, gatherer: &mut Gatherer) -> Result<Next> {
        let Some(Ready { runs, mut batch, tile, is_whole, .. }) = self.ready.pop_front() else { return Ok(Next::End) };
        let others = |field: usize| !context.field_of_dimension.contains(&Some(field));
        gatherer.add(context, tiles, &runs, others, &mut batch)?;
        let before = if self.given.0 == tile { self.given.1 } else { 0 };
        let number = self.tiles[tile].1.tile;
        let of_tile = runs.iter().filter(|run| tiles.get(run.slot).tile == number).map(|run| run.len as usize);
        self.given = if is_whole { (tile + 1, 0) } else { (tile, before + of_tile.sum::<usize>()) };
        Ok(Next::Batch(gatherer.finish(context, tiles, &runs, batch)))
    }

    /// Returns the key and coordinates of a cell.
    fn place(&self, context: &Context, columns: &[CoordinateColumn<'_>], cell: usize) -> Place {
        let dimensions = context.array.schema().dimensions();
        let coordinates = dimensions.iter().zip(columns).map(|(dimension, column)| match *column {
            CoordinateColumn::Keys(keys) => Coordinates::Keys(vec![keys[cell]]),
            CoordinateColumn::Values(values) => {
                let size = dimension.datatype().size();
                let mut keys = Vec::with_capacity(1);
                ordered_keys(dimension.physical(), &values[cell * size..][..size], &mut keys);
                Coordinates::Keys(keys)
            }
            CoordinateColumn::Strings { .. } => {
                let string = column.string(cell);
                Coordinates::Strings(CellBuffers::of_strings([string]))
            }
        });
        let coordinates: Vec<_> = coordinates.collect();
        let key = self.order.keys(&coordinates, 1).first().copied().unwrap_or_default();
        Place { key, columns: self.order.columns(coordinates) }
    }

    /// Returns `true` if `a` does not come after `b`.
    fn is_before(&self, a: &Place, b: &Place) -> bool {
        let ordering = a.key.cmp(&b.key).then_with(|| self.order.compare((&a.columns, 0), (&b.columns, 0)));
        ordering.is_le()
    }
}
