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

/// The same, also of a `SIGTERM`: for what writes a file beside its place, to be removed unless it is finished.
pub(crate) fn ends(monitor: &Monitor) {
    cancels(monitor);
    #[cfg(unix)]
    terminates(monitor.clone());
}

/// Has a `SIGTERM` cancel queries, and a second one end the process.
#[cfg(unix)]
fn terminates(monitor: Monitor) {
    use signal_hook::consts::SIGTERM;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // Without a handler the signal ends the process, as it does by itself.
    let Ok(mut signals) = Signals::new([SIGTERM]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if monitor.is_cancelled() {
                let _ = emulate_default_handler(signal);
            }
            monitor.cancel();
        }
    });
}

/// Has Ctrl-C call a function, on a thread of its own. Once in a run.
pub(crate) fn calls(handler: impl FnMut() + Send + 'static) {
    // Without a handler Ctrl-C does what it does by itself: it ends the process.
    let _ = ctrlc::try_set_handler(handler);
}
