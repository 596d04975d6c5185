//! Ctrl-C ends the statement that runs.

use std::future::Future;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futures_util::future::{Either, select};
use tdb_cli::{Context, Exit, Failure, Result};
use tokio::sync::Notify;

/// Says when somebody presses Ctrl-C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    pressed: Arc<Notify>,
    /// Whether a statement is to end, and hasn't yet.
    ending: Arc<AtomicBool>,
}

impl Interrupts {
    /// From now on. Pressed again before a statement has ended, it ends the process: output may be waiting for a reader that
    /// never reads.
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

    /// What a future comes to, unless somebody presses Ctrl-C first: then it is dropped, which ends what it has begun.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.ending.store(false, Relaxed);
        let mut pressed = std::pin::pin!(self.pressed.notified());
        // From here on, and not from the first look at it on.
        pressed.as_mut().enable();
        let result = match select(std::pin::pin!(future), pressed).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(Failure::new(Exit::Interrupted, "interrupted")),
        };
        self.ending.store(false, Relaxed);
        result
    }
}
