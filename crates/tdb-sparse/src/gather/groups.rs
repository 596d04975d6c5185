//! Division of a batch's tiles into groups, within a memory limit.

use super::layout::{BatchLayout, Use};
use crate::context::Context;
use crate::held::Held;
use crate::table::{Tile, TileTable};

/// Divides the tiles of a batch, in order, into groups. Unfiltering a field for a group takes about
/// `context.passing` bytes. Usually all tiles form a single group.
///
/// Without groups, a batch of cells scattered over the array would hold the whole field in memory.
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

/// Drops cells that no later batch needs, and cells that the memory limit allows for this batch
/// only. Returns `true` if later batches need some of the dropped cells.
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
