//! Ctrl-C: what is under way is cancelled, and the command says so.

use std::process;

use tdb_array::Monitor;

use crate::failure::Exit;

/// Has Ctrl-C cancel the queries of a monitor. Pressed once more, it ends the process on the spot: output may be waiting for a
/// reader that never reads.
///
/// Once in a run. Where Ctrl-C is ignored, as in the background of a shell, it stays so.
pub(crate) fn cancels(monitor: &Monitor) {
    let monitor = monitor.clone();
    calls(move || {
        if monitor.is_cancelled() {
            process::exit(Exit::Interrupted as i32);
        }
        monitor.cancel();
    });
}

/// Has Ctrl-C call a function, on a thread of its own. Once in a run.
pub(crate) fn calls(handler: impl FnMut() + Send + 'static) {
    // Without a handler Ctrl-C does what it does by itself: it ends the process.
    let _ = ctrlc::try_set_handler(handler);
}
