//! What reading costs: the one place for the numbers that advice rests on.

use std::time::Duration;

/// What reading costs where an array lies, by which advice is weighed and put in order.
///
/// The defaults are those of an object store in the same region, over a line of one gigabit. They are few, and everything that
/// is called too much, too small or too large follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// How long an answer takes, however small it is.
    pub request: Duration,
    /// How many requests are on their way at once.
    pub at_once: u32,
    /// Bytes that arrive in a second.
    pub transfer: u64,
    /// Bytes that one thread unfilters in a second.
    pub decode: u64,
    /// What saves less than this whenever all of the array is read isn't worth saying.
    pub worth: Duration,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            // What object stores take to send the first byte of a small answer.
            request: Duration::from_millis(30),
            // What readers ask for together where they know what they will want: sections of fragments, and tiles.
            at_once: 8,
            // One gigabit in a second, less what protocols take.
            transfer: 100_000_000,
            // What zstd behind a shuffle gives on one thread of an ordinary machine: docs/performance.md.
            decode: 1_000_000_000,
            // What people don't notice: shorter waits seem to be none.
            worth: Duration::from_millis(100),
        }
    }
}

/// What is ten times as long as what nobody notices makes people wait: that is the line between two levels of advice.
pub(super) const STRONG: u32 = 10;
/// A saving of less than a tenth of what it is a part of is lost among what differs from one run to the next.
pub(super) const SHARE: u64 = 10;
/// Names in one answer of an object store that lists a folder.
pub(super) const NAMES_PER_LIST: u64 = 1000;
/// Filters work on chunks of so many bytes: tiles of fewer give compressors less to find repetitions in, and cost a request,
/// an offset and statistics each all the same.
pub(super) const SMALL_TILE: u64 = 64 << 10;
/// Other filters that save half of a field's bytes are worth a word however short the wait, if they are so many: file systems store
/// files in blocks of about this size.
pub(super) const LARGE: u64 = 4096;
/// Compressors that leave more than this of 100 bytes only cost time.
pub(super) const RANDOM: u64 = 95;
/// A list of filters that comes after another must be smaller by so many percent to be preferred: the earlier ones unfilter
/// faster.
pub(super) const NEARLY: u64 = 5;
/// Different values up to which cells refer to an enumeration by one byte.
pub(super) const ENUMERATION: usize = 256;
/// Most fragments whose sections are read; of more an even choice stands for all.
pub(super) const MOST_FRAGMENTS: usize = 64;
/// Most places that are looked at to see what lies over each other: the mean of so many is sure to a few percent.
pub(super) const PLACES: usize = 256;
/// Most bytes of cells that are decoded of one field for a sample.
pub(super) const SAMPLE_BYTES: u64 = 64 << 20;
/// Most stored bytes of an array whose visible cells are counted for a sample.
pub(super) const COUNTED_BYTES: u64 = 256 << 20;

impl Costs {
    /// How long so many requests, some of them at once, and so many bytes take.
    #[must_use]
    pub fn of(&self, requests: u64, bytes: u64) -> Duration {
        let requests = self.request.saturating_mul(u32::try_from(requests).unwrap_or(u32::MAX));
        (requests / self.at_once.max(1)).saturating_add(seconds(bytes, self.transfer))
    }

    /// How long one thread takes to unfilter tiles of so many bytes.
    #[must_use]
    pub fn decoding(&self, bytes: u64) -> Duration {
        seconds(bytes, self.decode)
    }

    /// How many bytes arrive in the time of one request: less than that costs more to ask for than to send.
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

/// How many of 100; of nothing, all.
pub(super) fn percent(part: u64, of: u64) -> u64 {
    if of == 0 { 100 } else { u64::try_from(u128::from(part) * 100 / u128::from(of)).unwrap_or(u64::MAX) }
}

/// A part of a number: `part` of `of` of it.
pub(super) fn scaled(number: u64, part: u64, of: u64) -> u64 {
    if of == 0 { 0 } else { u64::try_from(u128::from(number) * u128::from(part) / u128::from(of)).unwrap_or(u64::MAX) }
}
