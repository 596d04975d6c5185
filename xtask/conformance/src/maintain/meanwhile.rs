//! Maintenance by tdb during a verification or read by tdb.

use std::sync::{Arc, Mutex, PoisonError};

use tdb_array::{ErrorCategory, TimeRange};
use tdb_cases::case::Case;
use tdb_cases::history::{Deed, History, Turn};
use tdb_cases::ours::{self, describe};
use tdb_storage::{LocalStorage, Storage};
use tdb_testkit::MeanwhileStorage;
use tdb_verify::{Finding, Verify};

use super::carry_out::{self, Done};

/// Maximum number of storage operations before maintenance starts. A verification of a small array
/// needs about as many.
const OPERATIONS: u64 = 250;

type Outcome = Result<Done, String>;

/// Runs an operation with tdb. Maintenance runs in the middle of a verification or a read.
///
/// # Errors
/// Fails like [`carry_out::by_us`]. Also fails if the verification has a finding that is absent
/// before and afterwards. A read must return the same cells as before, or fail because a file is
/// gone.
pub fn by_us(history: &History, turn: &Turn, uri: &str, chance: u64) -> Outcome {
    let is_maintenance =
        matches!(turn.deed, Deed::Join(_) | Deed::Gather(..) | Deed::VacuumFragments | Deed::Vacuum(_));
    if !is_maintenance {
        return carry_out::by_us(history, turn, uri, chance);
    }
    let case = history.case();
    let outcome: Arc<Mutex<Option<Outcome>>> = Arc::default();
    let act = {
        let (history, turn, uri, outcome) = (history.clone(), turn.clone(), uri.to_owned(), outcome.clone());
        move |_: &Arc<dyn Storage>| {
            let done = carry_out::by_us(&history, &turn, &uri, chance);
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        }
    };
    // The moment depends on the turn and on the array.
    let moment = (chance.wrapping_mul(0x9e37_79b9) ^ uri_seed(history)) % OPERATIONS;
    let local: Arc<dyn Storage> = Arc::new(LocalStorage::new(uri));
    let storage: Arc<dyn Storage> = Arc::new(MeanwhileStorage::at(local.clone(), moment, act));
    match moment.is_multiple_of(2) {
        true => {
            let before = verified(&case, &local)?;
            let found = verified(&case, &storage)?;
            let after = verified(&case, &local)?;
            if let Some(other) = found.iter().find(|one| !before.contains(one) && !after.contains(one)) {
                return Err(format!("verification during maintenance: {other}"));
            }
        }
        false => {
            let before = cells(&case, &local);
            match (cells(&case, &storage), before) {
                (Ok(now), Ok(before)) if now != before => {
                    return Err(format!("{now} cells read during maintenance, {before} before"));
                }
                (Err(Some(error)), Ok(_)) => return Err(format!("read during maintenance: {error}")),
                _ => {}
            }
        }
    }
    let done = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    done.unwrap_or_else(|| carry_out::by_us(history, turn, uri, chance))
}

/// Returns a seed that depends on the history of an array.
fn uri_seed(history: &History) -> u64 {
    history
        .turns
        .iter()
        .filter_map(|turn| turn.deed.time())
        .fold(history.turns.len() as u64, |sum, time| sum.wrapping_mul(31).wrapping_add(time))
}

/// Returns a verification with the key of a case.
pub fn verification(case: &Case) -> Verify {
    Verify::new().key(case.encrypted.then(|| tdb_filters::EncryptionKey::new(*tdb_cases::case::KEY)))
}

fn verified(case: &Case, storage: &Arc<dyn Storage>) -> Result<Vec<Finding>, String> {
    let report = verification(case).threads(1).storage(storage.clone()).map_err(|error| describe(&error))?;
    let is_wrong = |finding: &Finding| finding.severity == tdb_verify::Severity::Finding;
    Ok(report.findings.into_iter().filter(is_wrong).collect())
}

/// Returns the number of cells that a reader finds. The error is `None` if a file is gone.
fn cells(case: &Case, storage: &Arc<dyn Storage>) -> Result<usize, Option<String>> {
    let read = || {
        let array = ours::options(case).threads(1).between(TimeRange::ALL).open_on(storage.clone())?;
        let mut cells = 0;
        for batch in array.read().batches()? {
            cells += batch?.len();
        }
        Ok(cells)
    };
    read().map_err(|error: tdb_array::ArrayError| {
        (error.category() != ErrorCategory::Unavailable).then(|| describe(&error))
    })
}
