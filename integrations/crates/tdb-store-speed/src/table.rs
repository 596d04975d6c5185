//! Result table.

use crate::place::Place;
use crate::task::{Measured, Task};

/// A table row.
pub(crate) struct Row {
    pub(crate) task: Task,
    pub(crate) fragments: u32,
    /// Additional delay of each response, in milliseconds.
    pub(crate) delay: u64,
    pub(crate) reference: Measured,
    pub(crate) ours: Measured,
}

/// Required speedup at a delay of `MARKED` milliseconds.
const MARK: f64 = 3.0;
const MARKED: u64 = 30;

pub(crate) fn heading(place: &Place) -> String {
    format!(
        "On {}.\n\n| delay | operation | requests: reference, tdb | round trips: reference, tdb | time: reference, tdb | ratio |\n\
         | --: | --- | --: | --: | --: | --: |",
        place.server()
    )
}

impl Row {
    fn ratio(&self) -> f64 {
        self.reference.seconds / self.ours.seconds
    }

    pub(crate) fn line(&self) -> String {
        let Self { delay, reference, ours, .. } = self;
        format!(
            "| {delay} ms | {} | {}, {} | {}, {} | {}, {} | **{:.1}** |",
            self.task.name(self.fragments),
            reference.requests,
            ours.requests,
            reference.round_trips,
            ours.round_trips,
            time(reference.seconds),
            time(ours.seconds),
            self.ratio()
        )
    }

    /// Returns the missed targets.
    pub(crate) fn missed(&self) -> Vec<String> {
        let name = format!("{} at {} ms", self.task.name(self.fragments), self.delay);
        let mut missed = Vec::new();
        if self.ours.requests > self.reference.requests {
            missed.push(format!("{name}: {} requests instead of {}", self.ours.requests, self.reference.requests));
        }
        if self.delay == MARKED && self.ratio() < MARK && !self.task.is_of_bytes() {
            missed.push(format!("{name}: {:.1} times as fast, not {MARK}", self.ratio()));
        }
        missed
    }
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}
