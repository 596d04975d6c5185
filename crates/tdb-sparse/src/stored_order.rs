//! Fragments whose cells don't lie in the global order.
//!
//! Where writers may have computed that order otherwise ([`may_differ`]), cells are sorted instead of merged.

use tdb_cells::order::by_writers::may_differ;
use tdb_types::Feature;

use crate::context::Context;
use crate::source::Source;

/// Whether some fragment may not have its cells in the array's global order.
pub(super) fn is_stored_otherwise(context: &Context) -> bool {
    let schema = context.array.schema();
    context.sources.iter().any(|source| may_differ(schema, source.fragment.version()) || has_loose_versions(source))
}

/// Whether the fragment may have a newer version of a cell behind an older one.
fn has_loose_versions(source: &Source) -> bool {
    source.times.is_some() && source.fragment.version().has(Feature::UnorderedVersions)
}
