//! When an array is looked at.

use std::time::{SystemTime, UNIX_EPOCH};

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

    /// Everything up to `end`.
    #[must_use]
    pub const fn until(end: u64) -> Self {
        Self { start: 0, end }
    }

    /// Everything up to now, so that what is dated in the future stays invisible.
    pub(crate) fn until_now() -> Self {
        Self::until(now())
    }

    /// Whether all of `start..=end` lies within.
    #[must_use]
    pub const fn contains(&self, start: u64, end: u64) -> bool {
        start >= self.start && end <= self.end
    }

    /// Whether any of `start..=end` lies within.
    #[must_use]
    pub const fn intersects(&self, start: u64, end: u64) -> bool {
        start <= self.end && end >= self.start
    }
}

/// Milliseconds since 1970-01-01 00:00 UTC.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis());
    u64::try_from(now).unwrap_or(u64::MAX)
}

impl Default for TimeRange {
    fn default() -> Self {
        Self::ALL
    }
}
