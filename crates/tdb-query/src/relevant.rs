//! The fragments relevant to a query, according to footers and totals.

use std::borrow::Cow;

use tdb_condition::BoundCondition;
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{Fragment, Result, Snapshot, prefetch_totals};

use crate::pruning::rules_out_fragment;

/// The fragments with possible results of a query, and the number of skipped fragments.
#[derive(Debug)]
pub struct Relevant<'a> {
    /// The relevant fragments, oldest first.
    pub fragments: Vec<&'a Fragment>,
    /// The number of skipped fragments in the ranges. Their cells neither meet the condition nor
    /// hide cells that meet the condition.
    pub by_totals: usize,
}

/// The maximum number of box comparisons, which take a fraction of a second.
const MOST_COMPARISONS: usize = 1 << 24;

impl<'a> Relevant<'a> {
    /// Selects the relevant fragments. `regions` has the ranges for each dimension. All conditions
    /// in `filter` must hold. With `hides`, a cell replaces older cells with the same coordinates.
    ///
    /// Reads no R-trees and no tile statistics. Reads totals only if there are conditions.
    ///
    /// # Errors
    /// The fragments of the array, or their totals, cannot be read.
    pub fn of(array: &'a Snapshot, regions: &[Vec<DimRange>], filter: &[BoundCondition], hides: bool) -> Result<Self> {
        let all = array.fragments()?;
        let mut fragments: Vec<&Fragment> = all.iter().filter(|fragment| may_reach(fragment, regions)).collect();
        if filter.is_empty() {
            return Ok(Self { fragments, by_totals: 0 });
        }
        prefetch_totals((&**array.storage(), array.workers()), &fragments)?;
        let schema = array.schema();
        let is_out = |fragment: &Fragment| filter.iter().any(|part| rules_out_fragment(fragment, schema, part));
        let out: Vec<bool> = fragments.iter().map(|fragment| is_out(fragment)).collect();
        // A cell that does not meet the condition may hide an older cell that meets the condition.
        // A fragment without a matching cell is needed only if it may hide cells of another
        // fragment.
        let others = fragments.iter().zip(&out).filter(|(_, out)| hides && !**out);
        let others: Vec<Option<Cow<'_, NdRange>>> = others.map(|(fragment, _)| fragment.bounds()).collect();
        let is_costly = others.len().saturating_mul(fragments.len()) > MOST_COMPARISONS;
        let stands_alone = |fragment: &Fragment| {
            let own = fragment.bounds();
            let meets = |other: &Option<Cow<'_, NdRange>>| {
                own.as_ref().zip(other.as_ref()).is_none_or(|(own, other)| own.intersects(other))
            };
            others.is_empty() || !is_costly && !others.iter().any(meets)
        };
        let before = fragments.len();
        let mut out = out.into_iter();
        fragments.retain(|fragment| !(out.next() == Some(true) && stands_alone(fragment)));
        let by_totals = before - fragments.len();
        Ok(Self { fragments, by_totals })
    }
}

/// Returns `true` if the fragment may have a cell in the ranges of all dimensions.
pub fn may_reach(fragment: &Fragment, regions: &[Vec<DimRange>]) -> bool {
    let Some(domain) = fragment.bounds() else { return true };
    domain.0.iter().zip(regions).all(|(own, ranges)| ranges.iter().any(|range| range.intersects(own)))
}
