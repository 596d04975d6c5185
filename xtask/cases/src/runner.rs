//! Runs cases of any kind in parallel, with a timeout per case, and shrinks failing cases.

mod kind;
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

pub use kind::{CaseKind, Run};
pub use settings::{Amount, Settings};

/// Runs cases, prints failing cases, and counts the results.
///
/// # Errors
/// Fails if the library cannot be started or cannot create any of the cases.
pub fn run<K: CaseKind>(kind: K, amount: Amount, settings: &Settings, folder: &Path) -> Result<Tally, String> {
    let shared = Arc::new(Shared::new(kind, amount, settings.clone(), folder.to_owned()));
    // A scope would wait for threads that never end.
    let threads: Vec<_> = (0..settings.jobs.max(1))
        .map(|job| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.run(job))
        })
        .collect();
    shared.watch(&threads);
    shared.into_tally()
}
