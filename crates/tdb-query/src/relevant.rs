//! Which fragments a query has to look into at all, by what their footers say.

use std::borrow::Cow;

use tdb_condition::BoundCondition;
use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{Fragment, Result, Snapshot, prefetch_totals};

use crate::pruning::rules_out_fragment;

/// The fragments that may hold something of a query's result, and how many needn't be looked into.
#[derive(Debug)]
pub struct Relevant<'a> {
    /// Oldest first.
    pub fragments: Vec<&'a Fragment>,
    /// How many have no cell that fulfils the condition, and none that hides one.
    pub by_totals: usize,
}

/// Comparisons of boxes that are no matter: a fraction of a second.
const MOST_COMPARISONS: usize = 1 << 24;

impl<'a> Relevant<'a> {
    /// `regions` has for each dimension the ranges wanted; of `filter` all conditions must hold. `hides` says that a cell takes the
    /// place of older ones with its coordinates, unless that is known otherwise.
    ///
    /// R-trees and statistics of tiles aren't read for this, and totals only where there is a condition.
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
        // Cells that don't fulfil the condition may hide older ones that do. Those of fragments without such a cell needn't be
        // hidden.
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

/// Whether the fragment may have a cell in one of the ranges of every dimension.
pub fn may_reach(fragment: &Fragment, regions: &[Vec<DimRange>]) -> bool {
    let Some(domain) = fragment.bounds() else { return true };
    domain.0.iter().zip(regions).all(|(own, ranges)| ranges.iter().any(|range| range.intersects(own)))
}
