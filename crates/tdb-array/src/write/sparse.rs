//! Cells of a sparse array in any order: sorted, cut into tiles, written.

use std::sync::Arc;
use tdb_types::saturating_len;

use super::check::{CheckedCells, check};
use super::coordinates::coordinates;
use super::encoder::{EncodedTile, Run};
use super::fragment::FragmentWriter;
use super::order::sorted;
use super::promises::Promises;
use super::target::Target;
use super::{NewCells, SealedFragment, Settings, Written, commit};
use crate::Result;

/// Writes cells, in any order, as one fragment.
pub(super) fn write(target: &Arc<Target>, settings: &Settings, cells: &NewCells<'_>) -> Result<Written> {
    match seal(target, settings, cells, 0)? {
        Some(Sealed { fragment, kept, .. }) => commit(target, vec![fragment], &settings.names, kept),
        None => Ok(Written::default()),
    }
}

/// A fragment that isn't committed.
pub(super) struct Sealed {
    pub(super) fragment: SealedFragment,
    /// How many cells were given.
    pub(super) given: u64,
    /// How many of them it has.
    pub(super) kept: u64,
}

/// Writes cells, in any order, as one fragment that isn't committed; none of no cells. Errors count cells from `first` on.
pub(super) fn seal(
    target: &Arc<Target>,
    settings: &Settings,
    cells: &NewCells<'_>,
    first: u64,
) -> Result<Option<Sealed>> {
    let cells = check(&target.schema, cells, first, settings.any_utf8)?;
    Promises::default().follow(&target.schema, &cells, first)?;
    if cells.len == 0 {
        return Ok(None);
    }
    let (columns, ranges) = coordinates(&target.schema, &cells, first)?;
    let duplicates = settings.duplicates(&target.schema);
    let workers = target.array.workers();
    let sorted = sorted(&target.schema, workers, columns, &ranges, duplicates, cells.len)?;
    let mut writer = FragmentWriter::sparse(target, &settings.names)?;
    let capacity = saturating_len(target.schema.capacity());
    let tiles: Vec<&[u32]> = sorted.chunks(capacity).collect();
    for window in tiles.chunks(settings.window(target, &cells, capacity.min(cells.len))) {
        let encoded = encode(target, &cells, window)?;
        let lens: Vec<usize> = window.iter().map(|tile| tile.len()).collect();
        writer.append(encoded, &lens)?;
    }
    Ok(Some(Sealed { fragment: writer.seal()?, given: cells.len as u64, kept: sorted.len() as u64 }))
}

/// For each field the tiles with these cells.
fn encode(target: &Target, cells: &CheckedCells<'_>, tiles: &[&[u32]]) -> Result<Vec<Vec<EncodedTile>>> {
    let count: usize = tiles.iter().map(|tile| tile.len()).sum();
    let bytes = (count * target.cell_size()) as u64;
    target.encode_tiles(bytes, tiles, |field, tile, scratch| {
        let encoder = &target.fields[field];
        let mut gathered = std::mem::take(&mut scratch.cells);
        gathered.clear();
        gathered.push_some(&cells.fields[field].cells, tile, encoder.nullable);
        let encoded = encoder.encode(&gathered.cells(encoder.size), Run::whole(tile.len()), scratch);
        scratch.cells = gathered;
        encoded
    })
}
