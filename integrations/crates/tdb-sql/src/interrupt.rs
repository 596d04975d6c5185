//! Cancellation of the running statement by Ctrl-C.

use std::future::Future;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futures_util::future::{Either, select};
use tdb_cli::{Context, Exit, Failure, Result};
use tokio::sync::Notify;

/// Receives Ctrl-C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    pressed: Arc<Notify>,
    /// `true` while a cancelled statement has not ended yet.
    ending: Arc<AtomicBool>,
}

impl Interrupts {
    /// Installs the handler. A second Ctrl-C before the statement has ended exits the process,
    /// because output may block on a stalled reader.
    pub(crate) fn new(context: &Context) -> Self {
        let interrupts = Self::default();
        let of_handler = interrupts.clone();
        context.on_interrupt(move || {
            if of_handler.ending.swap(true, Relaxed) {
                process::exit(Exit::Interrupted as i32);
            }
            of_handler.pressed.notify_waiters();
        });
        interrupts
    }

    /// Runs a future until Ctrl-C. Ctrl-C drops the future, and thereby cancels its work.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.ending.store(false, Relaxed);
        let mut pressed = std::pin::pin!(self.pressed.notified());
        // Registers now rather than on the first poll.
        pressed.as_mut().enable();
        let result = match select(std::pin::pin!(future), pressed).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(Failure::new(Exit::Interrupted, "interrupted")),
        };
        self.ending.store(false, Relaxed);
        result
    }
}
