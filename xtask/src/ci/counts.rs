//! Compares instruction counts of key paths with the counts in the repository.

use tdb_speed::count::{self, Counted};

use super::apt;
use super::report::Outcome;
use crate::cargo::{has_program, show};

/// Counts and compares. Prints a prominent message if no comparison is possible, because a disabled
/// check must not look like a passed check.
pub fn run() -> Outcome {
    if !has_program("valgrind") {
        apt::install("valgrind");
    }
    match count::compare(None) {
        Ok(Counted::Passed) => Outcome::Passed,
        // The cargo alias builds this program with optimizations.
        Ok(Counted::Unoptimised) => show(&["xtask", "ci", "counts"], &[]).into(),
        Ok(Counted::Skipped(why)) => {
            println!("NOTHING WAS COMPARED: {why}");
            Outcome::Skipped(format!("NOTHING WAS COMPARED: {why}"))
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
