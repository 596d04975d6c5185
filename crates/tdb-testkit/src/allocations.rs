//! Measurement of memory allocations.
//!
//! The figures count only the calling thread, so parallel tests do not disturb each other.
//! Allocations of further threads, for example of rayon, are not counted. Measure code that runs on
//! the calling thread.

/// Returns the peak number of bytes allocated by this thread while `body` ran, without earlier
/// allocations.
///
/// ```
/// let peak = tdb_testkit::allocations::peak_while(|| drop(vec![0u8; 1000]));
/// assert!(peak >= 1000 && peak < 2000);
/// ```
pub fn peak_while(body: impl FnOnce()) -> u64 {
    allocation_counter::measure(body).bytes_max
}

/// Returns the number of allocations of this thread while `body` ran.
pub fn count_while(body: impl FnOnce()) -> u64 {
    allocation_counter::measure(body).count_total
}

#[cfg(test)]
mod tests {
    use super::{count_while, peak_while};
    use std::hint::black_box;

    #[test]
    fn peaks_count_only_live_allocations() {
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
