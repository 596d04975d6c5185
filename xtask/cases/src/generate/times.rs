//! When cells are written.

use super::super::case::{Case, Step};
use super::super::overhang;
use super::super::random::Random;

/// The time of the first write; each further step comes ten milliseconds later.
pub(super) const FIRST_TIMESTAMP: u64 = 1_700_000_000_000;

/// Has some writes happen at the time of the one before, as careless programs do. Which of two such writes counts depends on the
/// random names of their fragments, so that both sides must read the same array.
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
