//! Reading cells as they lie in a fragment, as long as that is the order asked for.

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

/// Gives the cells of a fragment as they lie there, and makes sure that this is their order.
///
/// No keys are made, and nothing is unfiltered twice: the coordinates of a batch are unfiltered to where they stay, and then
/// each cell is compared with the one before it. A batch is given away when it is certain that nothing belongs before its
/// last cell: when the tiles to come begin behind that cell, as far as their MBRs show, or their own cells. Mostly the
/// next batch's coordinates, which have to be looked at anyway, are enough for that.
#[derive(Debug)]
pub(super) struct InOrder {
    stream: Stream,
    check: AscendingCheck,
    order: CellOrder,
    tiles: Tiles,
    /// The least key that a cell of each tile can have.
    lows: Vec<u128>,
    /// The same for tiles that aren't in a batch yet as a whole, each with its place among the tiles.
    to_come: BTreeSet<(u128, usize)>,
    /// The first cells of tiles that are known to be in order.
    known: BTreeMap<usize, Place>,
    /// Batches whose coordinates are known and in order.
    ready: VecDeque<Ready>,
    /// The place of the last of their cells, or of the last one that was given away.
    last: Option<Place>,
    /// Tiles of which all cells were given away, and how many of the next one were.
    given: (usize, usize),
}

/// Where a cell lies.
#[derive(Debug)]
struct Place {
    key: u128,
    columns: CellColumns,
}

/// A batch whose coordinates are known and in order.
#[derive(Debug)]
struct Ready {
    runs: Vec<Run>,
    batch: Unfinished,
    /// The last cell's place.
    last: Place,
    /// The place of its tile among the tiles, and whether that tile has no more cells.
    tile: usize,
    is_whole: bool,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    Batch(Gathered),
    End,
    /// The cells are in no order.
    Disorder,
}

/// What is between a batch and giving it away.
enum Obstacle {
    /// A tile to come may have cells that belong before the batch's last one.
    Tile(usize),
    /// A tile has such cells.
    Disorder,
}

impl InOrder {
    /// `tiles` are of one fragment.
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

    /// The tiles of which not all cells were given away. Those that were are the first ones of all.
    pub(super) fn rest(&self) -> Tiles {
        let mut rest = self.tiles.get(self.given.0..).unwrap_or_default().to_vec();
        if let Some((_, tile)) = rest.first_mut() {
            // Fewer than the tile has.
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
            // Where that takes too much memory, tiles are looked at for themselves, and then unfiltered once more.
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

    /// Unfilters the coordinates of the next batch, if there is one; whether they are in order.
    fn prepare(
        &mut self,
        context: &Context,
        tiles: &mut TileTable,
        queue: &mut RunQueue,
        gatherer: &mut Gatherer,
    ) -> Result<bool> {
        if queue.is_empty() && !self.stream.fill(context, tiles, queue)? {
            // Tiles that are left have none of the wanted cells.
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

    /// Whether each of some cells comes after the one before it.
    fn are_in_order(&self, context: &Context, columns: &[CoordinateColumn<'_>], cells: usize) -> Result<bool> {
        /// Fewer cells aren't worth a thread.
        const LEAST: usize = 16 << 10;
        let workers = context.array.workers();
        let piece = cells.div_ceil(2 * workers.threads()).max(LEAST);
        // Pieces have a cell in common.
        let pieces = (0..cells).step_by(piece).map(|start| start..cells.min(start + piece + 1)).collect();
        let hold =
            workers.map(16 * cells as u64, pieces, |piece, _| Ok::<_, ArrayError>(self.check.holds(columns, piece)))?;
        Ok(hold.into_iter().all(|holds| holds))
    }

    /// What the first batch has to wait for.
    fn obstacle(&self) -> Option<Obstacle> {
        let (first, last) = (self.ready.front()?, self.ready.back()?);
        let may_precede = self.to_come.iter().take_while(|(low, _)| *low <= first.last.key);
        for &(_, index) in may_precede {
            let Some(place) = self.known.get(&index) else { return Some(Obstacle::Tile(index)) };
            // What is left of a tile in order comes after what is in batches.
            let is_begun = index == last.tile && !last.is_whole;
            if !is_begun && !self.is_before(&first.last, place) {
                return Some(Obstacle::Disorder);
            }
        }
        None
    }

    /// Looks at all wanted cells of a tile; whether they are in order.
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

    /// Gives the first batch away.
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

    /// The place of a cell.
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

    /// Whether one place doesn't come behind another.
    fn is_before(&self, a: &Place, b: &Place) -> bool {
        let ordering = a.key.cmp(&b.key).then_with(|| self.order.compare((&a.columns, 0), (&b.columns, 0)));
        ordering.is_le()
    }
}
