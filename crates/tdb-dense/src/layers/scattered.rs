//! Sparse fragments of dense arrays. Releases before 2.3 wrote single cells of a dense array as a
//! sparse fragment.

use tdb_cells::TileScratch;
use tdb_fragment::FragmentField;
use tdb_snapshot::{ArrayError, Fragment, Result, Snapshot};
use tdb_types::{Buffer, ordered_keys};

use super::layer::{Layer, TilePlace};

/// Maximum number of cells in a sparse fragment of a dense array, to bound memory. Each cell is a
/// separate [`Layer`] of about 150 bytes.
const MOST_CELLS: u64 = 1 << 15;

/// Adds a layer for each cell of a sparse fragment.
pub(super) fn add_layers(
    array: &Snapshot,
    index: usize,
    fragment: &Fragment,
    lows: &[u64],
    layers: &mut Vec<Layer>,
) -> Result<()> {
    let file = || array.storage().describe(fragment.folder());
    let cells = fragment.footer().tiles().cell_count();
    if cells > MOST_CELLS {
        let what = format!("{cells} cells in a sparse fragment of a dense array exceed the limit of {MOST_CELLS}");
        return Err(ArrayError::Unsupported { file: file(), what });
    }
    let dimensions = array.schema().dimensions();
    let mut scratch = TileScratch::with_limits(*array.limits());
    for tile in 0..fragment.tile_count() {
        let cells = fragment.footer().cells_in_tile(tile).unwrap_or(0);
        let mut coordinates = Vec::with_capacity(dimensions.len());
        for (dimension, low) in lows.iter().enumerate() {
            let mut values = Buffer::new();
            // `MOST_CELLS` bounds this allocation, at up to 8 bytes per cell.
            values.resize(cells as usize * dimensions[dimension].datatype().size());
            fragment.tiles_of(FragmentField::Dimension(dimension))?.fixed(tile, &mut values, &mut scratch)?;
            let mut keys = Vec::with_capacity(cells as usize);
            ordered_keys(dimensions[dimension].physical(), &values, &mut keys);
            let (_, high) = dimensions[dimension].domain_keys().unwrap_or_default();
            if keys.iter().any(|key| !(*low..=high).contains(key)) {
                let what = format!("tile {tile} has cells outside of dimension {:?}", dimensions[dimension].name());
                return Err(ArrayError::Corrupt { file: file(), what });
            }
            coordinates.push(keys);
        }
        for cell in 0..cells {
            let at = coordinates.iter().zip(lows).map(|(keys, low)| keys[cell as usize] - low);
            layers.push(Layer::cell(index, TilePlace { tile, cells, cell: Some(cell) }, at));
        }
    }
    Ok(())
}
