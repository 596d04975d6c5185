//! Digests of chunks to come.

use super::Stage;
#[cfg(feature = "checksum")]
use super::checksum::{Algorithm, LANES, digests};

/// The MD5 digests of some chunks: several are computed at once, before the first of them goes through the filters.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    #[cfg(feature = "checksum")]
    known: [Option<[u8; 16]>; LANES],
}

impl Ahead {
    /// The digest of a chunk, the first of `chunks`, if the pipeline's first filter wants it and as many follow as are computed at
    /// once. Chunks are asked for in their order, from 0 on.
    #[cfg(feature = "checksum")]
    pub(crate) fn digest<'t, I: Iterator<Item = &'t [u8]>>(
        &mut self,
        first: &Stage,
        chunk: usize,
        chunks: impl FnOnce() -> I,
    ) -> Option<[u8; 16]> {
        if !matches!(first, Stage::Checksum(Algorithm::Md5)) {
            return None;
        }
        if chunk.is_multiple_of(LANES) {
            let next: Vec<&[u8]> = chunks().take(LANES).collect();
            let digests = <[&[u8]; LANES]>::try_from(next).ok().and_then(digests);
            self.known = digests.map_or([None; LANES], |digests| digests.map(Some));
        }
        self.known[chunk % LANES].take()
    }

    /// Without checksums nobody wants any.
    #[cfg(not(feature = "checksum"))]
    pub(crate) fn digest<I>(&mut self, _: &Stage, _: usize, _: impl FnOnce() -> I) -> Option<[u8; 16]> {
        None
    }
}
