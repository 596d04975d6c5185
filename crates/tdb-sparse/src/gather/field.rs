//! Unfiltering of a field of a tile.

use std::ops::Range;

use tdb_cells::TileScratch;
use tdb_snapshot::Result;

use super::unfilter::{FixedPart, fill_var, tile_len};
use crate::context::Context;
use crate::held::Held;
use crate::selected::SelectedTile;

/// Unfilters a field of a tile unless already held. For fixed-size cells, unfilters only the chunks
/// intersecting `window`.
pub(crate) fn hold_field(
    context: &Context,
    (source, tile): (usize, &SelectedTile),
    field: usize,
    window: Range<usize>,
    held: &mut Held,
    scratch: &mut TileScratch,
) -> Result<()> {
    let output = &context.fields[field];
    let tiles = context.sources[source].fields[field].as_deref();
    let cells = tile.cells as usize;
    let fixed = |part: FixedPart, scratch: &mut TileScratch| -> Result<_> {
        let mut buffer = context.spares.buffer(tile_len(context, (source, cells), field, part.size())?);
        match tiles {
            Some(tiles) => part.window(tiles, (tile.tile, cells), window.clone(), &mut buffer, scratch)?,
            None => part.fill(context, &mut buffer),
        }
        Ok(buffer)
    };
    if !held.cells.has_values() {
        match output.cell_size() {
            Some(size) => held.cells.values = fixed(FixedPart::Values { field, size }, scratch)?,
            None => {
                tile_len(context, (source, cells), field, size_of::<u64>())?;
                let mut strings = context.spares.var();
                match tiles {
                    Some(tiles) => tiles.var(tile.tile, cells, &mut strings, scratch)?,
                    None => fill_var(&output.fill, cells, &mut strings),
                }
                (held.cells.values, held.cells.offsets) = (strings.values, strings.offsets);
            }
        }
    }
    if output.nullable && held.cells.validity.is_empty() {
        held.cells.validity = fixed(FixedPart::Validity { field }, scratch)?;
    }
    Ok(())
}
