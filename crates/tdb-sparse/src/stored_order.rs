//! Fragments not stored in the global order.
//!
//! Some writers computed the global order differently ([`may_differ`]). Cells of such fragments are
//! sorted instead of merged.

use tdb_cells::order::by_writers::may_differ;
use tdb_types::Feature;

use crate::context::Context;
use crate::source::Source;

/// Returns `true` if a fragment may be stored in another order than the array's global order, or
/// may store versions of a cell in any order.
pub(super) fn is_stored_otherwise(context: &Context) -> bool {
    let schema = context.array.schema();
    context.sources.iter().any(|source| may_differ(schema, source.fragment.version()) || has_loose_versions(source))
}

/// Returns `true` if the fragment may store a newer version of a cell after an older one.
fn has_loose_versions(source: &Source) -> bool {
    source.times.is_some() && source.fragment.version().has(Feature::UnorderedVersions)
}
