//! Export of arrays and groups to Zarr.

mod array;
mod fields;
mod group;
mod region;

use std::ops::RangeInclusive;
use std::sync::Arc;

use tdb_array::{ArrayOptions, Coordinate};

use crate::codecs::Compression;
use crate::options::Work;

/// Builder of an export. Set options, then call [`array`](Self::array) or [`group`](Self::group).
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until an array or a group is given"]
pub struct Export {
    select: Option<Vec<String>>,
    ranges: Vec<(String, RangeInclusive<Coordinate>)>,
    compression: Compression,
    chunks: Option<Vec<u64>>,
    outside: bool,
    arrays: ArrayOptions,
    work: Work,
}

/// Counts of exported items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// Number of TileDB arrays.
    pub arrays: u64,
    /// Number of cells read. Parts of arrays that were never written are not read.
    pub cells: u64,
}

impl Export {
    /// Creates an export of everything, with the compression of the array.
    pub fn new() -> Self {
        Self::default()
    }

    /// Exports only these attributes of an array, in this order.
    pub fn select<S: Into<String>>(mut self, attributes: impl IntoIterator<Item = S>) -> Self {
        self.select = Some(attributes.into_iter().map(Into::into).collect());
        self
    }

    /// Exports only a range of an array's dimension. A further range of the same dimension must be
    /// inside of the first.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: RangeInclusive<C>) -> Self {
        let (start, end) = range.into_inner();
        self.ranges.push((dimension.to_owned(), start.into()..=end.into()));
        self
    }

    /// Sets the compression of chunks.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets the chunk shape. The default is the tile extents.
    pub fn chunks(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(shape.into());
        self
    }

    /// Includes members outside of the group's folder. By default these are errors.
    pub fn follow_outside(mut self, follow: bool) -> Self {
        self.outside = follow;
        self
    }

    /// Sets options for opening arrays in groups, for example time and key. Subgroups are opened
    /// like the first group.
    pub fn array_options(mut self, options: ArrayOptions) -> Self {
        self.arrays = options;
        self
    }

    /// Sets the approximate memory for cells in bytes, by default 64 MiB. In addition, each thread
    /// holds a chunk, and a [query](tdb_array::Query::budget) may exceed the budget.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.work.budget = bytes.max(1);
        self
    }

    /// Sets the number of threads that compress chunks. The default 0 uses all processors.
    pub fn threads(mut self, threads: usize) -> Self {
        self.work.threads = threads;
        self
    }

    /// Sets a callback that receives the processed and the total number of cells, and returns
    /// `false` to stop. For a group, the numbers apply to one array at a time.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.work.observer = Some(Arc::new(observer));
        self
    }
}
