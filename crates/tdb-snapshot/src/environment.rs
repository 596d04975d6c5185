//! What writing takes from outside: the time, and random bytes.

mod system;

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::{ArrayError, Result};

/// Tells the time, by which new files are named, and up to which an array is opened unless the caller says.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    ///
    /// # Errors
    /// Whatever keeps the clock from telling.
    fn now(&self) -> io::Result<u64>;

    /// Returns when [`now`](Self::now) is `time` or later. Changing a schema alone waits, for a
    /// millisecond, where another writer has changed the schema within the same one. A clock that can't wait needs no more than
    /// this default, which is an error.
    ///
    /// # Errors
    /// Whatever keeps the caller from waiting.
    fn wait_until(&self, time: u64) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, format!("it can't wait until {time}")))
    }
}

/// Gives random bytes, which make the names of new files unique, and without which nothing is encrypted.
///
/// For encryption no two sources may ever give the same bytes with the same key: equal ones give away what was encrypted.
/// Bytes that follow from a seed are for tests.
pub trait Randomness: Send + Sync + fmt::Debug {
    /// Fills all of `bytes`.
    ///
    /// # Errors
    /// Whatever keeps the source from giving them.
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()>;
}

/// Where the time and random bytes come from: by default from the operating system.
///
/// A caller whose system has neither (a browser), or that wants the same ones again (a test, a simulation), gives others. On
/// wasm32-unknown-unknown there is no default: what needs the time or random bytes is an error then.
///
/// Clones share one count, by which names of the same millisecond are in the order in which they were made. So make one of it
/// for each clock, and give clones of it to all that is opened or made.
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
#[must_use = "it does nothing until it is given to what opens or makes something"]
pub struct Environment {
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
    /// The last tick that was given; see [`next_tick`](Self::next_tick).
    last_tick: Arc<AtomicU64>,
}

/// So many bits count within a millisecond in a UUID of version 7,
const COUNTER_BITS: u32 = 12;
/// and so many say which millisecond it is.
const TIME_BITS: u32 = 48;

impl Environment {
    /// The operating system's clock and random bytes. All in a process are clones of one.
    pub fn system() -> Self {
        static SYSTEM: OnceLock<Environment> = OnceLock::new();
        let new = || Self {
            clock: Arc::new(system::SystemClock),
            randomness: Arc::new(system::SystemRandomness),
            last_tick: Arc::default(),
        };
        SYSTEM.get_or_init(new).clone()
    }

    /// The same with another clock.
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        // What one clock has said is nothing that another has to stay behind.
        Self { clock: Arc::new(clock), last_tick: Arc::default(), ..self }
    }

    /// The same with other random bytes.
    pub fn with_randomness(self, randomness: impl Randomness + 'static) -> Self {
        Self { randomness: Arc::new(randomness), ..self }
    }

    /// Milliseconds since 1970-01-01 00:00 UTC.
    ///
    /// # Errors
    /// The clock can't tell.
    pub fn now(&self) -> Result<u64> {
        self.clock.now().map_err(|error| clock_error(error.to_string()))
    }

    /// Waits until a millisecond is over.
    ///
    /// # Errors
    /// The clock can't tell, or can't wait.
    pub fn wait_until_after(&self, time: u64) -> Result<()> {
        let next = time.saturating_add(1);
        self.clock.wait_until(next).map_err(|error| clock_error(error.to_string()))?;
        match self.now()? {
            now if now > time => Ok(()),
            now => Err(clock_error(format!("after a wait until {next} it says {now}"))),
        }
    }

    pub(crate) fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.randomness.fill(&mut bytes).map_err(|error| ArrayError::Randomness { why: error.to_string() })?;
        Ok(bytes)
    }

    /// A source of initialisation vectors for encryption: 96 bits that begin anywhere and count upwards, so that two sources
    /// of the same key meet as rarely as can be.
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

    /// A UUID of version 7 (RFC 9562): 48 bits of time, 4 of version, 12 that count within the millisecond, 2 of variant, 62
    /// random ones.
    pub fn uuid_v7(&self) -> Result<u128> {
        let ticks = u128::from(self.next_tick()?);
        let (millisecond, counter) = (ticks >> COUNTER_BITS, ticks & ((1 << COUNTER_BITS) - 1));
        let random = u128::from(u64::from_le_bytes(self.random()?) >> 2);
        Ok(millisecond << 80 | 7 << 76 | counter << 64 | 0b10 << 62 | random)
    }

    /// The current time in 4096ths of a millisecond, but always greater than the last one given: it orders what is written in
    /// the same millisecond.
    fn next_tick(&self) -> Result<u64> {
        const END: u64 = 1 << (TIME_BITS + COUNTER_BITS);
        let time = self.now()?;
        let beyond = || {
            clock_error(format!("it says {time} ms, more than the {TIME_BITS} bits that names of files have for it"))
        };
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
