//! Calls of format libraries on untrusted files.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use tdb_cli::{Exit, Failure, Result};

thread_local! {
    /// `true` while a panic of this thread is converted to an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Silences caught panics, here and in tdb-zarr. Runs once.
pub(super) fn hush() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() && !tdb_zarr::is_caught() {
                before(info);
            }
        }));
    });
}

/// Runs a reader. The format crates panic on some damaged or malicious files, so converts panics to
/// errors of the file.
///
/// # Errors
/// The reader fails or panics.
pub(super) fn read<T, E: Display>(path: &Path, what: &str, read: impl FnOnce() -> Result<T, E>) -> Result<T> {
    hush();
    let caught_before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(caught_before);
    let damaged =
        |why: &dyn Display| Failure::new(Exit::Corrupt, format!("{}: not a valid {what}: {why}", path.display()));
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(damaged(&error)),
        Err(_) => Err(damaged(&"its parts contradict each other")),
    }
}
