//! Writes the array of a case with tdb.

use tdb_types::FormatVersion;

use super::case::{Case, Step};
use super::ours::{self, Manner};
use super::their_errors::their_failure;
use super::verdict::{End, by_us};
use super::writer::carry_out;
use tdb_reference::Reference;

/// Writes the array. The library does only the consolidation.
///
/// # Errors
/// Returns the verdict on the case if either side fails.
pub fn write(
    case: &Case,
    (index, version): (u64, FormatVersion),
    reference: &mut Reference,
    uri: &str,
) -> Result<(), End> {
    by_us("create", || ours::create(uri, case, version))?;
    for (number, step) in (0..).zip(&case.steps) {
        if matches!(step, Step::Consolidate(_) | Step::Vacuum(_)) {
            carry_out(step, reference, uri).map_err(|error| their_failure(case, None, &error))?;
            continue;
        }
        let manner = Manner::by(index.wrapping_mul(31).wrapping_add(number));
        by_us(&format!("step {number}"), || ours::carry_out(step, case, uri, manner))?;
    }
    Ok(())
}
