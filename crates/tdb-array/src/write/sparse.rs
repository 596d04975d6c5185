//! Cells of a sparse array in any order: sorted, cut into tiles, written.

use std::sync::Arc;
use tdb_types::saturating_len;

use super::check::{CheckedCells, CheckedColumn, check};
use super::coordinates::coordinates;
use super::fragment::FragmentWriter;
use super::order::sorted;
use super::promises::Promises;
use super::target::{EncodedTile, Run, Target};
use super::{NewCells, Settings, Written, commit};
use crate::Result;
use crate::tiles::RawTile;

/// Writes cells, in any order, as one fragment.
pub(super) fn write(target: &Arc<Target>, settings: &Settings, cells: &NewCells<'_>) -> Result<Written> {
    let cells = check(&target.schema, cells, 0, settings.any_utf8)?;
    Promises::default().follow(&target.schema, &cells, 0)?;
    if cells.len == 0 {
        return Ok(Written::default());
    }
    let (columns, ranges) = coordinates(&target.schema, &cells, 0)?;
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
    commit(target, vec![writer.seal()?], &settings.names, sorted.len() as u64)
}

/// For each field the tiles with these cells.
fn encode(target: &Target, cells: &CheckedCells<'_>, tiles: &[&[u32]]) -> Result<Vec<Vec<EncodedTile>>> {
    let count: usize = tiles.iter().map(|tile| tile.len()).sum();
    let bytes = (count * target.cell_size()) as u64;
    target.encode_tiles(bytes, tiles, |field, tile, scratch| {
        let encoder = &target.fields[field];
        let mut raw = std::mem::take(&mut scratch.raw);
        gather(&cells.fields[field], encoder.nullable, tile, &mut raw);
        let encoded = encoder.encode(&encoder.cells_of(&raw), tile.len(), Run::whole(tile.len()), scratch);
        scratch.raw = raw;
        encoded
    })
}

/// Copies some cells.
fn gather(column: &CheckedColumn<'_>, nullable: bool, cells: &[u32], tile: &mut RawTile) {
    tile.clear();
    match &column.offsets {
        None => gather_fixed(column.values, column.size, cells, &mut tile.values),
        Some(offsets) => {
            for cell in cells {
                let cell = *cell as usize;
                tile.offsets.push(tile.values.len() as u64);
                tile.values.extend_from_slice(&column.values[offsets[cell] as usize..offsets[cell + 1] as usize]);
            }
        }
    }
    if nullable {
        column.push_validity(cells.iter().map(|cell| *cell as usize), &mut tile.validity);
    }
}

fn gather_fixed(values: &[u8], size: usize, cells: &[u32], out: &mut Vec<u8>) {
    fn of<const SIZE: usize>(values: &[u8], cells: &[u32], out: &mut Vec<u8>) {
        let (values, _) = values.as_chunks::<SIZE>();
        out.resize(cells.len() * SIZE, 0);
        let (out, _) = out.as_chunks_mut::<SIZE>();
        for (out, cell) in out.iter_mut().zip(cells) {
            *out = values[*cell as usize];
        }
    }
    match size {
        1 => of::<1>(values, cells, out),
        2 => of::<2>(values, cells, out),
        4 => of::<4>(values, cells, out),
        8 => of::<8>(values, cells, out),
        _ => cells.iter().for_each(|cell| {
            let start = *cell as usize * size;
            out.extend_from_slice(&values[start..start + size]);
        }),
    }
}
