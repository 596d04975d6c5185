//! The block of cells that is worked on at once.

/// Cells that are worked on together: enough to amortise what is done once per block, few enough to stay in the cache.
pub(super) const BLOCK: usize = 64;
/// Most dimensions: with more, buckets would have less than three bits.
pub(super) const MOST_DIMENSIONS: usize = 16;

/// The buckets of a block of cells along one dimension.
pub(super) type Buckets = [u64; BLOCK];
