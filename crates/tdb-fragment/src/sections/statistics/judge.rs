//! Judgment of stored statistics by the rules of their field.

use tdb_types::{PhysicalType, Scalar, ordered_key};

use super::known::{Sum, ValueStatistics};
use super::rules::{StatisticsRules, SumKind, Values};
use super::trust::{Statistic, UntrustedReason};

/// The statistics of a tile or of the fragment, as stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    pub(super) min: Option<&'a [u8]>,
    pub(super) max: Option<&'a [u8]>,
    /// The bits of the sum.
    pub(super) sum: Option<u64>,
    pub(super) null_count: Option<u64>,
    /// The number of cells inside the non-empty domain.
    pub(super) cells: u64,
    /// `true` if the tile or fragment also has cells outside of the non-empty domain.
    pub(super) edge: bool,
    pub(super) source: Source,
}

/// The computation that produced the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A single pass over the cells.
    OnePass,
    /// A pass over each of several slabs, where each pass continues with the previous result.
    Slabs,
    /// A merge of the statistics of several tiles.
    Tiles,
}

impl Stored<'_> {
    fn edge(&self) -> Option<UntrustedReason> {
        self.edge.then_some(UntrustedReason::EdgeTile)
    }
}

impl StatisticsRules {
    pub(super) fn judge<'a>(&self, stored: &Stored<'a>) -> ValueStatistics<'a> {
        let nulls = stored.null_count.filter(|_| self.nullable);
        let bounds = match nulls {
            // Tiles without a valid cell have zeros as values.
            Some(nulls) if nulls >= stored.cells => None,
            _ => stored.min.zip(stored.max).filter(|(min, max)| self.in_order(min, max)),
        };
        let sum = stored.sum.zip(self.sum).map(|(bits, kind)| kind.of_bits(bits));
        let sum_distrust = sum.and_then(|sum| self.distrust_sum(sum, bounds, stored));
        let bound = |value: &'a [u8]| Statistic::new(value, self.distrust_bound(value, sum, sum_distrust, stored));
        ValueStatistics {
            min: bounds.map_or(Statistic::Absent, |(min, _)| bound(min)),
            max: bounds.map_or(Statistic::Absent, |(_, max)| bound(max)),
            sum: sum.map_or(Statistic::Absent, |sum| {
                Statistic::new(sum, self.all.or(sum_distrust).or_else(|| stored.edge()))
            }),
            null_count: self.judge_null_count(stored),
        }
    }

    fn judge_null_count(&self, stored: &Stored<'_>) -> Statistic<u64> {
        match stored.null_count {
            _ if !self.nullable => Statistic::Present(0),
            None => Statistic::Absent,
            Some(count) => {
                let impossible = (count > stored.cells).then_some(UntrustedReason::Impossible);
                Statistic::new(count, self.all.or(self.null_counts).or(stored.edge()).or(impossible))
            }
        }
    }

    /// Returns `true` if the minimum and maximum are in order.
    ///
    /// If no cells were counted, the reference library stores its initial values, which are in
    /// reverse order.
    fn in_order(&self, min: &[u8], max: &[u8]) -> bool {
        match self.values {
            Values::Number(physical) if physical.is_float() => {
                // The sum detects NaNs, which have no order.
                let (min, max) = (number(physical, min), number(physical, max));
                min.is_nan() || max.is_nan() || min <= max
            }
            Values::Number(physical) => ordered_key(physical, min) <= ordered_key(physical, max),
            Values::String | Values::Opaque => true,
        }
    }

    fn distrust_bound(
        &self,
        value: &[u8],
        sum: Option<Sum>,
        sum_distrust: Option<UntrustedReason>,
        stored: &Stored<'_>,
    ) -> Option<UntrustedReason> {
        let by_source = if stored.source == Source::Tiles { self.total_bounds } else { self.bounds };
        if let Some(distrust) = self.all.or(by_source) {
            return Some(distrust);
        }
        if self.cell_size.is_some_and(|size| size != value.len() as u64) {
            return Some(UntrustedReason::Impossible);
        }
        let by_value = match self.values {
            Values::Number(physical) if physical.is_float() => {
                let shows = sum_distrust.is_none() && matches!(sum, Some(Sum::F64(sum)) if !sum.is_nan());
                (!shows).then_some(UntrustedReason::MayHideNan)
            }
            Values::String => value.contains(&0).then_some(UntrustedReason::ComparedUpToNul),
            Values::Number(_) | Values::Opaque => None,
        };
        by_value.or(stored.edge())
    }

    /// Returns the reason to distrust a sum, or `None` if the sum is reliable.
    ///
    /// A sum that overflows stays at the end of the range, where it is detected. In statistics from
    /// several passes, the sum may have left the end of the range again.
    fn distrust_sum(&self, sum: Sum, bounds: Option<(&[u8], &[u8])>, stored: &Stored<'_>) -> Option<UntrustedReason> {
        let at_the_end = match sum {
            Sum::I64(sum) => sum == i64::MAX || sum == i64::MIN,
            Sum::U64(sum) => sum == u64::MAX,
            Sum::F64(sum) => sum.abs() >= f64::MAX,
        };
        let unnoticed = match (stored.source, sum) {
            (Source::OnePass, _) => false,
            // In each tile, a NaN may hide the large value that caused the overflow.
            (Source::Tiles, Sum::F64(_)) => true,
            _ => !self.stays_in_range(bounds, stored.cells),
        };
        (at_the_end || unnoticed).then_some(UntrustedReason::Saturated)
    }

    /// Returns `true` if the sum of `cells` values within `bounds` cannot overflow in any order.
    fn stays_in_range(&self, bounds: Option<(&[u8], &[u8])>, cells: u64) -> bool {
        let Values::Number(physical) = self.values else { return false };
        if physical.is_float() {
            // To leave the end of the range, a sum needs values of at least half the distance
            // between doubles there.
            const FAR_FROM_THE_END: f64 = 1e290;
            let largest = bounds.map(|(min, max)| number(physical, min).abs().max(number(physical, max).abs()));
            #[allow(clippy::cast_precision_loss)] // the product is far from the end
            return largest.is_some_and(|largest| largest * (cells as f64) < FAR_FROM_THE_END);
        }
        let largest = match physical.size() {
            8 => bounds.map(|(min, max)| magnitude(physical, min).max(magnitude(physical, max))),
            size => Some(1 << (8 * size)),
        };
        let end = if physical.is_signed_integer() { i64::MAX.cast_unsigned() } else { u64::MAX };
        largest.is_some_and(|largest| u128::from(largest) * u128::from(cells) <= u128::from(end))
    }
}

impl SumKind {
    fn of_bits(self, bits: u64) -> Sum {
        match self {
            Self::I64 => Sum::I64(bits.cast_signed()),
            Self::U64 => Sum::U64(bits),
            Self::F64 => Sum::F64(f64::from_bits(bits)),
        }
    }
}

fn number(physical: PhysicalType, bytes: &[u8]) -> f64 {
    Scalar::from_le_bytes(physical, bytes).map_or(f64::NAN, Scalar::to_f64)
}

/// Returns the absolute value of an integer.
fn magnitude(physical: PhysicalType, bytes: &[u8]) -> u64 {
    let zero = ordered_key(physical, &[0; 8]);
    ordered_key(physical, bytes).abs_diff(zero)
}
