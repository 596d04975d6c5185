//! Tiles that a batch gathers from, in groups that fit into memory.

use super::layout::{BatchLayout, Use};
use crate::context::Context;
use crate::held::Held;
use crate::table::{Tile, TileTable};

/// Divides the tiles that cells of a batch come from, in their order, so that what has to be unfiltered of a field for those of
/// a group takes about as much memory as there is for cells that serve one batch only. Mostly all of them are one group.
///
/// Without that a batch of cells from everywhere would hold the whole field.
pub(super) fn groups<'a>(
    context: &Context,
    tiles: &TileTable,
    layout: &'a BatchLayout<'_>,
    bytes: impl Fn(&Use, &Tile) -> usize,
) -> Vec<&'a [Use]> {
    let mut groups = Vec::new();
    let (mut start, mut held) = (0, 0_usize);
    for (index, used) in layout.uses.iter().enumerate() {
        let more = bytes(used, tiles.get(used.slot));
        if index > start && held.saturating_add(more) > context.passing {
            groups.push(&layout.uses[start..index]);
            (start, held) = (index, 0);
        }
        held = held.saturating_add(more);
    }
    groups.push(&layout.uses[start..]);
    groups
}

/// Lets go of what was unfiltered of a field for this batch only; whether the next batches will need some of it again.
pub(super) fn let_go(context: &Context, tiles: &mut TileTable, uses: &[Use], field: usize) -> bool {
    let mut has_passing = false;
    for used in uses {
        let tile = tiles.get_mut(used.slot);
        let is_wanted = tile.is_wanted_after(used.runs);
        let held: &mut Held = &mut tile.fields[field];
        has_passing |= is_wanted && held.passing;
        if !is_wanted || held.passing {
            context.spares.take_back(held);
        }
    }
    has_passing
}
