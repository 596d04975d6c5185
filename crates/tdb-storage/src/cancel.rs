//! Cancellation of operations.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle, cheap to clone, for cancelling an operation from any thread. Cancellation is
/// permanent.
///
/// ```
/// use tdb_storage::CancelToken;
///
/// let (token, other) = (CancelToken::new(), CancelToken::new());
/// let _hook = token.on_cancel({ let other = other.clone(); move || other.cancel() });
/// assert!(!other.is_cancelled());
/// token.clone().cancel();
/// assert!(token.is_cancelled() && other.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_cancelled: AtomicBool,
    hooks: Mutex<Hooks>,
}

type Hook = Box<dyn FnOnce() + Send>;

/// The hooks to run on cancellation, by number.
#[derive(Default)]
struct Hooks {
    next: u64,
    waiting: Vec<(u64, Hook)>,
}

/// The registration of a hook on a [token](CancelToken). Dropping the registration removes the
/// hook.
#[derive(Debug)]
#[must_use = "dropping the registration at once removes the hook"]
pub struct OnCancel {
    token: CancelToken,
    number: u64,
}

impl CancelToken {
    /// Creates an uncancelled token.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the token and runs its hooks on the calling thread.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        // The hooks run without the lock, because a hook may use this token.
        let waiting = std::mem::take(&mut self.hooks().waiting);
        waiting.into_iter().for_each(|(_, hook)| hook());
    }

    /// Returns `true` if the token is cancelled.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Relaxed)
    }

    /// Registers a short, non-blocking hook to run on cancellation. Runs it immediately if the
    /// token is already cancelled. Dropping the returned value removes the hook.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) -> OnCancel {
        let mut hooks = self.hooks();
        let number = hooks.next;
        hooks.next += 1;
        // `cancel` sets the flag before it takes the hooks. Either this check sees the flag, or
        // `cancel` takes the hook.
        if self.0.is_cancelled.load(Ordering::SeqCst) {
            drop(hooks);
            hook();
        } else {
            hooks.waiting.push((number, Box::new(hook)));
        }
        OnCancel { token: self.clone(), number }
    }

    fn hooks(&self) -> MutexGuard<'_, Hooks> {
        self.0.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OnCancel {
    fn drop(&mut self) {
        let mut hooks = self.token.hooks();
        let place = hooks.waiting.iter().position(|(number, _)| *number == self.number);
        let unused = place.map(|place| hooks.waiting.swap_remove(place));
        drop(hooks);
        // Dropped without the lock, because captured values may own hooks.
        drop(unused);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("is_cancelled", &self.is_cancelled).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn hooks_run_once_and_only_while_registered() {
        let (token, count) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
        let hook = || {
            let count = count.clone();
            token.on_cancel(move || {
                count.fetch_add(1, Ordering::Relaxed);
            })
        };
        drop(hook());
        let _first = hook();
        token.cancel();
        token.cancel();
        assert_eq!(count.load(Ordering::Relaxed), 1);
        let _late = hook();
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
