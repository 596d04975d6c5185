//! Exclusion of tiles by the query's condition.

use tdb_condition::Matches;
use tdb_query::{CheckedQuery, PrunedTiles, Pruner};
use tdb_snapshot::Result;

use crate::choice::{MOST_COMPARISONS, is_alone};
use crate::context::Context;

/// Creates the context of a read and excludes tiles by metadata. Records the reasons if `explain`
/// is `true`.
pub(super) fn context(query: CheckedQuery, explain: bool) -> Result<Context> {
    let mut context = Context::new(query)?;
    let parts = context.filter.clone();
    if parts.is_empty() {
        return Ok(context);
    }
    let deduplicates = context.must_deduplicate();
    let mut left = MOST_COMPARISONS;
    for source in 0..context.sources.len() {
        context.array.workers().check()?;
        let own = &context.sources[source];
        let schema = context.array.schema();
        let pruners: Vec<Pruner> = parts.iter().map(|part| Pruner::new(&own.fragment, schema, part)).collect();
        let (mut tiles, mut pruned_by) = (Vec::new(), Vec::new());
        for tile in &own.tiles {
            let bounds = own.mbr(tile.tile);
            let mut tile = *tile;
            let mut out = None;
            for (part, pruner) in pruners.iter().enumerate() {
                match pruner.tile(tile.tile, Some(&bounds)) {
                    Matches::None => out = Some(pruner),
                    Matches::All => tile.passes |= 1u64.checked_shl(u32::try_from(part).unwrap_or(64)).unwrap_or(0),
                    Matches::Unknown => {}
                }
            }
            // A cell that fails the condition may hide an older matching cell.
            match out.filter(|_| !deduplicates || is_alone(&context, source, &tile, &mut left)) {
                None => tiles.push(tile),
                Some(pruner) if explain => PrunedTiles::add(&mut pruned_by, pruner.reason(tile.tile, schema)),
                Some(_) => {}
            }
        }
        let own = &mut context.sources[source];
        own.pruned = own.tiles.len() - tiles.len();
        (own.tiles, own.pruned_by) = (tiles, pruned_by);
    }
    Ok(context)
}
