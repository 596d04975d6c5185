//! A single pass over all cells of a sparse array.
//!
//! A tile that does not depend on cells of another tile is scanned directly after unfiltering, by
//! several threads at once. If metadata suffices, the tile is not read at all. The cells of all
//! other tiles arrive in batches, as in a normal read.

use std::sync::Mutex;

use tdb_cells::TileScratch;
use tdb_query::scan::{FieldSet, KnownTile, Scan, ScanCells, ScanCost, add_batch};
use tdb_query::{CheckedQuery, InexactReason, announce};
use tdb_snapshot::Result;
use tdb_types::Cells;

use crate::cells::{Look, Want, WantedCells};
use crate::choice::{self, Choice};
use crate::context::Context;
use crate::gather::hold_field;
use crate::held::Held;
use crate::plan::scan_plan;
use crate::selected::SelectedTile;
use crate::stream::needs_look;
use crate::table::cell_bytes;
use crate::{SparseReader, prune};

/// Passes the cells of a query to a scan.
///
/// # Errors
/// Metadata or a tile of a fragment cannot be read, or the query was cancelled.
pub fn scan<S: Scan>(query: CheckedQuery, scan: &mut S) -> Result<ScanCost> {
    let bytes_ahead = query.memory.ahead;
    let context = prune::context(query, false)?;
    let mut choice = Choice::of(&context)?;
    let tiles = std::mem::take(&mut choice.streamed);
    let mut cost = ScanCost::default();

    let known: Vec<Option<S::Known>> = context.sources.iter().map(|source| scan.known(&source.fragment)).collect();
    let mut tiles: Vec<(usize, SelectedTile, FieldSet)> = tiles
        .into_iter()
        .map(|(source, tile)| {
            let known = known[source].as_ref().filter(|_| !needs_look(&context, source, &tile));
            let asked = KnownTile { tile: tile.tile, cells: tile.cells.into(), partly: true };
            let added = known.map_or(FieldSet::NONE, |known| scan.add_known(known, asked));
            (source, tile, added)
        })
        .collect();
    let all = tiles.len();
    tiles.retain(|(.., added)| !added.is_all());
    cost.known = (all - tiles.len()) as u64;
    cost.read = (tiles.len() + choice.merged.len() + choice.sorted.len()) as u64;

    if cost.read > 0 && !scan.may_read(why_read(&context, &tiles)) {
        return Ok(cost);
    }
    let _ahead = announce(&context.array, bytes_ahead, || scan_plan(&context, &tiles, &choice))?;
    let workers = context.array.workers();
    if workers.threads() == 1 {
        let scan = Mutex::new(&mut *scan);
        workers.for_each(0, tiles, |(source, tile, added), scratch| {
            let add = |cells: &ScanCells<'_>| {
                if let Ok(mut scan) = scan.lock() {
                    scan.add_cells(cells);
                }
            };
            with_tile(&context, (source, &tile, &added), scratch, add).map(drop)
        })?;
    } else {
        for wave in tiles.chunks(scan.most_parts(workers.threads()).max(1)) {
            let bytes = wave.iter().map(|(source, tile, _)| {
                (cell_bytes(&context, *source, tile.tile, tile.cells) as u64).saturating_mul(tile.cells.into())
            });
            let bytes = bytes.fold(0, u64::saturating_add);
            let seen = &*scan;
            let parts = workers.map(bytes, wave.iter().collect(), |(source, tile, added), scratch| {
                with_tile(&context, (*source, tile, added), scratch, |cells| {
                    let mut part = seen.part();
                    seen.add_to(&mut part, cells);
                    part
                })
            })?;
            parts.into_iter().flatten().for_each(|part| scan.add(part));
        }
    }

    if !choice.merged.is_empty() || !choice.sorted.is_empty() {
        let engine = choice::engine(&context, choice)?;
        let mut reader = SparseReader::of(context, None, engine);
        while let Some(batch) = reader.next_batch()? {
            add_batch(scan, &batch);
        }
    }
    Ok(cost)
}

/// Returns the reason why tiles must be read: a reason of an individual tile, or else overlap.
fn why_read(context: &Context, tiles: &[(usize, SelectedTile, FieldSet)]) -> InexactReason {
    let look = tiles.iter().find(|(source, tile, _)| needs_look(context, *source, tile));
    match look.map(|(source, tile, _)| (&context.sources[*source], tile)) {
        Some((_, tile)) if !tile.full => InexactReason::PartOfTile,
        Some((source, _)) if source.is_time_limited => InexactReason::Times,
        Some((source, _)) if source.deletions.is_some() || context.filter.is_empty() => InexactReason::Deletes,
        Some(_) => InexactReason::Condition,
        None if tiles.is_empty() => InexactReason::Overlap,
        None => InexactReason::NoStatistics,
    }
}

/// Passes the matching cells of a tile to `each`, without the fields in `added`. Returns `None` if
/// no cell matches.
fn with_tile<R>(
    context: &Context,
    (source, tile, added): (usize, &SelectedTile, &FieldSet),
    scratch: &mut TileScratch,
    each: impl FnOnce(&ScanCells<'_>) -> R,
) -> Result<Option<R>> {
    let mut wanted = WantedCells::default();
    if needs_look(context, source, tile) {
        let look = Look { context, source: &context.sources[source], tile, want: Want::Cells };
        wanted = WantedCells::load(look, scratch)?;
    }
    let window = match wanted.kept.as_deref() {
        None => 0..tile.cells as usize,
        Some([]) => {
            wanted.fields.iter_mut().for_each(|(_, held)| context.spares.take_back(held));
            return Ok(None);
        }
        Some([first, .., last]) => *first as usize..*last as usize + 1,
        Some([one]) => *one as usize..*one as usize + 1,
    };
    let mut fields: Vec<Held> = Vec::new();
    fields.resize_with(context.fields.len(), Held::default);
    for (field, held) in wanted.fields {
        fields[field] = held;
    }
    for (field, held) in fields.iter_mut().enumerate().filter(|(field, _)| !added.contains(*field)) {
        hold_field(context, (source, tile), field, window.clone(), held, scratch)?;
    }
    let columns = fields.iter().zip(&context.fields);
    let columns: Vec<Cells<'_>> =
        columns.map(|(held, output)| held.cells.cells(output.cell_size().unwrap_or(1))).collect();
    let count = tile.cells as usize;
    let result = each(&ScanCells { columns: &columns, count, picked: wanted.kept.as_deref(), left_out: added });
    fields.iter_mut().for_each(|held| context.spares.take_back(held));
    Ok(Some(result))
}
