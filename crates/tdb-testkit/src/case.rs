//! Output of the current case when a test panics.

use std::fmt::Display;

/// Runs `body`. If it panics, prints `describe()` to standard error during unwinding.
pub(crate) fn run<D: Display>(describe: impl Fn() -> D, body: impl FnOnce()) {
    struct OnPanic<F: Fn() -> D, D: Display>(F);
    impl<F: Fn() -> D, D: Display> Drop for OnPanic<F, D> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("the case that panicked: {}", (self.0)());
            }
        }
    }
    let _on_panic = OnPanic(describe);
    body();
}
