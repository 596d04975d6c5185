//! Aggregates of a field.

use tdb_types::{Cells, with_physical};

use crate::blocks::{for_each_block, for_each_cell, null_count};
use crate::bounds::Bounds;
use crate::kind::{Measured, ValueKind};
use crate::number::{Number, Partial, widen};
use crate::statistics::CellStatistics;
use crate::total::Total;

/// The aggregates of a field: counts of values and nulls, and, if measured, the sum, minimum and
/// maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    kind: ValueKind,
    measured: Measured,
    values: u64,
    nulls: u64,
    total: Total,
    bounds: Bounds,
}

impl Summary {
    /// Creates the summary of no cells. Does not measure aggregates that values of this kind do not
    /// have.
    #[must_use]
    pub fn new(kind: ValueKind, measured: Measured) -> Self {
        let total = kind.number().map_or(Total::Unsigned(0), Total::zero);
        Self { kind, measured: measured.of(kind), values: 0, nulls: 0, total, bounds: Bounds::default() }
    }

    /// Returns the number of non-null values.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Returns the number of nulls.
    #[must_use]
    pub fn nulls(&self) -> u64 {
        self.nulls
    }

    /// Returns the sum of the values, or 0 if not measured.
    #[must_use]
    pub fn total(&self) -> Total {
        self.total
    }

    /// Returns the minimum and maximum, in little-endian bytes. Returns `None` if there are no
    /// values, or if not measured.
    #[must_use]
    pub fn bounds(&self) -> Option<(&[u8], &[u8])> {
        self.bounds.get()
    }

    /// Returns the measured aggregates.
    #[must_use]
    pub fn measured(&self) -> Measured {
        self.measured
    }

    /// Adds all cells, or the cells with indices `picked`. Cells of numbers must have the size of
    /// the type.
    pub fn add(&mut self, cells: &Cells<'_>, picked: Option<&[u32]>) {
        let (values, nulls) = match (self.kind.number(), self.measured) {
            (_, Measured::COUNT) => {
                let all = picked.map_or(cells.len(), <[u32]>::len) as u64;
                let nulls = null_count(self.kind, cells, picked);
                (all - nulls, nulls)
            }
            (Some(physical), _) => {
                with_physical!(physical, N => self.add_numbers::<N>(cells, picked))
            }
            (None, _) => {
                let (kind, bounds) = (self.kind, &mut self.bounds);
                for_each_cell(cells, picked, |cell| bounds.add(kind, cell, cell))
            }
        };
        self.values = self.values.saturating_add(values);
        self.nulls = self.nulls.saturating_add(nulls);
    }

    fn add_numbers<N: Number>(&mut self, cells: &Cells<'_>, picked: Option<&[u32]>) -> (u64, u64) {
        let Self { kind, measured, total, bounds, .. } = self;
        let mut found: Option<(N, N)> = None;
        let mut nan = None;
        let counts = for_each_block::<N>(cells, picked, kind.null(), |block| {
            if measured.sum {
                total.add(N::sum(block).into_total(*total));
            }
            if measured.bounds {
                match (N::bounds(block), &mut found) {
                    (Some((min, max)), Some(found)) => {
                        found.0 = if min < found.0 { min } else { found.0 };
                        found.1 = if max > found.1 { max } else { found.1 };
                    }
                    (Some(block), found) => *found = Some(block),
                    (None, _) => nan = block.first().copied(),
                }
            }
        });
        if let Some((min, max)) = found.or(nan.map(|nan| (nan, nan))) {
            bounds.add(*kind, min.to_bytes().as_ref(), max.to_bytes().as_ref());
        }
        counts
    }

    /// Adds a cell `count` times. `None` is null.
    pub fn add_repeated(&mut self, cell: Option<&[u8]>, count: u64) {
        if count == 0 {
            return;
        }
        let Some(cell) = cell.filter(|cell| !self.kind.is_null(cell)) else {
            self.nulls = self.nulls.saturating_add(count);
            return;
        };
        self.values = self.values.saturating_add(count);
        if let (Some(physical), true) = (self.kind.number(), self.measured.sum) {
            self.total.add(widen(physical, cell).into_total(self.total).times(count));
        }
        if self.measured.bounds {
            self.bounds.add(self.kind, cell, cell);
        }
    }

    /// Adds cells by their statistics. Returns `false` and adds no cells if the statistics lack a
    /// measured value or count more nulls than cells.
    ///
    /// Statistics of dates and times need bounds, even if bounds are not measured, unless all cells
    /// are null. If both bounds are NaT, all cells count as null. If only the minimum is NaT, the
    /// number of NaTs is unknown, and the result is `false`.
    #[must_use]
    pub fn add_statistics(&mut self, known: &CellStatistics<'_>) -> bool {
        if self.kind != ValueKind::Time || known.cells == known.nulls {
            return self.add_known(known);
        }
        let Some((min, max)) = known.bounds else { return false };
        match (self.kind.is_null(min), self.kind.is_null(max)) {
            (false, _) => self.add_known(known),
            (true, true) => self.add_known(&CellStatistics { nulls: known.cells, ..*known }),
            (true, false) => false,
        }
    }

    /// Adds statistics that count NaT as null.
    #[must_use]
    pub(crate) fn add_known(&mut self, known: &CellStatistics<'_>) -> bool {
        let Some(values) = known.cells.checked_sub(known.nulls) else { return false };
        let is_missing =
            (self.measured.sum && known.total.is_none()) || (self.measured.bounds && known.bounds.is_none());
        if values > 0 && is_missing {
            return false;
        }
        self.nulls = self.nulls.saturating_add(known.nulls);
        self.values = self.values.saturating_add(values);
        if values > 0 {
            if let (Some(total), true) = (known.total, self.measured.sum) {
                self.total.add(total);
            }
            if let (Some((min, max)), true) = (known.bounds, self.measured.bounds) {
                self.bounds.add(self.kind, min, max);
            }
        }
        true
    }

    /// Adds the cells of another summary of the same field.
    pub fn merge(&mut self, other: &Self) {
        self.values = self.values.saturating_add(other.values);
        self.nulls = self.nulls.saturating_add(other.nulls);
        self.total.add(other.total);
        if let Some((min, max)) = other.bounds.get() {
            self.bounds.add(self.kind, min, max);
        }
    }

    /// Returns the heap memory of the summary in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bounds.memory()
    }
}

impl Partial {
    /// Converts to a total of the same kind as `like`.
    pub(crate) fn into_total(self, like: Total) -> Total {
        match (self, like) {
            (Self::Integer(sum), Total::Signed(_)) => Total::Signed(sum),
            (Self::Integer(sum), _) => Total::Unsigned(sum),
            (Self::Float { sum, overflowed }, _) => Total::Float { sum, overflowed },
        }
    }
}
