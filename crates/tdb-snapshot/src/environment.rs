//! Sources of time and random bytes.

mod system;

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::{ArrayError, Result};

/// A clock, for the timestamps in names of new files and for the default time of opening an array.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the milliseconds since 1970-01-01 00:00 UTC.
    ///
    /// # Errors
    /// The clock cannot be read.
    fn now(&self) -> io::Result<u64>;

    /// Blocks until [`now`](Self::now) is at least `time`. Only schema evolution waits, for one
    /// millisecond, if another writer has changed the schema in the same millisecond. The default
    /// implementation, for clocks unable to wait, returns an error.
    ///
    /// # Errors
    /// The caller cannot wait.
    fn wait_until(&self, time: u64) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, format!("waiting until {time} is not supported")))
    }
}

/// A source of random bytes, for unique names of new files and for encryption.
///
/// With encryption, two sources must never yield the same bytes for the same key: repeated bytes
/// reveal the encrypted data. Use seeded bytes for tests only.
pub trait Randomness: Send + Sync + fmt::Debug {
    /// Fills all of `bytes`.
    ///
    /// # Errors
    /// The source cannot provide random bytes.
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// The source of time and random bytes, by default the operating system.
///
/// Callers replace the default on systems without clock or random bytes (a browser), and for
/// reproducible values (a test, a simulation). On wasm32-unknown-unknown there is no default:
/// operations that need time or random bytes fail.
///
/// Clones share a counter to order names of the same millisecond by creation. Create a single
/// environment for each clock, and pass clones to all opened and created arrays.
///
/// ```
/// use std::io;
/// use tdb_snapshot::{Clock, Environment, Options, Snapshot};
///
/// #[derive(Debug)]
/// struct Noon;
///
/// impl Clock for Noon {
///     fn now(&self) -> io::Result<u64> {
///         Ok(1_700_000_000_000)
///     }
/// }
///
/// let environment = Environment::system().with_clock(Noon);
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
/// let array: Snapshot = Options::new().environment(environment).open(folder)?;
/// assert_eq!(array.time().end, 1_700_000_000_000);
/// # Ok::<(), tdb_snapshot::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "an environment has no effect until passed to the options of an array or group"]
pub struct Environment {
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
    /// The last tick returned. See [`next_tick`](Self::next_tick).
    last_tick: Arc<AtomicU64>,
}

/// Bits in a UUID version 7 for the counter within a millisecond.
const COUNTER_BITS: u32 = 12;
/// Bits in a UUID version 7 for the millisecond.
const TIME_BITS: u32 = 48;

impl Environment {
    /// Returns the operating system's clock and random bytes. All calls in a process return clones
    /// of the same environment.
    pub fn system() -> Self {
        static SYSTEM: OnceLock<Environment> = OnceLock::new();
        let new = || Self {
            clock: Arc::new(system::SystemClock),
            randomness: Arc::new(system::SystemRandomness),
            last_tick: Arc::default(),
        };
        SYSTEM.get_or_init(new).clone()
    }

    /// Replaces the clock.
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        // Ticks of the previous clock do not constrain the new clock.
        Self { clock: Arc::new(clock), last_tick: Arc::default(), ..self }
    }

    /// Replaces the source of random bytes.
    pub fn with_randomness(self, randomness: impl Randomness + 'static) -> Self {
        Self { randomness: Arc::new(randomness), ..self }
    }

    /// Returns the milliseconds since 1970-01-01 00:00 UTC.
    ///
    /// # Errors
    /// The clock cannot be read.
    pub fn now(&self) -> Result<u64> {
        self.clock.now().map_err(|error| clock_error(error.to_string()))
    }

    /// Waits until the millisecond `time` has passed.
    ///
    /// # Errors
    /// The clock cannot be read, or cannot wait.
    pub fn wait_until_after(&self, time: u64) -> Result<()> {
        let next = time.saturating_add(1);
        self.clock.wait_until(next).map_err(|error| clock_error(error.to_string()))?;
        match self.now()? {
            now if now > time => Ok(()),
            now => Err(clock_error(format!("found time {now} after waiting until {next}"))),
        }
    }

    pub(crate) fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.randomness.fill(&mut bytes).map_err(|error| ArrayError::Randomness { why: error.to_string() })?;
        Ok(bytes)
    }

    /// Returns a source of initialization vectors for encryption. The vectors count upwards from 96
    /// random bits, so that two sources for the same key rarely collide.
    ///
    /// # Errors
    /// Random bytes are not available.
    pub fn random_ivs(&self) -> Result<impl FnMut() -> [u8; 12] + Send + Sync + 'static> {
        let mut start = [0; 16];
        start.iter_mut().zip(self.random::<12>()?).for_each(|(byte, random)| *byte = random);
        let mut next = u128::from_le_bytes(start);
        Ok(move || {
            next = next.wrapping_add(1);
            let [iv @ .., _, _, _, _] = next.to_le_bytes();
            iv
        })
    }

    /// Returns a UUID of version 7 (RFC 9562): 48 bits of time, 4 of version, 12 of counter within
    /// the millisecond, 2 of variant, 62 random.
    ///
    /// # Errors
    /// The clock or random bytes are not available, or the time exceeds 48 bits.
    pub fn uuid_v7(&self) -> Result<u128> {
        let ticks = u128::from(self.next_tick()?);
        let (millisecond, counter) = (ticks >> COUNTER_BITS, ticks & ((1 << COUNTER_BITS) - 1));
        let random = u128::from(u64::from_le_bytes(self.random()?) >> 2);
        Ok(millisecond << 80 | 7 << 76 | counter << 64 | 0b10 << 62 | random)
    }

    /// Returns the current time in 4096ths of a millisecond, or the tick after the last tick if
    /// that is later. Ticks order files written in the same millisecond.
    fn next_tick(&self) -> Result<u64> {
        const END: u64 = 1 << (TIME_BITS + COUNTER_BITS);
        let time = self.now()?;
        let beyond =
            || clock_error(format!("found {time} ms, expected a time that fits the {TIME_BITS} bits in file names"));
        let now = time.checked_mul(1 << COUNTER_BITS).ok_or_else(beyond)?;
        let next = |last: u64| Some(now.max(last + 1)).filter(|next| *next < END);
        let last = self.last_tick.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).map_err(|_| beyond())?;
        Ok(now.max(last + 1))
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::system()
    }
}

#[cold]
fn clock_error(why: String) -> ArrayError {
    ArrayError::Clock { why }
}

#[cfg(test)]
mod tests;
