//! What others' readers do with bytes that nobody has checked.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use tdb_cli::{Exit, Failure, Result};

thread_local! {
    /// Whether a panic of this thread is caught, and told as an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Has nothing said of panics that are caught, here or by the crate for Zarr; once.
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

/// Runs what reads a file. The crates that know these formats panic at some files that are damaged, or made to harm: that is an
/// error of the file as any other.
///
/// # Errors
/// What the reader says, or that it can't go on.
pub(super) fn read<T, E: Display>(path: &Path, what: &str, read: impl FnOnce() -> Result<T, E>) -> Result<T> {
    hush();
    let caught_before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(caught_before);
    let damaged = |why: &dyn Display| {
        Failure::new(Exit::Corrupt, format!("{}: no {what} that can be read: {why}", path.display()))
    };
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(damaged(&error)),
        Err(_) => Err(damaged(&"its parts contradict one another")),
    }
}
