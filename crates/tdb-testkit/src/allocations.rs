//! How much a piece of code allocates.
//!
//! The figures belong to the calling thread alone, so tests that run in parallel don't disturb each other, and
//! allocations made by other threads (rayon's, say) are not seen: measure code that runs inline.

/// The largest number of bytes that were allocated by this thread at one time while `body` ran, beyond those that
/// were allocated before.
///
/// ```
/// let peak = tdb_testkit::allocations::peak_while(|| drop(vec![0u8; 1000]));
/// assert!(peak >= 1000 && peak < 2000);
/// ```
pub fn peak_while(body: impl FnOnce()) -> u64 {
    allocation_counter::measure(body).bytes_max
}

/// The number of allocations made by this thread while `body` ran.
pub fn count_while(body: impl FnOnce()) -> u64 {
    allocation_counter::measure(body).count_total
}

#[cfg(test)]
mod tests {
    use super::{count_while, peak_while};
    use std::hint::black_box;

    #[test]
    fn the_peak_is_what_lives_at_one_time() {
        let one_after_the_other = peak_while(|| {
            drop(black_box(vec![1u8; 4096]));
            drop(black_box(vec![1u8; 4096]));
        });
        let together = peak_while(|| drop(black_box((vec![1u8; 4096], vec![1u8; 4096]))));
        assert_eq!((one_after_the_other, together), (4096, 8192));
    }

    #[test]
    fn allocations_are_counted() {
        assert_eq!(count_while(|| ()), 0);
        assert_eq!(count_while(|| drop(black_box((Box::new(1), Box::new(2))))), 2);
    }
}
