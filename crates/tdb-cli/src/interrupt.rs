//! Ctrl-C and other signals, which cancel the running work.

use std::process;

use tdb_array::Monitor;

use crate::failure::Exit;

/// Makes Ctrl-C cancel the queries of a monitor. A second Ctrl-C ends the process immediately,
/// since output may wait for a reader that never reads.
///
/// Only the first call in a process has an effect. If the process ignores Ctrl-C, as in the
/// background of a shell, Ctrl-C stays ignored.
pub(crate) fn cancels(monitor: &Monitor) {
    let monitor = monitor.clone();
    calls(move || {
        if monitor.is_cancelled() {
            process::exit(Exit::Interrupted as i32);
        }
        monitor.cancel();
    });
}

/// Makes Ctrl-C, `SIGTERM` and `SIGHUP` cancel a command that writes a temporary file or folder.
/// The command removes the file before the process ends. A second signal does not skip the removal.
/// `SIGHUP` stays ignored under `nohup`.
pub(crate) fn ends(monitor: &Monitor) {
    let on_interrupt = monitor.clone();
    calls(move || on_interrupt.cancel());
    #[cfg(unix)]
    terminates(monitor.clone());
}

/// Makes `SIGTERM` cancel queries, and also `SIGHUP` if the process is known not to ignore it.
#[cfg(unix)]
fn terminates(monitor: Monitor) {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    use signal_hook::iterator::Signals;

    // Without a handler, signals keep their default action.
    let Ok(mut signals) = Signals::new([SIGTERM]) else { return };
    if is_ignored(SIGHUP) == Some(false) {
        let _ = signals.add_signal(SIGHUP);
    }
    std::thread::spawn(move || signals.forever().for_each(|_| monitor.cancel()));
}

/// Returns `true` if the process ignores a signal, or `None` on systems without `/proc`.
#[cfg(unix)]
fn is_ignored(signal: i32) -> Option<bool> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? >> (signal - 1) & 1 == 1)
}

/// Calls a function on a separate thread when Ctrl-C is pressed. Only the first call in a process
/// has an effect.
pub(crate) fn calls(handler: impl FnMut() + Send + 'static) {
    // Without a handler, Ctrl-C ends the process.
    let _ = ctrlc::try_set_handler(handler);
}
