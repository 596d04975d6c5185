//! The operating system's clock and random bytes, on targets with an operating system.

use std::io;

use super::{Clock, Randomness};

#[derive(Debug)]
pub(super) struct SystemClock;

#[derive(Debug)]
pub(super) struct SystemRandomness;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod present {
    use std::thread;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::{Clock, Randomness, SystemClock, SystemRandomness, io};

    /// The maximum number of sleeps. A sleep ends too early if the clock is set back meanwhile.
    const SLEEPS: usize = 4;

    impl Clock for SystemClock {
        fn now(&self) -> io::Result<u64> {
            // A clock that was never set may show a time before 1970.
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).map_err(io::Error::other)
        }

        fn wait_until(&self, time: u64) -> io::Result<()> {
            let first = self.now()?;
            for _ in 0..SLEEPS {
                match time.saturating_sub(self.now()?) {
                    0 => break,
                    left => thread::sleep(Duration::from_millis(left.min(time.saturating_sub(first)))),
                }
            }
            Ok(())
        }
    }

    impl Randomness for SystemRandomness {
        fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
            getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
        }
    }
}

/// On this target the clock of the standard library panics, and no source of random bytes exists.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod absent {
    use super::{Clock, Randomness, SystemClock, SystemRandomness, io};

    fn absent<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "not available on this target; pass a source in `Environment`"))
    }

    impl Clock for SystemClock {
        fn now(&self) -> io::Result<u64> {
            absent()
        }
    }

    impl Randomness for SystemRandomness {
        fn fill(&self, _: &mut [u8]) -> io::Result<()> {
            absent()
        }
    }
}
