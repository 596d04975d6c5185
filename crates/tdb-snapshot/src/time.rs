//! Time ranges for opening arrays.

/// An inclusive range of milliseconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// The first millisecond.
    pub start: u64,
    /// The last millisecond.
    pub end: u64,
}

impl TimeRange {
    /// All of time.
    pub const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Returns the range of all times up to `end`.
    #[must_use]
    pub const fn until(end: u64) -> Self {
        Self { start: 0, end }
    }

    /// Returns `true` if all of `start..=end` is in the range.
    #[must_use]
    pub const fn contains(&self, start: u64, end: u64) -> bool {
        start >= self.start && end <= self.end
    }

    /// Returns `true` if any part of `start..=end` is in the range.
    #[must_use]
    pub const fn intersects(&self, start: u64, end: u64) -> bool {
        start <= self.end && end >= self.start
    }
}

impl Default for TimeRange {
    fn default() -> Self {
        Self::ALL
    }
}
