//! Options that select a time.

use tdb_array::{TimeRange, WriteIds};
use tdb_exchange::time::{at, between, moment};

use crate::setter::with;

/// The time to read an array or group at.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct TimeArgs {
    /// Read the state as of a time: milliseconds since 1970, or a date such as 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME", value_parser = at, conflicts_with = "between")]
    at: Option<TimeRange>,

    /// Read only writes within a time range, both ends inclusive and optional
    #[arg(long, value_name = "FIRST..LAST", value_parser = between)]
    between: Option<TimeRange>,
}

impl TimeArgs {
    /// Creates the options for a time range.
    pub(crate) fn of(time: TimeRange) -> Self {
        Self { at: Some(time), between: None }
    }

    /// Returns the requested time range, or `None` for now.
    pub(crate) fn range(&self) -> Option<TimeRange> {
        self.at.or(self.between)
    }
}

/// The timestamp of a write.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Stamp {
    /// Timestamp of the write instead of now: milliseconds since 1970, or a date such as
    /// 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    timestamp: Option<u64>,
}

impl Stamp {
    /// Returns the source of the names of new files, with the requested timestamp.
    pub(crate) fn names(&self) -> WriteIds {
        with(WriteIds::new(), self.timestamp, WriteIds::at)
    }
}
