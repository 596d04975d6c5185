//! Runs cases, of whatever kind they are: several at the same time, each with a limit of time, and failing ones again as
//! something smaller.

mod kind;
mod running;
mod settings;
mod shared;
#[cfg(test)]
mod tests;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::thread;

use super::tally::Tally;
use shared::Shared;

pub use kind::CaseKind;
pub use settings::{Amount, Settings};

/// Runs cases, prints those that fail, and counts what came of them.
///
/// # Errors
///
/// What makes the whole run pointless: a library that can't be started, or that can make none of the cases.
pub fn run<K: CaseKind>(
    kind: K,
    amount: Amount,
    settings: &Settings,
    folder: &Path,
) -> std::result::Result<Tally, String> {
    let shared = Arc::new(Shared::new(kind, amount, settings.clone(), folder.to_owned()));
    // Not of a scope, which would wait for threads that don't come to an end.
    let threads: Vec<_> = (0..settings.jobs.max(1))
        .map(|job| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.run(job))
        })
        .collect();
    shared.watch(&threads);
    shared.into_tally()
}
