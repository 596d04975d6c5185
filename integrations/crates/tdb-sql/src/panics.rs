//! Conversion of panics in DataFusion and its dependencies to errors.

use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, Once, PoisonError};

use futures_util::FutureExt as _;
use tdb_cli::{Exit, Failure, Result};

/// `true` while a statement runs, on any thread.
static IS_CAUGHT: AtomicBool = AtomicBool::new(false);
/// Message of the first panic of a statement.
static SAID: Mutex<Option<String>> = Mutex::new(None);

/// Runs a future, and converts a panic to an error.
pub(crate) async fn caught<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    hush();
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = None;
    IS_CAUGHT.store(true, Relaxed);
    let result = AssertUnwindSafe(future).catch_unwind().await;
    IS_CAUGHT.store(false, Relaxed);
    result.unwrap_or_else(|_| {
        let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).take();
        let message = format!("the statement failed within DataFusion: {}", said.as_deref().unwrap_or("it panicked"));
        let hint = "leave out columns until the statement runs; a file that it reads may be damaged";
        Err(Failure::new(Exit::Unsupported, message).with_hint(hint))
    })
}

/// Installs a panic hook. During statements, the hook records messages instead of printing.
fn hush() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.load(Relaxed) {
                return before(info);
            }
            let place =
                info.location().map_or_else(String::new, |place| format!(" ({}:{})", file(place.file()), place.line()));
            let said = info.payload_as_str().unwrap_or("it panicked").lines().collect::<Vec<_>>().join(" ");
            SAID.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(format!("{said}{place}"));
        }));
    });
}

/// Shortens a source path to the crate and the file.
fn file(path: &str) -> &str {
    let parts: Vec<(usize, &str)> = path.match_indices('/').collect();
    let source = path.rfind("/src/").unwrap_or(0);
    let start = parts.iter().rev().find(|(at, _)| *at < source).map_or(0, |(at, _)| at + 1);
    &path[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_paths_are_shortened() {
        assert_eq!(
            file("/home/user/.cargo/registry/src/index-1/arrow-cast-59.3.2/src/cast.rs"),
            "arrow-cast-59.3.2/src/cast.rs"
        );
        assert_eq!(file("src/main.rs"), "src/main.rs");
    }

    #[tokio::test]
    async fn panics_of_other_threads_are_errors() {
        let task = || async {
            match tokio::spawn(async { panic!("nothing\nfits") }).await {
                Err(error) => panic::resume_unwind(error.into_panic()),
                Ok(()) => Ok(()),
            }
        };
        let error = caught(task()).await.unwrap_err();
        assert!(error.message().contains("nothing fits"), "{}", error.message());
        assert!(caught(async { Ok(7) }).await.is_ok());
    }
}
