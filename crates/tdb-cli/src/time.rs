//! The options that say when to look at an array or group.

use tdb_array::{Names, TimeRange};
use tdb_exchange::time::{at, between, moment};

/// When to look.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TimeArgs {
    /// Look at it as it was at a time: milliseconds since 1970, or a date such as 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME", value_parser = at, conflicts_with = "between")]
    at: Option<TimeRange>,

    /// Look only at what was written between two times, both included; either may be left out
    #[arg(long, value_name = "FIRST..LAST", value_parser = between)]
    between: Option<TimeRange>,
}

impl TimeArgs {
    /// That time.
    pub(crate) fn of(time: TimeRange) -> Self {
        Self { at: Some(time), between: None }
    }

    /// The time asked for; none for now.
    pub(crate) fn range(&self) -> Option<TimeRange> {
        self.at.or(self.between)
    }
}

/// When something is said to be written.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Stamp {
    /// Say that it is written at a time other than now: milliseconds since 1970, or a date such as 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    timestamp: Option<u64>,
}

impl Stamp {
    /// Where the names of new files come from.
    pub(crate) fn names(&self) -> Names {
        match self.timestamp {
            Some(time) => Names::new().at(time),
            None => Names::new(),
        }
    }
}
