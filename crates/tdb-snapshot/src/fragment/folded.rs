//! Statistics of a field, merged over all tiles of a fragment and cached.

use tdb_aggregate::{CellStatistics, Measured, Summary, Total};
use tdb_fragment::{Statistic, Sum, UntrustedReason, ValueStatistics};

/// Merged statistics of all tiles. The error is the reason why the statistics of the first unusable
/// tile cannot be trusted, or `None` if the statistics are missing.
pub(crate) type Known = Result<Summary, Option<UntrustedReason>>;

/// Merged statistics for each kind of aggregate.
#[derive(Debug)]
pub struct Folded {
    pub(super) count: Known,
    pub(super) sum: Known,
    pub(super) bounds: Known,
}

impl Folded {
    /// Returns the statistics for `measured`: the sum, the minimum and maximum, or only the count.
    pub fn of(&self, measured: Measured) -> &Known {
        match (measured.sum, measured.bounds) {
            (true, _) => &self.sum,
            (false, true) => &self.bounds,
            (false, false) => &self.count,
        }
    }
}

/// Adds the cells of a tile. Returns `false` if the merged statistics are unknown.
pub(super) fn add(known: &mut Known, found: &ValueStatistics<'_>, cells: u64) -> bool {
    let Ok(summary) = known else { return false };
    let is_added = reliable_statistics(found, cells).is_some_and(|statistics| summary.add_statistics(&statistics));
    if !is_added {
        *known = Err(distrust(found, summary.measured()));
    }
    is_added
}

/// Returns the trusted statistics. Returns `None` if the null count is not trusted.
pub fn reliable_statistics<'a>(statistics: &ValueStatistics<'a>, cells: u64) -> Option<CellStatistics<'a>> {
    let nulls = statistics.null_count.trusted()?;
    let total = statistics.sum.trusted().map(|sum| match sum {
        Sum::I64(sum) => Total::Signed(sum.into()),
        Sum::U64(sum) => Total::Unsigned(sum.into()),
        Sum::F64(sum) => Total::Float { sum, overflowed: false },
    });
    let bounds = statistics.min.trusted().zip(statistics.max.trusted());
    Some(CellStatistics { cells, nulls, total, bounds })
}

/// Returns the reason why existing statistics cannot be trusted for `measured`. Returns `None` if
/// no statistic is untrustworthy.
pub fn distrust(found: &ValueStatistics<'_>, measured: Measured) -> Option<UntrustedReason> {
    fn of<T: Copy>(statistic: Statistic<T>) -> Option<UntrustedReason> {
        match statistic {
            Statistic::Untrustworthy(_, why) => Some(why),
            _ => None,
        }
    }
    let by_sum = measured.sum.then_some(found.sum).and_then(of);
    let by_bounds = measured.bounds.then(|| of(found.min).or_else(|| of(found.max))).flatten();
    of(found.null_count).or(by_sum).or(by_bounds)
}
