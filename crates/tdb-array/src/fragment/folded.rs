//! What the statistics of all tiles of a field say together, worked out once and kept.

use std::sync::Arc;

use tdb_aggregate::{CellStatistics, Measured, Summary, Total, ValueKind};
use tdb_fragment::{Distrust, FragmentField, Statistic, Sum, ValueStatistics};

use super::Fragment;

/// What is known of a field's cells in all tiles, or what is wrong with the first tile that isn't known; nothing where it has no
/// statistics.
pub(crate) type Known = Result<Summary, Option<Distrust>>;

/// The same of each thing that may be asked.
#[derive(Debug)]
pub(crate) struct Folded {
    count: Known,
    sum: Known,
    bounds: Known,
}

impl Folded {
    /// What was asked for: the sum, the least and greatest value, or just how many there are.
    pub(crate) fn of(&self, measured: Measured) -> &Known {
        match (measured.sum, measured.bounds) {
            (true, _) => &self.sum,
            (false, true) => &self.bounds,
            (false, false) => &self.count,
        }
    }
}

impl Fragment {
    /// What is known of a field's cells by its tiles' statistics, whose values are of this kind.
    pub(crate) fn folded(&self, field: FragmentField, kind: ValueKind) -> Arc<Folded> {
        if let Ok(ready) = self.inner.folded.lock()
            && let Some(known) = ready.get(&field)
        {
            return known.clone();
        }
        // Nobody waits for a lock meanwhile. Two threads may both do it, and find the same.
        let found = Arc::new(self.fold(field, kind));
        if let Ok(mut ready) = self.inner.folded.lock() {
            ready.insert(field, found.clone());
        }
        found
    }

    fn fold(&self, field: FragmentField, kind: ValueKind) -> Folded {
        let new = |sum, bounds| Ok(Summary::new(kind, Measured { sum, bounds }));
        let mut folded = Folded { count: new(false, false), sum: new(true, false), bounds: new(false, true) };
        let Some(statistics) = self.statistics_of(field) else {
            return Folded { count: Err(None), sum: Err(None), bounds: Err(None) };
        };
        for tile in 0..self.tile_count() {
            let found = self.tile_statistics(&statistics, tile);
            let cells = self.cells_in_tile(tile).unwrap_or(0);
            let all = [&mut folded.count, &mut folded.sum, &mut folded.bounds];
            if all
                .into_iter()
                .map(|known| add(known, &found, cells))
                .fold(0, |left, is_known| left + u32::from(is_known))
                == 0
            {
                break;
            }
        }
        folded
    }
}

/// Adds the cells of a tile; whether it is still known.
fn add(known: &mut Known, found: &ValueStatistics<'_>, cells: u64) -> bool {
    let Ok(summary) = known else { return false };
    let is_added = relied_on(found, cells).is_some_and(|statistics| summary.add_statistics(&statistics));
    if !is_added {
        *known = Err(distrust(found, summary.measured()));
    }
    is_added
}

/// The statistics that can be relied on; `None` if nulls can't be counted.
pub(crate) fn relied_on<'a>(statistics: &ValueStatistics<'a>, cells: u64) -> Option<CellStatistics<'a>> {
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
pub(crate) fn distrust(found: &ValueStatistics<'_>, measured: Measured) -> Option<Distrust> {
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
