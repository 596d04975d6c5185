//! Sorting of cells by keys.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::entries::Entries;
use super::key::Entry;
use super::key::Key;
use crate::monitor::Watch;
use crate::workers::Workers;

/// A comparison of entries with equal keys.
pub type CompareEqual<'a, E> = dyn Fn(&E, &E) -> Ordering + Sync + 'a;

/// A sorter with memory reused from sort to sort.
#[derive(Debug, Default)]
pub struct Sorter<E> {
    spare: Entries<E>,
}

/// The approximate number of entries per bucket. Small enough for the L1 cache.
const BUCKET: usize = 512;
/// The maximum binary logarithm of the number of buckets. With more buckets, misses of the TLB cost
/// more than the buckets save.
const MOST_BUCKET_BITS: u32 = 11;
/// The number of entries to distribute between two checks for cancellation.
const CHECKED: usize = 1 << 18;

impl<E: Entry> Sorter<E> {
    /// Sorts entries by key. The keys are in `low..=high`. Entries with equal keys are sorted by
    /// `compare_equal`. Without `compare_equal`, their order is unspecified.
    ///
    /// Entries are first distributed to buckets by the highest key bits. Then each bucket is sorted
    /// in the cache. If keys are clustered, the benefit is smaller. After cancellation, the entries
    /// are in no order, and [`Workers::check`] returns the error.
    pub fn sort(
        &mut self,
        workers: &Workers,
        entries: &mut Entries<E>,
        (low, high): (E::Key, E::Key),
        compare_equal: Option<&CompareEqual<'_, E>>,
    ) {
        let is_cancelled = || workers.watch().is_some_and(Watch::is_cancelled);
        let sort = |bucket: &mut [E]| match compare_equal {
            _ if is_cancelled() => {}
            None => bucket.sort_unstable_by_key(Entry::key),
            Some(compare) => {
                bucket
                    .sort_unstable_by(|a, b| a.key().cmp(&b.key()).then_with(|| compare(a, b)).then_with(|| a.cmp(b)));
            }
        };
        let bits = (entries.len() / BUCKET + 1).ilog2().min(MOST_BUCKET_BITS);
        let shift = high.bits_above(low).saturating_sub(bits);
        if bits == 0 {
            return sort(entries);
        }
        let Some(ends) = self.scatter(entries, 1 << bits, |key| key.bucket(low, shift), is_cancelled) else { return };
        let mut rest = &mut entries[..];
        let mut start = 0;
        let buckets = ends.iter().map(|end| {
            let (bucket, after) = std::mem::take(&mut rest).split_at_mut(end - start);
            (rest, start) = (after, *end);
            bucket
        });
        if workers.threads() > 1 {
            let buckets: Vec<_> = buckets.collect();
            workers.install(|| buckets.into_par_iter().for_each(sort));
        } else {
            buckets.for_each(sort);
        }
    }

    /// Distributes entries to `count` buckets. Returns the end of each bucket, or `None` after
    /// cancellation, which leaves the entries unchanged.
    fn scatter(
        &mut self,
        entries: &mut Entries<E>,
        count: usize,
        bucket: impl Fn(E::Key) -> usize,
        is_cancelled: impl Fn() -> bool,
    ) -> Option<Vec<usize>> {
        let last = count - 1;
        let mut places = vec![0; count];
        for entry in entries.iter() {
            places[bucket(entry.key()).min(last)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        if is_cancelled() {
            return None;
        }
        self.spare.resize(entries.len());
        let spare = &mut *self.spare;
        for part in entries.chunks(CHECKED) {
            if is_cancelled() {
                return None;
            }
            for entry in part {
                let place = &mut places[bucket(entry.key()).min(last)];
                spare[*place] = *entry;
                *place += 1;
            }
        }
        std::mem::swap(entries, &mut self.spare);
        Some(places)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library(
            keys in prop::collection::vec(any::<u64>(), 0..3000),
            shift in 0..64_u32,
            threads in 1..3_usize,
        ) {
            let keys = keys.into_iter().map(|key| key >> shift);
            let mut expected: Vec<[u64; 2]> = keys.zip(0..).map(|(key, cell)| Entry::new(key, 7, cell)).collect();
            let mut entries = Entries::default();
            entries.reserve(expected.len());
            entries.extend(expected.iter().copied());
            expected.sort();
            let bounds = (expected.first().map_or(0, Entry::key), expected.last().map_or(0, Entry::key));
            let workers = Workers::new(threads, tdb_types::Limits::default());
            let mut sorter = Sorter::default();
            sorter.sort(&workers, &mut entries, bounds, Some(&|_, _| Ordering::Equal));
            prop_assert_eq!(&*entries, &*expected);
            entries.reverse();
            sorter.sort(&workers, &mut entries, bounds, None);
            let keys = |entries: &[[u64; 2]]| entries.iter().map(Entry::key).collect::<Vec<_>>();
            prop_assert_eq!(keys(&entries), keys(&expected));
        }
    }
}
