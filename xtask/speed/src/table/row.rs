//! A row of the table.

use tdb_reference::TimedReads;

use super::text::{cpu_seconds, megabytes, seconds, thousands, time, time_and_speed};
use crate::workload::{Group, Limit};

/// The measurements of a workload with one thread and with all threads.
pub struct Row {
    pub name: String,
    pub group: Group,
    pub theirs: [TimedReads; 2],
    pub ours: [TimedReads; 2],
    pub limit: Option<Limit>,
}

impl Row {
    /// `true` if both sides read the same cells, with one thread and with all.
    pub fn is_same(&self) -> bool {
        let first = &self.theirs[0];
        let is_same = |side: &TimedReads| side.digest == first.digest && side.cells == first.cells;
        !first.digest.is_empty() && self.theirs.iter().chain(&self.ours).all(is_same)
    }

    /// Returns the speedup of tdb by wall time: with one thread (0) or with all threads (1).
    pub fn ratio(&self, place: usize) -> f64 {
        seconds(&self.theirs[place]) / seconds(&self.ours[place])
    }

    /// Returns the speedup of tdb by CPU time with one thread.
    pub fn cpu_ratio(&self) -> f64 {
        cpu_seconds(&self.theirs[0]) / cpu_seconds(&self.ours[0])
    }

    /// Returns the limit's time relative to tdb's CPU time.
    pub fn part_of_limit(&self) -> Option<f64> {
        self.limit.map(|limit| limit.seconds / cpu_seconds(&self.ours[0]))
    }

    /// Returns the required speedup. A lower speedup suffices if a codec of both sides takes most
    /// of the time.
    pub fn mark(&self) -> f64 {
        let codec_rules = self.limit.is_some_and(|limit| limit.is_codec) && self.part_of_limit() > Some(0.5);
        match self.group {
            Group::Files => 0.5,
            _ if codec_rules => 1.1,
            _ => 1.5,
        }
    }

    pub fn line(&self) -> String {
        let limit = match (self.limit, self.part_of_limit()) {
            (Some(limit), Some(part)) => format!("{} {:.0} %", limit.what, part * 100.0),
            _ => String::new(),
        };
        format!(
            "| {} | {} | {} | {} | **{:.1}** | {}, {} | **{:.1}** | {} | {} | **{:.1}** | {}, {} | {} | {} |",
            self.name,
            thousands(self.theirs[0].cells),
            time_and_speed(&self.theirs[0]),
            time_and_speed(&self.ours[0]),
            self.ratio(0),
            time(cpu_seconds(&self.theirs[0])),
            time(cpu_seconds(&self.ours[0])),
            self.cpu_ratio(),
            time_and_speed(&self.theirs[1]),
            time_and_speed(&self.ours[1]),
            self.ratio(1),
            megabytes(self.theirs[0].peak_memory),
            megabytes(self.ours[0].peak_memory),
            limit,
            if self.is_same() { "yes" } else { "NO" },
        )
    }
}
