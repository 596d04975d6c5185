//! Memory and codec contexts that are used again from chunk to chunk.

use tdb_types::Limits;

use crate::ivs::IvSource;
use crate::stage::Contexts;

/// What decoding and encoding need apart from their input and output: buffers between the filters, and the contexts of
/// the codecs. One per worker thread, used for as many tiles as it likes; nothing of one tile is left in the next.
#[derive(Debug, Default)]
pub struct Scratch {
    limits: Limits,
    pub(crate) between: Between,
    /// Coordinates, one dimension after the other.
    pub(crate) split: Vec<u8>,
}

/// What lies between two filters.
#[derive(Debug, Default)]
pub(crate) struct Between {
    /// What the filter before has put out, and where the filter at work puts its output.
    pub(crate) front: Vec<u8>,
    pub(crate) back: Vec<u8>,
    /// The same for metadata.
    pub(crate) meta_front: Vec<u8>,
    pub(crate) meta_back: Vec<u8>,
    /// Ends of metadata parts, while encoding.
    pub(crate) meta_ends: Vec<usize>,
    pub(crate) contexts: Contexts,
}

impl Scratch {
    /// Empty, with default [`Limits`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empty; tiles and what lies between filters may have [`Limits::tile_bytes`] at most.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits: limits.addressable(), ..Self::default() }
    }

    /// The same with a source of initialisation vectors (IVs), of which encryption takes one for each part of each chunk.
    ///
    /// The secrecy of an array rests on its key never meeting the same IV twice, whoever writes to it: let them be random,
    /// from the operating system or a generator seeded by it.
    #[must_use]
    pub fn with_ivs(mut self, source: impl FnMut() -> [u8; 12] + Send + Sync + 'static) -> Self {
        self.between.contexts.ivs = IvSource::new(source);
        self
    }

    /// The limits given, as far as memory goes.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }
}
