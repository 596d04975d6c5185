//! A single pass over all cells of a dense array.
//!
//! Metadata may answer a tile if the query selects the whole tile and a single fragment owns the
//! tile. Unwritten cells need no visit either, unless coordinates matter. The cells of all other
//! tiles are assembled by several threads. Each thread assembles about one tile at a time and
//! passes the cells to the scan while the cells are still in the cache.

use std::collections::HashSet;
use std::sync::Mutex;

use tdb_cells::order::coordinates::indices;
use tdb_cells::{Column, Workers};
use tdb_query::scan::{FieldSet, Scan, ScanCells, ScanCost};
use tdb_query::{BufferPool, CheckedQuery, InexactReason};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::Cells;

use crate::assembler::{Assembled, AssembledCells, Assembler};
use crate::cursor::{Cursor, Division, Step};
use crate::kept::KeptTiles;
use crate::layers::Layers;
use crate::shape::{Positions, volume};
use crate::walk::{TileList, TileWalk};
use crate::work::{Origin, Work};
use crate::written::Written;
use crate::{DenseReader, Planned};

/// Passes the cells of a query to a scan.
///
/// # Errors
/// Metadata or a tile of a fragment cannot be read, or the query was cancelled.
pub fn scan<S: Scan>(query: CheckedQuery, scan: &mut S) -> Result<ScanCost> {
    let needs_cells = query.filter.is_some() || query.boxes.is_some() || !query.fields.is_empty();
    let mut reader = DenseReader::of_region(query)?;
    let mut cost = ScanCost::default();
    // A count of cells does not need the cells.
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
        reader.skip_ruled_out()?;
    }
    if !is_done && !scan.may_read(InexactReason::PartOfTile) {
        return Ok(cost);
    }
    let is_known = |fragment: usize, tile: u64| known.contains(&(fragment, tile));
    let _ahead = reader.read_ahead_without(is_known)?;
    reader.scan_cells(scan)?;
    Ok(cost)
}

/// Maximum bytes of cells per unit of work, if the cells can be divided.
const MOST_WORK: u64 = 4 << 20;

impl DenseReader {
    /// Passes the cells from the cursor on to a scan.
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

    /// Returns the division into units of about a tile. Units are scanned separately, and no chunk
    /// is unfiltered twice.
    fn scan_division(&self, step: &Step) -> Division {
        let threads = self.query.array.workers().threads() as u128;
        let cells = step.cells();
        let share = if threads > 1 { cells / (4 * threads) } else { cells };
        let most = u128::from((MOST_WORK / self.bytes_per_cell).max(1));
        let target = u128::from(self.shape.cells_per_tile).min(share).min(most).max(self.least_cells());
        Division { works: usize::try_from(cells / target).unwrap_or(usize::MAX), least_cells: target }
    }
}

/// Passes the cells of works to a scan. Each cell takes about `bytes_per_cell` bytes. Returns the
/// total bytes.
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

/// An assembler for the cells of works.
struct CellMaker<'a> {
    assembler: Assembler<'a>,
    layers: &'a Layers,
    /// Order of the cells in a box, slowest dimension first.
    order: &'a [usize],
    /// Column buffers of each thread.
    pools: &'a Mutex<Vec<BufferPool>>,
    /// Maximum bytes of the cells of a work.
    allowed: u128,
}

impl CellMaker<'_> {
    /// Passes the selected cells of a work to `each`. Halves the work if the cells take too many
    /// bytes. Returns the bytes of the cells.
    fn make(&self, mut work: Work, each: &mut impl FnMut(&ScanCells<'_>)) -> Result<u128> {
        work.cells = 0..work.cells.len();
        let mut pool = self.pools.lock().ok().and_then(|mut pools| pools.pop()).unwrap_or_else(BufferPool::of_pieces);
        let count = work.cells.len();
        // A work covers at most one tile, and the next work may cover another.
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

    /// Passes cells to `each`, with a separate call for each set of missing fields.
    fn hand_over(&self, work: &Work, cells: &AssembledCells, each: &mut impl FnMut(&ScanCells<'_>)) {
        let count = work.cells.len();
        let matches = cells.matches.as_ref().filter(|matches| matches.count < count);
        if matches.is_some_and(|matches| matches.count == 0) {
            return;
        }
        let truth = matches.map(|matches| &matches.truth[..]);
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

    /// Groups the sources of a work by missing fields. Sources are given by index.
    fn kinds_of_cells(&self, work: &Work) -> Vec<(FieldSet, Vec<usize>)> {
        let mut kinds: Vec<(FieldSet, Vec<usize>)> = Vec::new();
        if self.assembler.fields.visible == 0 {
            return vec![(FieldSet::NONE, Vec::new())];
        }
        let mut last = None;
        // Excluded tiles have no selected cells.
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

    /// Splits a work into two halves. Tiles excluded from the work stay excluded.
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
