//! Names the case that was running when a test's closure panics.

use std::fmt::Display;

/// Runs `body`; if it panics, `describe` is written to standard error while the stack unwinds.
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
