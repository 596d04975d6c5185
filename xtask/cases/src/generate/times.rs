//! Timestamps of writes.

use super::super::case::{Case, Step};
use super::super::overhang;
use super::super::random::Random;

/// Timestamp of the first write. Each further step follows ten milliseconds later.
pub(super) const FIRST_TIMESTAMP: u64 = 1_700_000_000_000;

/// Gives some writes the timestamp of the previous write. The random fragment names decide which
/// write wins, and both sides must read the same array.
pub(super) fn repeat(random: &mut Random, case: &mut Case) {
    if overhang::is_beyond(&case.array) {
        return;
    }
    let mut before = None;
    for step in &mut case.steps {
        let Step::Write(write) = step else { continue };
        if before.is_some() && random.percent(60) {
            write.timestamp = before;
        }
        before = write.timestamp;
    }
}
