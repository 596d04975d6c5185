//! Writes the array of a case with tdb.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tdb_types::FormatVersion;

use super::case::{Case, Step};
use super::ours::{self, Manner};
use super::their_errors::their_failure;
use super::verdict::{Failure, Kind, Verdict};
use super::writer::carry_out;
use tdb_reference::{Reference, Result};

/// Writes the array. The library does only the consolidation.
///
/// # Errors
/// Fails if the library's process cannot be started.
pub fn write(
    case: &Case,
    (index, version): (u64, FormatVersion),
    reference: &mut Reference,
    uri: &str,
) -> Result<Option<Verdict>> {
    if let Some(failure) = by_us("create", || ours::create(uri, case, version)) {
        return Ok(Some(Verdict::Failed(failure)));
    }
    for (number, step) in (0..).zip(&case.steps) {
        if matches!(step, Step::Consolidate(_) | Step::Vacuum(_)) {
            if let Err(error) = carry_out(step, reference, uri) {
                return Ok(Some(their_failure(case, None, &error)));
            }
            continue;
        }
        let manner = Manner::by(index.wrapping_mul(31).wrapping_add(number));
        if let Some(failure) = by_us(&format!("step {number}"), || ours::carry_out(step, case, uri, manner)) {
            return Ok(Some(Verdict::Failed(failure)));
        }
    }
    Ok(None)
}

/// Runs an operation of tdb. Returns a failure if it fails or panics.
pub fn by_us(what: &str, act: impl FnOnce() -> std::result::Result<(), String>) -> Option<Failure> {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Failure::new(Kind::OurError, format!("{what}: {error}"))),
        Err(_) => Some(Failure::new(Kind::OurPanic, format!("tdb panicked: {what}"))),
    }
}
