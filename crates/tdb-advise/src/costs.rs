//! Costs of reading, and the thresholds of the advice.

use std::time::Duration;

/// Costs of reading, which determine the level and order of advice.
///
/// The defaults describe an object store in the same region over a connection of one gigabit per
/// second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// Latency of a request, even without data.
    pub request: Duration,
    /// Number of concurrent requests.
    pub at_once: u32,
    /// Transfer rate in bytes per second.
    pub transfer: u64,
    /// Unfiltering rate of one thread in bytes per second.
    pub decode: u64,
    /// Minimum saving on a full read that is worth mentioning.
    pub worth: Duration,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            // Typical time to the first byte in object stores.
            request: Duration::from_millis(30),
            // Readers request known sections and tiles together.
            at_once: 8,
            // One gigabit per second, minus protocol overhead.
            transfer: 100_000_000,
            // Rate of zstd with a shuffle filter on one thread of an ordinary machine, from
            // docs/internals/performance.md.
            decode: 1_000_000_000,
            // Users do not notice shorter waits.
            worth: Duration::from_millis(100),
        }
    }
}

/// Minimum saving of strong advice, as a multiple of [`Costs::worth`].
pub(super) const STRONG: u32 = 10;
/// Divisor for the minimum saving, which is one tenth of the total. Smaller savings disappear in
/// the variation between runs.
pub(super) const SHARE: u64 = 10;
/// Number of names per listing response of an object store.
pub(super) const NAMES_PER_LIST: u64 = 1000;
/// Size in bytes below which a tile is too small, equal to the chunk size of filters. Compressors
/// find fewer repetitions in smaller tiles, and each tile costs a request, an offset and
/// statistics.
pub(super) const SMALL_TILE: u64 = 64 << 10;
/// Minimum number of saved bytes for [weak](crate::AdviceLevel::Weak) advice on filters that halve
/// a field. This is a typical block size of file systems.
pub(super) const LARGE: u64 = 4096;
/// Filtered size, in percent of the unfiltered size, from which on a compressor only costs time.
pub(super) const RANDOM: u64 = 95;
/// Minimum improvement in percent over an earlier filter list, because earlier lists unfilter
/// faster.
pub(super) const NEARLY: u64 = 5;
/// Maximum number of distinct values for an enumeration with one-byte cells. Also the minimum
/// average number of cells per distinct value.
pub(super) const ENUMERATION: usize = 256;
/// Maximum number of fragments whose sections are read. An evenly spread selection represents a
/// larger number of fragments.
pub(super) const MOST_FRAGMENTS: usize = 64;
/// Maximum number of points for measuring overlap. The mean is accurate to a few percent.
pub(super) const PLACES: usize = 256;
/// Maximum number of decoded bytes per field in a sample.
pub(super) const SAMPLE_BYTES: u64 = 64 << 20;
/// Maximum stored size of an array whose visible cells are counted for a sample.
pub(super) const COUNTED_BYTES: u64 = 256 << 20;

impl Costs {
    /// Returns the time for a number of requests, `at_once` at a time, and for the transfer of
    /// their bytes.
    #[must_use]
    pub fn of(&self, requests: u64, bytes: u64) -> Duration {
        let requests = self.request.saturating_mul(u32::try_from(requests).unwrap_or(u32::MAX));
        (requests / self.at_once.max(1)).saturating_add(seconds(bytes, self.transfer))
    }

    /// Returns the duration of unfiltering on one thread.
    #[must_use]
    pub fn decoding(&self, bytes: u64) -> Duration {
        seconds(bytes, self.decode)
    }

    /// Returns the number of bytes transferred during the latency of a request. Smaller requests
    /// cost more latency than transfer time.
    #[must_use]
    pub fn bytes_of_a_request(&self) -> u64 {
        let bytes = u128::from(self.transfer) * self.request.as_nanos() / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX).max(1)
    }
}

fn seconds(bytes: u64, per_second: u64) -> Duration {
    let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(per_second.max(1));
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// Returns a percentage. The result is 100 if `of` is zero.
pub(super) fn percent(part: u64, of: u64) -> u64 {
    if of == 0 { 100 } else { u64::try_from(u128::from(part) * 100 / u128::from(of)).unwrap_or(u64::MAX) }
}

/// Scales a number by `part` / `of`.
pub(super) fn scaled(number: u64, part: u64, of: u64) -> u64 {
    if of == 0 { 0 } else { u64::try_from(u128::from(number) * u128::from(part) / u128::from(of)).unwrap_or(u64::MAX) }
}
