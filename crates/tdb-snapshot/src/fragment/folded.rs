//! What the statistics of all tiles of a field say together, worked out once and kept.

use tdb_aggregate::{CellStatistics, Measured, Summary, Total};
use tdb_fragment::{Distrust, Statistic, Sum, ValueStatistics};

/// What is known of a field's cells in all tiles, or what is wrong with the first tile that isn't known; nothing where it has no
/// statistics.
pub(crate) type Known = Result<Summary, Option<Distrust>>;

/// The same of each thing that may be asked.
#[derive(Debug)]
pub struct Folded {
    pub(super) count: Known,
    pub(super) sum: Known,
    pub(super) bounds: Known,
}

impl Folded {
    /// What was asked for: the sum, the least and greatest value, or just how many there are.
    pub fn of(&self, measured: Measured) -> &Known {
        match (measured.sum, measured.bounds) {
            (true, _) => &self.sum,
            (false, true) => &self.bounds,
            (false, false) => &self.count,
        }
    }
}

/// Adds the cells of a tile; whether it is still known.
pub(super) fn add(known: &mut Known, found: &ValueStatistics<'_>, cells: u64) -> bool {
    let Ok(summary) = known else { return false };
    let is_added = reliable_statistics(found, cells).is_some_and(|statistics| summary.add_statistics(&statistics));
    if !is_added {
        *known = Err(distrust(found, summary.measured()));
    }
    is_added
}

/// The statistics that can be relied on; `None` if nulls can't be counted.
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

/// Why what is measured can't be relied on, if it is there.
pub fn distrust(found: &ValueStatistics<'_>, measured: Measured) -> Option<Distrust> {
    fn of<T: Copy>(statistic: Statistic<T>) -> Option<Distrust> {
        match statistic {
            Statistic::Untrustworthy(_, why) => Some(why),
            _ => None,
        }
    }
    let by_sum = measured.sum.then_some(found.sum).and_then(of);
    let by_bounds = measured.bounds.then(|| of(found.min).or_else(|| of(found.max))).flatten();
    of(found.null_count).or(by_sum).or(by_bounds)
}
