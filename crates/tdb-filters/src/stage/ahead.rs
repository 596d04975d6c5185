//! Digests computed for several chunks at once.

use super::Stage;
#[cfg(feature = "checksum")]
use super::checksum::{Algorithm, LANES, digests};
#[cfg(feature = "checksum")]
use crate::ChunkHeader;

/// MD5 digests for encoding, computed for several chunks before the first of these chunks passes
/// the filters.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    #[cfg(feature = "checksum")]
    known: [Option<[u8; 16]>; LANES],
}

impl Ahead {
    /// Returns the digest of the first of `chunks`, if the pipeline's first filter is MD5 and the
    /// next chunks of equal length fill all lanes. The caller must pass ascending chunk numbers,
    /// from 0 on.
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

    /// Builds without checksums need no digests.
    #[cfg(not(feature = "checksum"))]
    pub(crate) fn digest<I>(&mut self, _: &Stage, _: usize, _: impl FnOnce() -> I) -> Option<[u8; 16]> {
        None
    }
}

/// MD5 digests of the chunks that a reader decodes next, computed together.
///
/// A reader keeps one value per tile and passes it to
/// [`decode_next`](crate::BoundPipeline::decode_next). Computing MD5 digests chunk by chunk would
/// take most of the decoding time.
#[derive(Debug, Default)]
pub struct ChunksAhead {
    /// Offset of a chunk's header, and digest of the data.
    #[cfg(feature = "checksum")]
    known: Vec<(u64, [u8; 16])>,
}

impl ChunksAhead {
    /// Returns the digest of the first chunk of `filtered`, whose header is at `at`. Returns `None`
    /// if the pipeline's `last` filter is not MD5, or if no chunk of the same length follows.
    #[cfg(feature = "checksum")]
    pub(crate) fn digest(&mut self, last: Option<&Stage>, filtered: &[u8], at: u64) -> Option<[u8; 16]> {
        if !matches!(last, Some(Stage::Checksum(Algorithm::Md5))) {
            return None;
        }
        if self.known.iter().all(|(known, _)| *known != at) {
            self.look(filtered, at);
        }
        self.known.iter().find(|(known, _)| *known == at).map(|(_, digest)| *digest)
    }

    /// Computes the digests of the leading chunks of equal length.
    #[cfg(feature = "checksum")]
    fn look(&mut self, filtered: &[u8], at: u64) {
        /// Number of lanes used if too few chunks are in memory for all lanes, which is common.
        /// Half of the lanes take more than half of the time of all lanes.
        const HALF: usize = LANES / 2;
        self.known.clear();
        let mut chunks: Vec<(u64, &[u8])> = Vec::with_capacity(LANES);
        let (mut rest, mut place) = (filtered, at);
        while chunks.len() < LANES
            && let Some((header, behind)) = rest.split_first_chunk()
        {
            let header = ChunkHeader::parse(header);
            let parts = behind.split_at_checked(header.metadata as usize);
            let Some((data, next)) = parts.and_then(|(_, data)| data.split_at_checked(header.filtered as usize)) else {
                break;
            };
            if chunks.first().is_some_and(|(_, first)| first.len() != data.len()) {
                break;
            }
            chunks.push((place, data));
            place += ChunkHeader::LEN as u64 + header.payload();
            rest = next;
        }
        let found = match chunks.len() {
            0 | 1 => return,
            LANES => digests::<LANES>(lanes(&chunks)).map(Vec::from),
            _ => {
                chunks.truncate(HALF);
                digests::<HALF>(lanes(&chunks)).map(Vec::from)
            }
        };
        self.known.extend(chunks.iter().map(|(place, _)| *place).zip(found.into_iter().flatten()));
    }

    /// Builds without checksums need no digests.
    #[cfg(not(feature = "checksum"))]
    pub(crate) fn digest(&mut self, _: Option<&Stage>, _: &[u8], _: u64) -> Option<[u8; 16]> {
        None
    }
}

/// Assigns a chunk to each lane. Unused lanes repeat the first chunk at no extra cost.
#[cfg(feature = "checksum")]
fn lanes<'a, const N: usize>(chunks: &[(u64, &'a [u8])]) -> [&'a [u8]; N] {
    std::array::from_fn(|lane| chunks.get(lane).or(chunks.first()).map_or(&[][..], |(_, data)| *data))
}
