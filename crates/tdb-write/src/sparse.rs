//! Writing of sparse cells in any order: sort, divide into tiles, encode.

use std::ops::Range;
use std::sync::Arc;

use tdb_cells::WriteBatch;
use tdb_snapshot::Result;
use tdb_types::saturating_len;

use crate::check::{CheckedCells, check};
use crate::coordinates::coordinates;
use crate::encoder::{EncodedTile, Run};
use crate::fragment::FragmentWriter;
use crate::order::sorted;
use crate::promises::Promises;
use crate::target::Target;
use crate::windows::{EncodedWindow, append_all};
use crate::{SealedFragment, Settings, Written, commit};

/// Writes cells in any order as one fragment.
pub(super) fn write(target: &Arc<Target>, settings: &Settings, cells: &WriteBatch<'_>) -> Result<Written> {
    match seal(target, settings, cells, 0)? {
        Some(Sealed { fragment, kept, .. }) => commit(target, vec![fragment], &settings.names, kept),
        None => Ok(Written::default()),
    }
}

/// A written fragment that is not committed.
pub(super) struct Sealed {
    pub(super) fragment: SealedFragment,
    /// Number of given cells.
    pub(super) given: u64,
    /// Number of cells in the fragment, without the duplicates that were dropped.
    pub(super) kept: u64,
}

/// Writes cells in any order as one uncommitted fragment. Returns `None` if there are no cells.
/// Error messages number the cells from `first`.
pub(super) fn seal(
    target: &Arc<Target>,
    settings: &Settings,
    cells: &WriteBatch<'_>,
    first: u64,
) -> Result<Option<Sealed>> {
    let cells = check(&target.schema, cells, first, settings.any_utf8)?;
    Promises::default().follow(&target.schema, &cells, first)?;
    if cells.len == 0 {
        return Ok(None);
    }
    let workers = target.array.workers();
    let (columns, ranges) = coordinates(&target.schema, workers, &cells, first)?;
    let duplicates = settings.duplicates(&target.schema)?;
    let sorted = sorted(&target.schema, workers, columns, &ranges, duplicates, cells.len)?;
    let mut writer = FragmentWriter::sparse(target, &settings.names)?;
    let capacity = saturating_len(target.schema.capacity());
    let tiles: Vec<&[u32]> = sorted.chunks(capacity).collect();
    let window = settings.window(target, &cells, capacity.min(cells.len));
    append_all(target, &mut writer, (window, tiles.chunks(window.tiles)), |part| {
        Ok(EncodedWindow {
            tiles: encode(target, &cells, part, first)?,
            lens: part.iter().map(|tile| tile.len()).collect(),
        })
    })?;
    Ok(Some(Sealed { fragment: writer.seal()?, given: cells.len as u64, kept: sorted.len() as u64 }))
}

/// Encodes tiles for each field. A tile is a list of cell numbers.
fn encode(target: &Target, cells: &CheckedCells<'_>, tiles: &[&[u32]], first: u64) -> Result<Vec<Vec<EncodedTile>>> {
    let count: usize = tiles.iter().map(|tile| tile.len()).sum();
    let bytes = (count * target.cell_size()) as u64;
    target.encode_tiles(bytes, tiles, |field, tile, scratch| {
        let encoder = &target.fields[field];
        let number = |cell: usize| Some(first + u64::from(*tile.get(cell)?));
        if let Some(range) = consecutive(tile) {
            let cells = cells.fields[field].cells.slice(range);
            return encoder.encode(&cells, Run::whole(tile.len()), scratch).map_err(|error| error.of_cell(number));
        }
        let mut gathered = std::mem::take(&mut scratch.cells);
        gathered.clear();
        gathered.push_some(&cells.fields[field].cells, tile, encoder.nullable);
        let encoded = encoder.encode(&gathered.cells(encoder.size), Run::whole(tile.len()), scratch);
        scratch.cells = gathered;
        encoded.map_err(|error| error.of_cell(number))
    })
}

/// Returns the cells of a tile as a range if they are consecutive in the input. Consecutive cells
/// need no copy.
fn consecutive(tile: &[u32]) -> Option<Range<usize>> {
    let first = *tile.first()?;
    let is_next = |(cell, number): (&u32, u32)| first.checked_add(number) == Some(*cell);
    tile.iter().zip(0..).all(is_next).then(|| first as usize..first as usize + tile.len())
}

#[cfg(test)]
mod tests {
    use super::consecutive;

    #[test]
    fn consecutive_cells_form_a_range() {
        assert_eq!(consecutive(&[7, 8, 9]), Some(7..10));
        assert_eq!(consecutive(&[7, 8, 10]), None);
        assert_eq!(consecutive(&[8, 7]), None);
        assert_eq!(consecutive(&[u32::MAX]), Some(u32::MAX as usize..u32::MAX as usize + 1));
        assert_eq!(consecutive(&[u32::MAX, 0]), None);
        assert_eq!(consecutive(&[]), None);
    }
}
