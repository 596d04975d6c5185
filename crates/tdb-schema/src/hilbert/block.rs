//! Blocks of cells, transformed together.

/// The number of cells per block: enough to amortize the cost per block, few enough to stay in the
/// cache.
pub(super) const BLOCK: usize = 64;
/// The maximum number of dimensions, as in the reference library.
pub(super) const MOST_DIMENSIONS: usize = 16;

/// The buckets of a block of cells along one dimension.
pub(super) type Buckets = [u64; BLOCK];
