//! Reusable memory and codec contexts.

use tdb_types::Limits;

use crate::ivs::IvSource;
use crate::stage::Contexts;

/// Buffers between filters and contexts of codecs, reused for any number of tiles. Use one scratch
/// per thread. Data of one tile never affect later tiles.
#[derive(Debug, Default)]
pub struct Scratch {
    limits: Limits,
    pub(crate) between: Between,
    /// Coordinates, dimension by dimension.
    pub(crate) split: Vec<u8>,
}

/// Buffers between two filters.
#[derive(Debug, Default)]
pub(crate) struct Between {
    /// The input of the current filter. `back` receives the output.
    pub(crate) front: Vec<u8>,
    pub(crate) back: Vec<u8>,
    /// The metadata before and after the current filter.
    pub(crate) meta_front: Vec<u8>,
    pub(crate) meta_back: Vec<u8>,
    /// End offsets of metadata parts during encoding.
    pub(crate) meta_ends: Vec<usize>,
    pub(crate) contexts: Contexts,
}

impl Scratch {
    /// Creates a scratch with default [`Limits`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a scratch with limits. [`Limits::tile_bytes`] bounds tiles and the data between
    /// filters.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits: limits.addressable(), ..Self::default() }
    }

    /// Sets the source of initialization vectors (IVs). Encryption uses one IV per part of each
    /// chunk.
    ///
    /// Confidentiality requires that no two parts encrypted with a key share an IV, across all
    /// writers of the array. Use random IVs from the operating system, or from a generator seeded
    /// by it.
    #[must_use]
    pub fn with_ivs(mut self, source: impl FnMut() -> [u8; 12] + Send + Sync + 'static) -> Self {
        self.between.contexts.ivs = IvSource::new(source);
        self
    }

    /// Returns the limits, lowered to addressable memory.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }
}
