//! From arrays and groups to Zarr.

mod array;
mod fields;
mod group;
mod region;

use std::ops::RangeInclusive;
use std::sync::Arc;

use tdb_array::{ArrayOptions, Coordinate};

use crate::codecs::Compression;
use crate::options::Work;

/// An export under construction: say what there is to say, then give it an [`array`](Self::array) or a [`group`](Self::group).
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is written before there is an array or a group"]
pub struct Export {
    select: Option<Vec<String>>,
    ranges: Vec<(String, RangeInclusive<Coordinate>)>,
    compression: Compression,
    chunks: Option<Vec<u64>>,
    outside: bool,
    arrays: ArrayOptions,
    work: Work,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// Arrays of TileDB.
    pub arrays: u64,
    /// Cells that were read: those of the parts of arrays that somebody has written.
    pub cells: u64,
}

impl Export {
    /// Everything, packed as the array is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Of an array these attributes, in this order, instead of all.
    pub fn select<S: Into<String>>(mut self, attributes: impl IntoIterator<Item = S>) -> Self {
        self.select = Some(attributes.into_iter().map(Into::into).collect());
        self
    }

    /// Of an array the cells of a range along a dimension.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: RangeInclusive<C>) -> Self {
        let (start, end) = range.into_inner();
        self.ranges.push((dimension.to_owned(), start.into()..=end.into()));
        self
    }

    /// How chunks are packed.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// How long chunks are along each dimension, instead of as long as tiles.
    pub fn chunks(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(shape.into());
        self
    }

    /// Follows members of groups that lie outside of the group's folder, which are refused otherwise.
    pub fn follow_outside(mut self, follow: bool) -> Self {
        self.outside = follow;
        self
    }

    /// How arrays in groups are opened: when, and with which key. Groups in groups are opened as the first one was.
    pub fn array_options(mut self, options: ArrayOptions) -> Self {
        self.arrays = options;
        self
    }

    /// About how many bytes of memory cells may take, by default 64 MiB; one chunk for each thread is always held, and what a
    /// [query](tdb_array::Query::budget) takes beyond its budget.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.work.budget = bytes.max(1);
        self
    }

    /// How many threads pack chunks; 0, which is the default, means as many as the machine has.
    pub fn threads(mut self, threads: usize) -> Self {
        self.work.threads = threads;
        self
    }

    /// Who hears how many of how many cells are done, and says whether to go on: of a group those of one array at a time.
    pub fn observer(mut self, observer: impl Fn(u64, u64) -> bool + Send + Sync + 'static) -> Self {
        self.work.observer = Some(Arc::new(observer));
        self
    }
}
