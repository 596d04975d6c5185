//! Looking at all cells of a dense array once.
//!
//! Of a tile that a query wants as a whole, and that one fragment has as a whole, metadata may say enough. What nobody wrote needn't be
//! looked at either, unless it matters where it is. The cells of the other tiles are made by several threads, each of which makes
//! about a tile of them at a time, and looks at them before they leave its caches.

use std::collections::HashSet;
use std::sync::Mutex;

use tdb_cells::order::coordinates::indices;
use tdb_cells::{Column, Workers};
use tdb_query::scan::{FieldSet, Scan, ScanCells, ScanCost};
use tdb_query::{BufferPool, CheckedQuery, WhyUnknown, announce};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::Cells;

use crate::assembler::{Assembled, AssembledCells, Assembler};
use crate::cursor::{Cursor, Division, Step};
use crate::kept::KeptTiles;
use crate::layers::Layers;
use crate::planned::plan_without;
use crate::shape::{Positions, volume};
use crate::walk::{TileList, TileWalk};
use crate::work::{Origin, Work};
use crate::written::Written;
use crate::{DenseReader, Planned};

/// Has a scan look at the cells of a query.
pub fn scan<S: Scan>(query: CheckedQuery, scan: &mut S) -> Result<ScanCost> {
    let needs_cells = query.filter.is_some() || query.boxes.is_some() || !query.fields.is_empty();
    let mut reader = DenseReader::of_region(query)?;
    let mut cost = ScanCost::default();
    // How many there are needs no look at them.
    if !needs_cells && scan.add_unwritten(volume(&reader.shape.positions())) {
        return Ok(cost);
    }
    let mut known = HashSet::new();
    let mut is_done = false;
    if let Some(written) = Written::of(&mut reader, scan)? {
        let tiles = written.without_known(&mut reader, scan, &mut known)?;
        cost.known = known.len() as u64;
        cost.read = tiles.len() as u64;
        is_done = tiles.is_empty();
        let tiles = TileWalk::Some(TileList::new(written.grid, tiles));
        reader.cursor = Cursor::Tiles { tiles, bands: None };
    } else {
        reader.skip_unwritten()?;
    }
    if !is_done && !scan.may_read(WhyUnknown::PartOfTile) {
        return Ok(cost);
    }
    let is_known = |fragment: usize, tile: u64| known.contains(&(fragment, tile));
    let plan = || Ok(plan_without(&reader.query, is_known)?.0);
    let _ahead = announce(&reader.query.array, reader.query.memory.ahead, plan)?;
    reader.scan_cells(scan)?;
    Ok(cost)
}

/// Bytes of cells that one work makes at most, if they can be divided.
const MOST_WORK: u64 = 4 << 20;

impl DenseReader {
    /// Has a scan look at the cells from the cursor on.
    fn scan_cells<S: Scan>(&mut self, scan: &mut S) -> Result<()> {
        let pools = Mutex::new(Vec::new());
        let workers = self.query.array.workers().clone();
        let alone = workers.inline();
        let mut most = self.most_cells();
        while let Some(Planned { step, works, size }) = self.plan_batch(&mut most, Self::scan_division)? {
            let at_once = workers.threads().min(works.len()).max(1) as u128;
            let maker = CellMaker {
                assembler: Assembler {
                    shape: &self.shape,
                    fields: &self.fields,
                    filter: self.filter.as_ref(),
                    workers: &alone,
                },
                layers: &self.layers,
                order: &step.order,
                pools: &pools,
                allowed: (size.allowed * 5 / 2) / at_once,
            };
            let bytes = scan_works(works, &maker, (&workers, self.bytes_per_cell), scan)?;
            self.accept(step, bytes);
            most = self.most_cells();
        }
        Ok(())
    }

    /// Into how many works to divide cells, each of which is looked at on its own: about a tile each, so that no chunk is unfiltered
    /// twice.
    fn scan_division(&self, step: &Step) -> Division {
        let threads = self.query.array.workers().threads() as u128;
        let cells = step.cells();
        let share = if threads > 1 { cells / (4 * threads) } else { cells };
        let most = u128::from((MOST_WORK / self.bytes_per_cell).max(1));
        let target = u128::from(self.shape.cells_per_tile).min(share).min(most).max(self.least_cells());
        Division { works: usize::try_from(cells / target).unwrap_or(usize::MAX), least_cells: target }
    }
}

/// Has a scan look at the cells of works, of which one takes about so many bytes; how many they took.
fn scan_works<S: Scan>(
    mut works: Vec<Work>,
    maker: &CellMaker<'_>,
    (workers, bytes_per_cell): (&Workers, u64),
    scan: &mut S,
) -> Result<u128> {
    let mut bytes = 0;
    if workers.threads() == 1 || works.len() == 1 {
        for work in works {
            bytes += maker.make(work, &mut |cells| scan.add_cells(cells))?;
        }
        return Ok(bytes);
    }
    while !works.is_empty() {
        let rest = works.split_off(scan.most_parts(workers.threads()).clamp(1, works.len()));
        let wave = std::mem::replace(&mut works, rest);
        let cells = wave.iter().map(|work| work.cells.len() as u64).fold(0, u64::saturating_add);
        let seen = &*scan;
        let made = workers.map(cells.saturating_mul(bytes_per_cell), wave, |work, _| {
            let mut part = seen.part();
            let bytes = maker.make(work, &mut |cells| seen.add_to(&mut part, cells))?;
            Ok::<_, ArrayError>((part, bytes))
        })?;
        for (part, taken) in made {
            scan.add(part);
            bytes += taken;
        }
    }
    Ok(bytes)
}

/// Makes the cells of works.
struct CellMaker<'a> {
    assembler: Assembler<'a>,
    layers: &'a Layers,
    /// In which order the cells of a box come.
    order: &'a [usize],
    /// Memory for columns, of each thread.
    pools: &'a Mutex<Vec<BufferPool>>,
    /// Bytes that the cells of a work may take.
    allowed: u128,
}

impl CellMaker<'_> {
    /// Hands over the cells of a work that are wanted; how many bytes they took.
    fn make(&self, mut work: Work, each: &mut impl FnMut(&ScanCells<'_>)) -> Result<u128> {
        work.cells = 0..work.cells.len();
        let mut pool = self.pools.lock().ok().and_then(|mut pools| pools.pop()).unwrap_or_else(BufferPool::of_pieces);
        let count = work.cells.len();
        // A work is of one tile at most, and the next one may be of another.
        let mut kept = KeptTiles::default();
        let fits = |bytes: u128| count == 1 || bytes <= self.allowed;
        let assembled = self.assembler.assemble(std::slice::from_mut(&mut work), (&mut pool, &mut kept), fits)?;
        let bytes = match assembled {
            Assembled::Cells(cells) => {
                let bytes = cells.bytes;
                self.hand_over(&work, &cells, each);
                pool.lend_columns(cells.columns);
                Some(bytes)
            }
            Assembled::TooLarge(_) => None,
        };
        if let Ok(mut pools) = self.pools.lock() {
            pools.push(pool);
        }
        match bytes {
            Some(bytes) => Ok(bytes),
            None => self.halves(&work).into_iter().try_fold(0, |bytes, half| Ok(bytes + self.make(half, each)?)),
        }
    }

    /// Hands over cells, those apart that have no values of some fields.
    fn hand_over(&self, work: &Work, cells: &AssembledCells, each: &mut impl FnMut(&ScanCells<'_>)) {
        let count = work.cells.len();
        let matches = cells.matches.as_ref().filter(|matches| matches.count() < count);
        if matches.is_some_and(|matches| matches.count() == 0) {
            return;
        }
        let truth = matches.map(super::filter::Matches::truth);
        let columns: Vec<Cells<'_>> = cells.columns.iter().map(Column::cells).collect();
        let kinds = self.kinds_of_cells(work);
        if let [(left_out, _)] = &kinds[..] {
            let picked = truth.map(indices);
            return each(&ScanCells { columns: &columns, count, picked: picked.as_deref(), left_out });
        }
        for (left_out, sources) in &kinds {
            let mut mask = vec![false; count];
            for copy in sources.iter().flat_map(|source| &work.sources[*source].copies) {
                copy.runs(|_, to, len| match truth {
                    Some(truth) => mask[to..to + len].copy_from_slice(&truth[to..to + len]),
                    None => mask[to..to + len].fill(true),
                });
            }
            let picked = indices(&mask);
            if !picked.is_empty() {
                each(&ScanCells { columns: &columns, count, picked: Some(&picked), left_out });
            }
        }
    }

    /// The fields that cells have no values of, and the sources of such cells, by their places in the work.
    fn kinds_of_cells(&self, work: &Work) -> Vec<(FieldSet, Vec<usize>)> {
        let mut kinds: Vec<(FieldSet, Vec<usize>)> = Vec::new();
        if self.assembler.fields.visible() == 0 {
            return vec![(FieldSet::NONE, Vec::new())];
        }
        let mut last = None;
        // Of tiles that were ruled out no cell is wanted.
        let sources = work.sources.iter().enumerate().filter(|(_, source)| source.ruled_out.is_none());
        for (place, source) in sources {
            let kind = match last {
                Some((fragment, kind)) if fragment == source.written_by => kind,
                _ => {
                    let lacking =
                        source.written_by.map_or(FieldSet::ALL, |fragment| self.assembler.fields.lacking(fragment));
                    kinds.iter().position(|(known, _)| *known == lacking).unwrap_or_else(|| {
                        kinds.push((lacking, Vec::new()));
                        kinds.len() - 1
                    })
                }
            };
            last = Some((source.written_by, kind));
            kinds[kind].1.push(place);
        }
        kinds
    }

    /// The cells of a work as two. What isn't to be read for the one isn't for them.
    fn halves(&self, work: &Work) -> Vec<Work> {
        let ruled_out: HashSet<(usize, u64)> = work.sources.iter().filter_map(|source| source.ruled_out).collect();
        let boxes: Vec<Positions> = work.boxes.iter().map(|placed| placed.positions.clone()).collect();
        let halves = match &boxes[..] {
            [one] => cut_in_halves(one, self.order),
            _ => vec![boxes[..boxes.len() / 2].to_vec(), boxes[boxes.len() / 2..].to_vec()],
        };
        let work_of = |boxes: Vec<Positions>| {
            let mut work = Work::default();
            let shape = self.assembler.shape;
            boxes.into_iter().for_each(|positions| work.push(shape, self.layers, positions, self.order));
            work.finish();
            for source in &mut work.sources {
                let Origin::Tile { fragment, tile, .. } = source.origin else { continue };
                if ruled_out.contains(&(fragment, tile)) {
                    (source.origin, source.ruled_out) = (Origin::Fill, Some((fragment, tile)));
                }
            }
            work
        };
        halves.into_iter().map(work_of).collect()
    }
}

/// Cuts a box along its slowest dimension.
fn cut_in_halves(positions: &Positions, order: &[usize]) -> Vec<Vec<Positions>> {
    let len = |dimension: usize| positions[dimension].end - positions[dimension].start;
    let Some(dimension) = order.iter().copied().find(|dimension| len(*dimension) > 1) else {
        return vec![vec![positions.clone()]];
    };
    let middle = positions[dimension].start + len(dimension) / 2;
    let with = |range| {
        let mut half = positions.clone();
        half[dimension] = range;
        vec![half]
    };
    vec![with(positions[dimension].start..middle), with(middle..positions[dimension].end)]
}
