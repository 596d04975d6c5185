//! Sorting cells by keys.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::key::Key;
use crate::workers::Workers;

/// A cell to be sorted: its key, its tile's slot and its index in the tile.
pub(super) type Entry<K> = (K, u32, u32);

/// Compares entries whose keys are equal.
pub(super) type CompareEqual<'a, K> = dyn Fn(&Entry<K>, &Entry<K>) -> Ordering + Sync + 'a;

/// Memory that is used again from sort to sort.
#[derive(Debug, Default)]
pub(super) struct Sorter<K> {
    spare: Vec<Entry<K>>,
}

/// Entries per bucket, about: few enough that they stay in the fastest cache while they are sorted.
const BUCKET: usize = 512;
/// More buckets than this at a time, and finding the memory page of each takes longer than it saves.
const MOST_BUCKET_BITS: u32 = 11;

impl<K: Key> Sorter<K> {
    /// Sorts entries with keys `low..=high` by them, and those with equal keys by `compare_equal` if there is one.
    ///
    /// Entries go to buckets by the highest bits of their keys first, then each bucket is sorted: what is compared lies
    /// close together. Where keys cluster, the buckets just help less.
    pub(super) fn sort(
        &mut self,
        workers: &Workers,
        entries: &mut Vec<Entry<K>>,
        (low, high): (K, K),
        compare_equal: Option<&CompareEqual<'_, K>>,
    ) {
        let sort = |bucket: &mut [Entry<K>]| match compare_equal {
            None => bucket.sort_unstable_by_key(|entry| entry.0),
            Some(compare) => {
                bucket.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| compare(a, b)).then_with(|| a.cmp(b)));
            }
        };
        let bits = (entries.len() / BUCKET + 1).ilog2().min(MOST_BUCKET_BITS);
        let shift = high.bits_above(low).saturating_sub(bits);
        if bits == 0 {
            return sort(entries);
        }
        let ends = self.scatter(entries, 1 << bits, |key| key.bucket(low, shift));
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

    /// Orders entries by their buckets, of which there are `count`; where each bucket ends.
    fn scatter(&mut self, entries: &mut Vec<Entry<K>>, count: usize, bucket: impl Fn(K) -> usize) -> Vec<usize> {
        let last = count - 1;
        let mut places = vec![0; count];
        for (key, ..) in entries.iter() {
            places[bucket(*key).min(last)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        // What it holds is overwritten.
        self.spare.resize(entries.len(), Entry::default());
        for entry in entries.iter() {
            let place = &mut places[bucket(entry.0).min(last)];
            self.spare[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut self.spare);
        places
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
            let mut entries: Vec<Entry<u64>> = keys.zip(0..).map(|(key, cell)| (key, 7, cell)).collect();
            let bounds = entries.iter().fold((u64::MAX, 0), |(low, high), (key, ..)| (low.min(*key), high.max(*key)));
            let mut expected = entries.clone();
            expected.sort();
            let workers = Workers::new(threads, tdb_types::Limits::default());
            let mut sorter = Sorter::default();
            sorter.sort(&workers, &mut entries, bounds, Some(&|_, _| Ordering::Equal));
            prop_assert_eq!(&entries, &expected);
            entries.reverse();
            sorter.sort(&workers, &mut entries, bounds, None);
            let keys = |entries: &[Entry<u64>]| entries.iter().map(|entry| entry.0).collect::<Vec<_>>();
            prop_assert_eq!(keys(&entries), keys(&expected));
        }
    }
}
